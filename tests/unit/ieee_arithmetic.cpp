#include "util/ieee_arithmetic.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <limits>

namespace baton::core {
namespace {

// Volatile, because compilers do not know about the mode and may calculate elsewhere whatever they can see.
volatile float one = 1, three = 3, smallest = std::numeric_limits<float>::min(), half = 0.5F, result = 0;
[[gnu::noinline]] std::uint32_t third() {
    result = one / three;
    return std::bit_cast<std::uint32_t>(static_cast<float>(result));
}
[[gnu::noinline]] std::uint32_t subnormal() {
    result = smallest * half;
    return std::bit_cast<std::uint32_t>(static_cast<float>(result));
}

/// Restores the program's mode after a test.
class Mode {
public:
    ~Mode() { std::fesetenv(&before_); }

private:
    std::fenv_t before_ = [] {
        std::fenv_t now;
        std::fegetenv(&now);
        return now;
    }();
};

TEST(IeeeArithmetic, RoundsToNearestWhateverTheProgramDoes) {
    const Mode as_before;
    const std::uint32_t nearest = third();
    for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        ASSERT_EQ(std::fesetround(rounding), 0);
        const std::uint32_t rounded = third();
        {
            const IeeeArithmetic arithmetic;
            EXPECT_EQ(third(), nearest);
        }
        EXPECT_EQ(std::fegetround(), rounding);
        EXPECT_EQ(third(), rounded);
    }
}

#if defined(__x86_64__)
TEST(IeeeArithmetic, KnowsSubnormalNumbersWhateverTheProgramDoes) {
    const Mode as_before;
    const unsigned usual = _mm_getcsr();
    for (const unsigned mode : {0x8000U, 0x0040U, 0x8040U, 0xE040U}) {
        const unsigned before = usual | mode;
        _mm_setcsr(before);
        {
            const IeeeArithmetic arithmetic;
            EXPECT_EQ(subnormal(), 0x400000U);
        }
        EXPECT_EQ(_mm_getcsr() & ~0x3FU, before & ~0x3FU) << "but for the flags of exceptions";
        EXPECT_EQ(subnormal() == 0, (mode & 0x8000) != 0);
    }
}
#endif

TEST(IeeeArithmetic, LeavesExceptionsToTheProgram) {
    const Mode as_before;
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    {
        const IeeeArithmetic arithmetic;
        EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
        third();
    }
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0) << "raised before";
    EXPECT_NE(std::fetestexcept(FE_INEXACT), 0) << "raised meanwhile";
}

}  // namespace
}  // namespace baton::core
