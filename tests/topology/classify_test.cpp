#include "topology/classify.hpp"

#include <gtest/gtest.h>

namespace baton::topology {
namespace {

template <class T>
Known<T> said(T answer) {
    return {answer, Source::nvml};
}

PairEvidence switched(int links) {
    PairEvidence facts;
    facts.switch_links = links;
    facts.link_mbps = 25000;
    facts.link_mbps_source = Source::table;
    facts.ancestor = said(CommonAncestor::system);
    return facts;
}

TEST(NominalLink, CountsDataNotSignalling) {
    EXPECT_EQ(nominal_link_mbps(1), 20000);
    for (const int version : {2, 3, 4, 5, 6}) EXPECT_EQ(nominal_link_mbps(version), 25000) << version;
    EXPECT_EQ(nominal_link_mbps(7), 50000);
    EXPECT_EQ(nominal_link_mbps(0), 0);
    EXPECT_EQ(nominal_link_mbps(99), 0);
}

TEST(FarEnd, KnownPeerBeatsEverything) {
    NvmlLink link;
    link.remote_type = RemoteType::nvswitch;
    EXPECT_EQ(classify_far_end(link, 3), FarEnd::gpu);
}

TEST(FarEnd, HiddenAddressMeansHiddenSwitch) {
    NvmlLink link;
    link.remote_hidden = true;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::hidden_switch);
    link.remote_type = RemoteType::nvswitch;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::hidden_switch);
    link.remote_type = RemoteType::unknown;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::hidden_switch);
    link.remote_type = RemoteType::gpu;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::gpu);
}

TEST(FarEnd, PciClassDecidesWhereNvmlHasNoType) {
    NvmlLink link;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::unknown);
    link.remote_is_bridge = true;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::nvswitch);
    link.remote_type = RemoteType::ibm_npu;
    EXPECT_EQ(classify_far_end(link, -1), FarEnd::cpu);
}

TEST(ClassifyPair, SelfAndSlices) {
    PairEvidence facts = switched(18);
    facts.same_device = true;
    EXPECT_EQ(classify_pair(facts).kind.value, LinkKind::SAME_DEVICE);
    facts.same_gpu = true;
    EXPECT_EQ(classify_pair(facts).kind.value, LinkKind::SELF);
}

TEST(ClassifyPair, SwitchLinks) {
    PairEvidence facts = switched(18);
    facts.nvlink = said(P2pStatus::ok);
    facts.switch_hidden = true;
    Pair pair = classify_pair(facts);
    EXPECT_EQ(pair.kind, (Known<LinkKind>{LinkKind::NVSWITCH, Source::nvml}));
    EXPECT_EQ(pair.links, 18);
    EXPECT_EQ(pair.nominal_mbps, (Known<int>{450000, Source::table}));
    EXPECT_TRUE(pair.switch_hidden);
}

TEST(ClassifyPair, SwitchLinksWithoutAStatusAreAssumedToConnect) {
    Pair pair = classify_pair(switched(4));
    EXPECT_EQ(pair.kind.value, LinkKind::NVSWITCH);
    EXPECT_NE(pair.why.find("assumed"), std::string::npos);
}

TEST(ClassifyPair, RefusedNvlinkFallsBackToPciAndSaysSo) {
    PairEvidence facts = switched(18);
    facts.nvlink = said(P2pStatus::not_supported);
    Pair pair = classify_pair(facts);
    EXPECT_EQ(pair.kind.value, LinkKind::SYS);
    EXPECT_EQ(pair.links, 0);
    EXPECT_FALSE(pair.nominal_mbps.known());
    EXPECT_NE(pair.why.find("not supported"), std::string::npos);
}

TEST(ClassifyPair, DirectLinksBeatSwitchLinks) {
    PairEvidence facts = switched(6);
    facts.direct_links = 2;
    facts.nvlink = said(P2pStatus::ok);
    Pair pair = classify_pair(facts);
    EXPECT_EQ(pair.kind.value, LinkKind::NVLINK);
    EXPECT_EQ(pair.nominal_mbps.value, 50000);
}

TEST(ClassifyPair, SumsOfLinksHaveASpeedAndNoNumber) {
    PairEvidence facts = switched(2);
    facts.links_are_sums = true;
    Pair pair = classify_pair(facts);
    EXPECT_EQ(pair.kind.value, LinkKind::NVSWITCH);
    EXPECT_EQ(pair.links, 0);
    EXPECT_EQ(pair.nominal_mbps.value, 50000);
}

TEST(ClassifyPair, NvlinkWithoutVisibleLinksHasNoSpeed) {
    PairEvidence facts;
    facts.nvlink = said(P2pStatus::ok);
    facts.link_mbps = 25000;
    Pair pair = classify_pair(facts);
    EXPECT_EQ(pair.kind.value, LinkKind::NVLINK);
    EXPECT_EQ(pair.links, 0);
    EXPECT_FALSE(pair.nominal_mbps.known());
}

TEST(ClassifyPair, CommonAncestors) {
    const std::pair<CommonAncestor, LinkKind> expected[] = {
        {CommonAncestor::internal, LinkKind::PIX}, {CommonAncestor::single, LinkKind::PIX},
        {CommonAncestor::multiple, LinkKind::PXB}, {CommonAncestor::host_bridge, LinkKind::PHB},
        {CommonAncestor::node, LinkKind::NODE},    {CommonAncestor::system, LinkKind::SYS}};
    for (auto [ancestor, kind] : expected) {
        PairEvidence facts;
        facts.ancestor = said(ancestor);
        facts.nvlink = said(P2pStatus::not_supported);
        EXPECT_EQ(classify_pair(facts).kind, (Known<LinkKind>{kind, Source::nvml}));
    }
}

TEST(ClassifyPair, NumaNodesWhereNvmlIsSilent) {
    PairEvidence facts;
    facts.ancestor = said(static_cast<CommonAncestor>(77));  // a level that this NVML invented
    facts.numa_from = {0, Source::sysfs};
    EXPECT_EQ(classify_pair(facts).kind.value, LinkKind::NONE);
    facts.numa_to = {1, Source::sysfs};
    EXPECT_EQ(classify_pair(facts).kind, (Known<LinkKind>{LinkKind::SYS, Source::sysfs}));
    facts.numa_to.value = 0;
    EXPECT_EQ(classify_pair(facts).kind.value, LinkKind::NODE);
}

}  // namespace
}  // namespace baton::topology
