#include "util/gpu_uuid.hpp"

#include <gtest/gtest.h>

namespace baton::core {
namespace {

TEST(GpuUuid, HasNvidiasGroups) {
    const char bytes[16] = {0x01, 0x23, 0x45, 0x67, '\x89', '\xAB', '\xCD', '\xEF', 0, 1, 2, 3, 4, 5, 6, '\xFF'};
    EXPECT_EQ(gpu_uuid_text(bytes), "GPU-01234567-89ab-cdef-0001-0203040506ff");
}

}  // namespace
}  // namespace baton::core
