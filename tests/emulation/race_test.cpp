// What ThreadSanitizer is told of emulated threads: that barriers order them, and nothing else does.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "transport/kernel/ptx.cuh"

namespace baton::emulation {
namespace {

enum class Between {
    nothing,
    warp_barrier,
    block_barrier
};

unsigned word;
/// Stores by a plain access that no compiler takes away.
void store(unsigned value) { *const_cast<volatile unsigned *>(&word) = value; }

/// Two threads of a block use a word, one before and one after what is in between, in the middle of a kernel.
void use_a_word(unsigned writer, unsigned reader, Between between) {
    run_grid(1, 64, 1, [&] {
        __syncthreads();
        __syncwarp();
        if (threadIdx.x == writer) store(1);
        if (between == Between::warp_barrier) __syncwarp();
        if (between == Between::block_barrier) __syncthreads();
        if (threadIdx.x == reader) store(2);
        __syncwarp();
        __syncthreads();
    });
    std::exit(0);
}

/// The same without a barrier before or after.
void use_a_word_at_once() {
    run_grid(1, 64, 1, [] {
        if (threadIdx.x == 3 || threadIdx.x == 40) store(threadIdx.x);
    });
    std::exit(0);
}

/// Two ranks use it, one after the other, which nothing but time orders.
void use_a_word_on_two_ranks() {
    std::atomic<int> ended = 0;
    const auto rank = [&ended](int turn) {
        while (ended.load(std::memory_order_relaxed) < turn) sched_yield();
        run_grid(1, 64, 1, [turn] {
            __syncthreads();
            if (threadIdx.x == 0) store(static_cast<unsigned>(turn));
            __syncthreads();
        });
        ended.store(turn + 1, std::memory_order_relaxed);
        while (ended.load(std::memory_order_relaxed) < 2) sched_yield();
    };
    std::thread other(rank, 1);
    rank(0);
    other.join();
    std::exit(0);
}

/// Of four blocks on two places, the first and the last use it, each on a place of its own. The last begins when the
/// first has ended.
void use_a_word_in_two_blocks() {
    std::atomic<unsigned> begun = 0;
    run_grid(
        4, 64, 1,
        [&begun] {
            if (threadIdx.x != 0) return;
            const auto await = [&begun](unsigned block) {
                while (begun.load(std::memory_order_relaxed) < block) yield();
            };
            const unsigned awaited[] = {1, 2, 3, 0};  // so that the second keeps its place until the third has begun
            if (blockIdx.x > 0) begun.store(blockIdx.x, std::memory_order_relaxed);
            await(awaited[blockIdx.x]);
            if (blockIdx.x == 0 || blockIdx.x == 3) store(blockIdx.x);
        },
        2);
    std::exit(0);
}

enum class By {
    packet,
    line,
    release
};

/// A rank that has stored a word tells another one, which then stores it.
void tell_of_a_word(By by) {
    core::Packet packet{};
    alignas(128) std::byte line[128] = {};
    const auto tell = [&] {
        if (by == By::line) {
            core::store_line_part(line + threadIdx.x % 8 * 16, {1, 1}, threadIdx.x < 8);
        } else if (threadIdx.x == 0) {
            by == By::packet ? core::store_packet(&packet, 0, 1) : core::store_release(&packet.epoch, 1);
        }
    };
    const auto is_told = [&] {
        if (by == By::line) return core::load_line_part(line + threadIdx.x % 8 * 16, threadIdx.x < 8).high == 1;
        return (by == By::packet ? core::load_packet(&packet).epoch : core::load_acquire(&packet.epoch)) == 1;
    };
    std::thread other([&] {
        run_grid(1, 32, 1, [&] {
            while (__any_sync(0xFFFFFFFF, is_told()) == 0) yield();
            if (threadIdx.x == 0) store(2);
        });
    });
    run_grid(1, 32, 1, [&] {
        if (threadIdx.x == 0) store(1);
        __syncwarp();
        tell();
    });
    other.join();
    std::exit(0);
}

class EmulatedRaces : public testing::Test {
protected:
    void SetUp() override {
#if !defined(BATON_TSAN)
        GTEST_SKIP() << "ThreadSanitizer's";
#endif
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
    static constexpr int reported = 66;  // ThreadSanitizer's status
};

TEST_F(EmulatedRaces, AreToldWhereNoBarrierIsBetween) {
    EXPECT_EXIT(use_a_word(0, 1, Between::nothing), testing::ExitedWithCode(reported), "data race");
    EXPECT_EXIT(use_a_word(33, 0, Between::nothing), testing::ExitedWithCode(reported), "data race");
}

TEST_F(EmulatedRaces, AreToldWhereTheBarrierIsOfAnotherWarp) {
    EXPECT_EXIT(use_a_word(0, 33, Between::warp_barrier), testing::ExitedWithCode(reported), "data race");
}

TEST_F(EmulatedRaces, AreToldWhereThereIsNoBarrier) {
    EXPECT_EXIT(use_a_word_at_once(), testing::ExitedWithCode(reported), "data race");
}

TEST_F(EmulatedRaces, AreToldOfBlocksAndRanksThatNoWordOrders) {
    EXPECT_EXIT(use_a_word_in_two_blocks(), testing::ExitedWithCode(reported), "data race");
    EXPECT_EXIT(use_a_word_on_two_ranks(), testing::ExitedWithCode(reported), "data race");
}

/// In C++ the fences around packets and lines would order the word. The test uses that ThreadSanitizer does not model
/// fences.
TEST_F(EmulatedRaces, AreToldOfWhatAPacketOrALineIsToOrder) {
    EXPECT_EXIT(tell_of_a_word(By::packet), testing::ExitedWithCode(reported), "data race");
    EXPECT_EXIT(tell_of_a_word(By::line), testing::ExitedWithCode(reported), "data race");
    EXPECT_EXIT(tell_of_a_word(By::release), testing::ExitedWithCode(0), "");
}

TEST_F(EmulatedRaces, AreNoneBehindABarrierOfBoth) {
    EXPECT_EXIT(use_a_word(0, 33, Between::block_barrier), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(use_a_word(0, 31, Between::warp_barrier), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace baton::emulation
