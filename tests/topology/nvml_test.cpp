#include "topology/nvml.hpp"

#include <gtest/gtest.h>

#include "support/set_variable.hpp"

namespace baton::topology {
namespace {

NvmlFacts read_fake(const char *machine) {
    const test::SetVariable fake("FAKE_NVML", machine);
    return read_nvml(BATON_FAKE_NVML);
}

TEST(Nvml, MissingLibraryIsAReasonNotAFailure) {
    NvmlFacts facts = read_nvml("libbaton-no-such-library.so.1");
    EXPECT_NE(facts.problem.find("NVML not found: libbaton-no-such-library.so.1"), std::string::npos) << facts.problem;
    EXPECT_TRUE(facts.gpus.empty());
}

TEST(Nvml, LibraryWithoutItsCallsIsUnusable) {
    NvmlFacts facts = read_nvml("libm.so.6");
    EXPECT_NE(facts.problem.find("unusable"), std::string::npos) << facts.problem;
}

TEST(Nvml, LibraryThatDoesNotStartGivesItsReason) {
    EXPECT_EQ(read_fake("refuses").problem, "NVML does not start: Driver Not Loaded (code 9)");
}

TEST(Nvml, LostGpuLeavesTheOther) {
    NvmlFacts facts = read_fake("lost");
    EXPECT_TRUE(facts.problem.empty());
    ASSERT_EQ(facts.gpus.size(), 1u);
    EXPECT_EQ(facts.pairs.size(), 1u);
    ASSERT_EQ(facts.gaps.size(), 1u);
    EXPECT_EQ(facts.gaps[0], "NVML gives no access to its GPU 1: GPU is lost (code 15)");
}

TEST(Nvml, LinksToHiddenSwitches) {
    NvmlFacts facts = read_fake("h200x2");
    EXPECT_EQ(facts.driver, "580.1");
    ASSERT_EQ(facts.gpus.size(), 2u);
    EXPECT_EQ(facts.gpus[1].name, "NVIDIA H200");
    EXPECT_EQ(facts.gpus[1].uuid, "GPU-b");
    EXPECT_EQ(facts.gpus[1].pci, (PciAddress{0, 0x1c, 0}));
    ASSERT_EQ(facts.gpus[0].links.size(), 18u);
    const NvmlLink &link = facts.gpus[0].links[0];
    EXPECT_TRUE(link.active);
    EXPECT_EQ(link.version, 6);
    EXPECT_EQ(link.mbps, 26562);
    EXPECT_TRUE(link.remote_hidden);
    EXPECT_FALSE(link.remote);
    EXPECT_EQ(link.remote_type, RemoteType::nvswitch);
    EXPECT_FALSE(facts.gpus[0].links[17].active);
}

TEST(Nvml, ALinkOfWhichNothingIsSaidHidesNoOther) {
    const NvmlFacts facts = read_fake("silent");
    ASSERT_EQ(facts.gpus[0].links.size(), 17u);
    EXPECT_EQ(facts.gpus[0].links[9].index, 10);
}

TEST(Nvml, PairsCarryAllFourStatesAndTheAncestor) {
    NvmlFacts facts = read_fake("h200x2");
    ASSERT_EQ(facts.pairs.size(), 4u);
    EXPECT_FALSE(facts.pairs[0].read);  // of itself: not asked
    EXPECT_EQ(facts.pairs[1].read, P2pStatus::ok);
    EXPECT_EQ(facts.pairs[1].write, P2pStatus::ok);
    EXPECT_EQ(facts.pairs[1].nvlink, P2pStatus::ok);
    EXPECT_EQ(facts.pairs[1].atomics, P2pStatus::not_supported);
    EXPECT_EQ(facts.pairs[2].ancestor, CommonAncestor::system);
}

TEST(Nvml, OlderLibraryWithoutLinkFields) {
    NvmlFacts facts = read_fake("v100x2");
    ASSERT_EQ(facts.gpus.size(), 2u);
    ASSERT_EQ(facts.gpus[0].links.size(), 6u);
    const NvmlLink &link = facts.gpus[0].links[1];
    EXPECT_TRUE(link.active);
    EXPECT_EQ(link.version, 2);
    EXPECT_EQ(link.mbps, 25781);
    EXPECT_FALSE(link.remote_type);
    EXPECT_EQ(link.remote, (PciAddress{0, 0x1c, 0}));
    EXPECT_FALSE(facts.gpus[0].links[2].active);
}

}  // namespace
}  // namespace baton::topology
