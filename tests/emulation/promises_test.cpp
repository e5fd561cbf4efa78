// Each guard of block.hpp: a kernel that breaks the promise ends the process, and one that keeps it does not.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "emulation/node.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/ptx.cuh"

namespace baton::emulation {
namespace {

constexpr unsigned threads = 64;

/// Kernels of rank 0 of 2, which store to rank 1 and tell it by a word there.
class KernelsPromises : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void run(const std::function<void()> &kernel, unsigned blocks = 1, const std::function<void()> &after = {}) {
        be_rank(0);
        run_grid(blocks, threads, 1, kernel, 1, after);
        be_rank(nobody);
    }
    std::uint64_t *word_at(int rank) { return node_.view(rank).own().done(0, 0); }
    std::uint64_t *buffer_of(int rank) { return reinterpret_cast<std::uint64_t *>(node_.memory(rank)); }

    Node node_{2, {}};
};

TEST_F(KernelsPromises, ToTouchNothingBeforeTheKernelBeforeHasEnded) {
    EXPECT_DEATH(run([&] { core::load_word(buffer_of(0)); }), "has not waited for the kernel before");
    EXPECT_DEATH(run([&] { core::store_packet(node_.view(1).own().packets(1, 0, 0), 1, 1); }), "has not waited");
    run([&] {
        core::wait_for_kernel_before();
        core::load_word(buffer_of(0));
    });
}

TEST_F(KernelsPromises, ToReleaseWhatTheyTellOf) {
    const auto store_and_tell = [&](int to, bool releases) {
        run([&, to, releases] {
            core::wait_for_kernel_before();
            if (threadIdx.x == 7) core::store_word(buffer_of(to), std::uint64_t{1});
            __syncthreads();
            if (threadIdx.x == 0 && releases) core::store_release(word_at(1), 1);
            if (threadIdx.x == 0) core::store_after_reads(word_at(1), 2);
        });
    };
    EXPECT_DEATH(store_and_tell(1, false), "what no release has followed");
    store_and_tell(1, true);
    store_and_tell(0, false);
}

TEST_F(KernelsPromises, ToWaitForNobodyOnceTheNextMayLaunch) {
    EXPECT_DEATH(run([] {
                     core::let_kernel_after_launch();
                     yield();
                 }),
                 "has let the next kernel launch");
}

TEST_F(KernelsPromises, ThatTheNextLaunchesWhenAllBlocksLetIt) {
    std::atomic<int> let = 0, launched = 0;
    run(
        [&] {
            __syncthreads();
            if (threadIdx.x == 0) ++let;
            __syncthreads();
            core::let_kernel_after_launch();
        },
        3,
        [&] {
            EXPECT_EQ(let, 3);
            ++launched;
        });
    EXPECT_EQ(launched, 1);
}

TEST_F(KernelsPromises, SharedMemoryHasNoValueAtFirst) {
    run(
        [] {
            __shared__ std::uint32_t word;
            EXPECT_EQ(word, 0xA5A5A5A5);
            __syncthreads();
            if (threadIdx.x == 0) word = 0;
        },
        2);
}

}  // namespace
}  // namespace baton::emulation
