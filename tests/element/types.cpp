#include "transport/element/types.hpp"

#include <gtest/gtest.h>

#include "narrow_reference.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::test {
namespace {

template <class T>
class NarrowTypes : public ::testing::Test {};
using Types = ::testing::Types<core::Float16, core::BFloat16, core::Float8E4M3, core::Float8E5M2>;
TYPED_TEST_SUITE(NarrowTypes, Types);

TYPED_TEST(NarrowTypes, EveryCodeDecodesToItsValueAndBack) {
    using Bits = decltype(TypeParam::bits);
    const NarrowReference<TypeParam> reference;
    for (unsigned code = 0; code <= std::numeric_limits<Bits>::max(); ++code) {
        const TypeParam element{static_cast<Bits>(code)};
        const float expected = reference.decode(code);
        const float value = element.to_float();
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(value)) << "code " << code;
            EXPECT_EQ(TypeParam::from_float(value).bits, reference.nan_code()) << "code " << code;
            continue;
        }
        EXPECT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(expected)) << "code " << code;
        const bool saturates = std::isinf(value) && narrow_traits<TypeParam>().saturates;
        EXPECT_EQ(TypeParam::from_float(value).bits, saturates ? code - 1 : code) << "code " << code;
    }
}

TYPED_TEST(NarrowTypes, EncodingRoundsAsTheReferenceDoes) {
    const NarrowReference<TypeParam> reference;
    std::uint64_t checked = 0;
    std::uint64_t wrong = 0;
    const auto check = [&](float value) {
        ++checked;
        const unsigned expected = reference.encode(value);
        const unsigned got = TypeParam::from_float(value).bits;
        if (got != expected && ++wrong < 10) {
            ADD_FAILURE() << std::hexfloat << value << std::hex << ": expected " << expected << ", got " << got;
        }
    };
    constexpr std::uint64_t seed = 20261120;
    for_structured_floats(10, check);
    for_random_floats(seed, 2'000'000, check);
    EXPECT_EQ(wrong, 0U) << "of " << checked << ", random seed " << seed;
    EXPECT_GT(checked, 5'000'000U);
}

TEST(OpDefined, KnowsTypesAndOperations) {
    for (int type = 0; type < BATON_TYPE_COUNT; ++type) {
        const bool floating = core::dispatch_type(static_cast<baton_type>(type),
                                                  []<class T>() -> bool { return core::is_floating_element<T>; });
        for (int op = 0; op < BATON_OP_COUNT; ++op) {
            EXPECT_EQ(core::op_defined(static_cast<baton_type>(type), static_cast<baton_op>(op)),
                      op != BATON_AVG || floating);
        }
    }
    EXPECT_FALSE(core::op_defined(BATON_TYPE_COUNT, BATON_SUM));
    EXPECT_FALSE(core::op_defined(BATON_FLOAT32, BATON_OP_COUNT));
}

TEST(DispatchType, GivesEachTypeItsSize) {
    const std::size_t sizes[BATON_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1};
    for (int type = 0; type < BATON_TYPE_COUNT; ++type) {
        EXPECT_EQ(core::dispatch_type(static_cast<baton_type>(type), []<class T>() { return sizeof(T); }), sizes[type]);
    }
    EXPECT_THROW(core::dispatch_type(BATON_TYPE_COUNT, []<class T>() { return sizeof(T); }), std::logic_error);
}

}  // namespace
}  // namespace baton::test
