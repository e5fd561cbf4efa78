// What ThreadSanitizer is told of emulated threads: that barriers order them, and nothing else does.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace baton::emulation {
namespace {

enum class Between {
    nothing,
    warp_barrier,
    block_barrier
};

/// Two threads of all use a word, one before and one behind what is between, in the middle of a kernel.
void use_a_word(unsigned writer, unsigned reader, Between between) {
    static volatile unsigned word;
    run_grid(1, 64, 1, [&] {
        __syncthreads();
        __syncwarp();
        if (threadIdx.x == writer) word = 1;
        if (between == Between::warp_barrier) __syncwarp();
        if (between == Between::block_barrier) __syncthreads();
        if (threadIdx.x == reader && word > 1) std::abort();
        __syncwarp();
        __syncthreads();
    });
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

TEST_F(EmulatedRaces, AreNoneBehindABarrierOfBoth) {
    EXPECT_EXIT(use_a_word(0, 33, Between::block_barrier), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(use_a_word(0, 31, Between::warp_barrier), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace baton::emulation
