#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gpu_support.cuh"
#include "narrow_reference.hpp"
#include "transport/element/types.hpp"

namespace baton::test {
namespace {

template <class T>
__global__ void encode_all(const float *values, T *elements, std::size_t count) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        elements[i] = T::from_float(values[i]);
    }
}

template <class T>
__global__ void decode_all(const T *elements, float *values, std::size_t count) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        values[i] = elements[i].to_float();
    }
}

template <class T>
class NarrowTypesGpu : public OnGpu {};
using Types = ::testing::Types<core::Float16, core::BFloat16, core::Float8E4M3, core::Float8E5M2>;
TYPED_TEST_SUITE(NarrowTypesGpu, Types);

TYPED_TEST(NarrowTypesGpu, DecodesEveryCodeAsTheHost) {
    using Bits = decltype(TypeParam::bits);
    std::vector<TypeParam> codes;
    for (unsigned code = 0; code <= std::numeric_limits<Bits>::max(); ++code)
        codes.push_back({static_cast<Bits>(code)});
    const DeviceArray<TypeParam> elements(codes);
    const DeviceArray<float> decoded(codes.size());
    decode_all<<<64, 256>>>(elements.data(), decoded.data(), codes.size());
    finish_kernel("decode_all");
    const std::vector<float> values = decoded.values();
    for (std::size_t code = 0; code < codes.size(); ++code) {
        const float expected = codes[code].to_float();
        if (std::isnan(expected)) {
            EXPECT_TRUE(std::isnan(values[code])) << "code " << code;
        } else {
            EXPECT_EQ(std::bit_cast<std::uint32_t>(values[code]), std::bit_cast<std::uint32_t>(expected))
                << "code " << code;
        }
    }
}

TYPED_TEST(NarrowTypesGpu, EncodesTheSameBitsAsTheHost) {
    constexpr std::uint64_t seed = 20261120;
    std::vector<float> values;
    for_structured_floats(10, [&](float value) { values.push_back(value); });
    for_random_floats(seed, 2'000'000, [&](float value) { values.push_back(value); });
    const DeviceArray<float> inputs(values);
    const DeviceArray<TypeParam> encoded(values.size());
    encode_all<<<264, 256>>>(inputs.data(), encoded.data(), values.size());
    finish_kernel("encode_all");
    const std::vector<TypeParam> elements = encoded.values();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const unsigned expected = TypeParam::from_float(values[i]).bits;
        if (elements[i].bits != expected && ++wrong < 10) {
            ADD_FAILURE() << std::hexfloat << values[i] << std::hex << ": host " << expected << ", device "
                          << unsigned{elements[i].bits};
        }
    }
    EXPECT_EQ(wrong, 0U) << "of " << values.size() << ", random seed " << seed;
}

}  // namespace
}  // namespace baton::test
