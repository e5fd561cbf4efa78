#include "topology/host.hpp"

#include <gtest/gtest.h>

namespace baton::topology {
namespace {

TEST(Host, ThisMachineHasProcessors) {
    std::vector<std::string> gaps;
    Host host = read_host(gaps);
    EXPECT_TRUE(gaps.empty());
    EXPECT_EQ(host.source, Source::hwloc);
    EXPECT_GE(host.pus, 1);
    EXPECT_GE(host.pus, host.cores);
    EXPECT_GE(host.numa_nodes, 1);
}

TEST(Sysfs, MissingDeviceIsUnknown) {
    const PciAddress nowhere{0xfffe, 0xfe, 0x1e};
    EXPECT_EQ(to_string(nowhere), "fffe:fe:1e.0");
    EXPECT_FALSE(sysfs_numa_node(nowhere));
    EXPECT_FALSE(sysfs_is_other_bridge(nowhere));
}

TEST(PciAddressText, IsWhatTheKernelUses) {
    EXPECT_EQ(to_string(PciAddress{0, 0x1b, 0}), "0000:1b:00.0");
    EXPECT_EQ(to_string(PciAddress{0x10008, 1, 0x1f}), "10008:01:1f.0");
}

}  // namespace
}  // namespace baton::topology
