// The expected values of the other tests are code too: their conversions against known bits.
#include "support/reference.hpp"

#include <cmath>
#include <limits>

namespace baton::test {
namespace {

TEST(Reference, KnownBits) {
    const struct {
        baton_type type;
        float value;
        std::uint32_t bits;
    } known[] = {
        {BATON_FLOAT16, 1.0f, 0x3c00},           {BATON_FLOAT16, -2.0f, 0xc000},
        {BATON_FLOAT16, 65504.0f, 0x7bff},       {BATON_FLOAT16, 65519.0f, 0x7bff},
        {BATON_FLOAT16, 65520.0f, 0x7c00},       {BATON_FLOAT16, 5.9604645e-8f, 0x0001},
        {BATON_FLOAT16, 2.9802322e-8f, 0},       {BATON_BFLOAT16, 1.0f, 0x3f80},
        {BATON_BFLOAT16, 3.3895314e38f, 0x7f7f}, {BATON_BFLOAT16, 3.4e38f, 0x7f80},
        {BATON_FLOAT8_E4M3, 1.0f, 0x38},         {BATON_FLOAT8_E4M3, 448.0f, 0x7e},
        {BATON_FLOAT8_E4M3, 1e6f, 0x7e},         {BATON_FLOAT8_E4M3, -1e6f, 0xfe},
        {BATON_FLOAT8_E4M3, 0.001953125f, 0x01}, {BATON_FLOAT8_E5M2, 1.0f, 0x3c},
        {BATON_FLOAT8_E5M2, 57344.0f, 0x7b},     {BATON_FLOAT8_E5M2, 1e6f, 0x7b},
        {BATON_FLOAT16, 1.0004883f, 0x3c00},     {BATON_FLOAT16, 1.0014648f, 0x3c02},  // ties go to even
    };
    for (const auto &k : known)
        EXPECT_EQ(float_to_small(k.type, k.value), k.bits) << baton_type_name(k.type) << ' ' << k.value;
}

TEST(Reference, EveryFiniteNumberSurvivesTheRoundTrip) {
    for (baton_type type : {BATON_FLOAT16, BATON_BFLOAT16, BATON_FLOAT8_E4M3, BATON_FLOAT8_E5M2})
        for (std::uint32_t bits = 0; bits < (1u << (8 * width_of(type))); ++bits) {
            const float value = small_to_float(type, bits);
            if (!std::isfinite(value)) continue;
            ASSERT_EQ(float_to_small(type, value), bits) << baton_type_name(type);
        }
}

TEST(Reference, OrderOfSummationShows) {
    const float big = 1e8f, small = 3.0f;
    const auto bytes = [](const float &value) { return std::as_bytes(std::span(&value, 1)); };
    const std::span<const std::byte> one[] = {bytes(big), bytes(small), bytes(small)};
    const std::span<const std::byte> other[] = {bytes(small), bytes(small), bytes(big)};
    EXPECT_FALSE(same_bytes(reduce(BATON_FLOAT32, BATON_SUM, one), reduce(BATON_FLOAT32, BATON_SUM, other)));
}

TEST(Reference, IntegersWrapAndEarlierRanksKeepTies) {
    const std::int8_t a = 127, b = 2;
    const auto bytes = [](const auto &value) { return std::as_bytes(std::span(&value, 1)); };
    const std::span<const std::byte> integers[] = {bytes(a), bytes(b)};
    EXPECT_EQ(static_cast<std::int8_t>(reduce(BATON_INT8, BATON_SUM, integers)[0]), -127);
    EXPECT_EQ(static_cast<std::int8_t>(reduce(BATON_INT8, BATON_PROD, integers)[0]), -2);
    const float zero = 0.0f, minus_zero = -0.0f, nan = std::numeric_limits<float>::quiet_NaN();
    const std::span<const std::byte> zeros[] = {bytes(minus_zero), bytes(zero)};
    EXPECT_TRUE(same_bytes(bytes(minus_zero), reduce(BATON_FLOAT32, BATON_MAX, zeros)));
    const std::span<const std::byte> first[] = {bytes(nan), bytes(zero)}, later[] = {bytes(zero), bytes(nan)};
    EXPECT_TRUE(same_bytes(bytes(nan), reduce(BATON_FLOAT32, BATON_MIN, first)));
    EXPECT_TRUE(same_bytes(bytes(zero), reduce(BATON_FLOAT32, BATON_MIN, later)));
}

}  // namespace
}  // namespace baton::test
