#include "topology/links.hpp"

#include <gtest/gtest.h>

#include "tests/topology/builders.hpp"

namespace baton::topology {
namespace {

TEST(WeakestLink, IsTheWorstBetweenAnyTwoOfTheGpus) {
    Snapshot machine = builders::gpus(3);
    for (std::size_t gpu = 0; gpu < 2; ++gpu)
        machine.pair(gpu, 2).kind = machine.pair(2, gpu).kind = {LinkKind::PHB, Source::nvml};
    machine.pair(0, 1).kind = machine.pair(1, 0).kind = {LinkKind::NVSWITCH, Source::nvml};
    EXPECT_EQ(weakest_link(machine, {"GPU-0", "GPU-1"}), LinkKind::NVSWITCH);
    EXPECT_EQ(weakest_link(machine, {"GPU-0", "GPU-1", "GPU-2"}), LinkKind::PHB);
    EXPECT_EQ(weakest_link(machine, {"GPU-1", "GPU-1"}), LinkKind::SAME_DEVICE);
    EXPECT_EQ(weakest_link(machine, {"GPU-1"}), LinkKind::SAME_DEVICE);
    EXPECT_EQ(weakest_link(machine, {"GPU-1", "MIG-0"}), LinkKind::NVSWITCH) << "a slice, which CUDA calls GPU-0";
    EXPECT_EQ(weakest_link(machine, {"GPU-1", "MIG-3"}), LinkKind::NONE) << "not in the snapshot";
}

}  // namespace
}  // namespace baton::topology
