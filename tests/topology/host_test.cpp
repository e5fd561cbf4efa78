#include "topology/host.hpp"

#include <gtest/gtest.h>

namespace baton::topology {
namespace {

TEST(Host, ThisMachineHasProcessors) {
    const Snapshot machine = read_hwloc();
    const Host &host = machine.host;
    EXPECT_TRUE(machine.gaps.empty());
    EXPECT_EQ(host.source, Source::hwloc);
    EXPECT_GE(host.pus, 1);
    EXPECT_GE(host.pus, host.cores);
    EXPECT_GE(host.numa_nodes, 1);
    EXPECT_EQ(host.numa_list.size(), static_cast<std::size_t>(host.numa_nodes));
    EXPECT_FALSE(host.numa_list[0].cpuset.empty());
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
