#include "topology/advice.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/topology/builders.hpp"

namespace baton::topology {
namespace {

CommAdvice advise(const Snapshot &snapshot, std::vector<int> gpu_of_rank = {}) {
    if (gpu_of_rank.empty()) {
        gpu_of_rank.resize(snapshot.gpus.size());
        std::iota(gpu_of_rank.begin(), gpu_of_rank.end(), 0);
    }
    return advise_communicator(snapshot, make_graph(snapshot), gpu_of_rank);
}

Pair pair_of(LinkKind kind, Known<bool> p2p) {
    Pair pair;
    pair.kind = {kind, Source::nvml};
    pair.p2p_read = pair.p2p_write = p2p;
    return pair;
}

TEST(AdvisePair, TransportFollowsLinksAndPermissions) {
    const Known<bool> yes{true, Source::nvml}, no{false, Source::cuda}, unknown;
    EXPECT_EQ(advise_pair(pair_of(LinkKind::SELF, unknown)).transport, Advised::none);
    for (const LinkKind kind : {LinkKind::SAME_DEVICE, LinkKind::NVLINK, LinkKind::NVSWITCH, LinkKind::C2C}) {
        EXPECT_EQ(advise_pair(pair_of(kind, yes)).transport, Advised::kernel_and_copy_engine);
        EXPECT_EQ(advise_pair(pair_of(kind, unknown)).transport, Advised::kernel_and_copy_engine);
        EXPECT_EQ(advise_pair(pair_of(kind, no)).transport, Advised::host_staging);
    }
    for (const LinkKind kind : {LinkKind::PIX, LinkKind::PXB, LinkKind::PHB, LinkKind::NODE, LinkKind::SYS}) {
        EXPECT_EQ(advise_pair(pair_of(kind, yes)).transport, Advised::copy_engine);
        EXPECT_EQ(advise_pair(pair_of(kind, unknown)).transport, Advised::host_staging);
        EXPECT_EQ(advise_pair(pair_of(kind, no)).transport, Advised::host_staging);
    }
    EXPECT_NE(advise_pair(pair_of(LinkKind::NVLINK, no)).why.find("cuda"), std::string::npos);
}

TEST(AdviseCommunicator, UniformSwitchKeepsTheRankOrder) {
    const CommAdvice advice = advise(builders::with_p2p(builders::hidden_switches(8), true));
    EXPECT_TRUE(advice.uniform);
    EXPECT_TRUE(advice.fully_linked);
    EXPECT_TRUE(advice.all_p2p);
    EXPECT_EQ(advice.weakest, LinkKind::NVSWITCH);
    EXPECT_EQ(advice.nvlink_groups, (std::vector<std::vector<int>>{{0, 1, 2, 3, 4, 5, 6, 7}}));
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_TRUE(advice.ring.rank_order);
    EXPECT_EQ(advice.ring.bottleneck_mbps, (Known<int>{450'000, Source::table}));
    EXPECT_NE(advice.ring.why.find("alike"), std::string::npos);
    EXPECT_EQ(advice.why, "every pair of ranks is linked by NVSwitch");
}

TEST(AdviseCommunicator, CubeMeshFindsTheRingOfDoubleLinks) {
    const CommAdvice advice = advise(builders::cube_mesh());
    EXPECT_FALSE(advice.uniform);
    EXPECT_FALSE(advice.fully_linked);
    EXPECT_EQ(advice.nvlink_groups.size(), 1u);
    EXPECT_EQ(advice.ring.bottleneck_mbps.value, 50'000);
    EXPECT_EQ(advice.ring.bottleneck_kind, LinkKind::NVLINK);
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 3, 2, 1, 5, 6, 7, 4}));
    EXPECT_FALSE(advice.ring.rank_order);
}

TEST(AdviseCommunicator, RingIsOfRanksNotOfGpus) {
    const CommAdvice advice = advise(builders::cube_mesh(), {7, 6, 5, 1, 2, 3, 0, 4});
    EXPECT_EQ(advice.ring.bottleneck_mbps.value, 50'000);
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(AdviseCommunicator, TwoIslands) {
    Snapshot snapshot = builders::gpus(4);
    builders::join(snapshot, 0, 2, 4, 5);
    builders::join(snapshot, 1, 3, 4, 5);
    for (Gpu &gpu : snapshot.gpus) gpu.numa_node = {0, Source::sysfs};
    const CommAdvice advice = advise(snapshot);
    EXPECT_EQ(advice.nvlink_groups, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
    EXPECT_EQ(advice.weakest, LinkKind::NODE);
    EXPECT_EQ(advice.ring.bottleneck_kind, LinkKind::NODE);
    EXPECT_FALSE(advice.ring.bottleneck_mbps.known());
    EXPECT_NE(advice.why.find("2 NVLink islands"), std::string::npos);
    EXPECT_TRUE(advice.pair(2, 0).linked);
    EXPECT_FALSE(advice.pair(0, 1).linked);
    EXPECT_TRUE(advice.pair(0, 1).known);
    EXPECT_EQ(advice.pair(0, 2).weight.mbps, 100'000);
}

TEST(AdviseCommunicator, UnknownLinksAreCalledThat) {
    Snapshot snapshot = builders::gpus(3);
    for (Gpu &gpu : snapshot.gpus) gpu.pci = {};
    EXPECT_EQ(advise(snapshot).why, "no usable NVLinks known; the weakest link is not known");
    builders::join(snapshot, 0, 1, 4);
    EXPECT_EQ(advise(snapshot).why, "2 NVLink islands; between them unknown links");
    builders::join(snapshot, 1, 2, 4);
    EXPECT_EQ(advise(snapshot).why, "NVLinks connect all ranks, but not every pair; the weakest link is not known");
}

/// The worse direction counts, because the GPUs of both ranks write.
TEST(AdviseCommunicator, PairsHaveTheWorseOfBothDirections) {
    Snapshot snapshot = builders::with_p2p(builders::hidden_switches(3), true);
    snapshot.pair(2, 1).p2p_read = {false, Source::probe};
    const CommAdvice advice = advise(snapshot, {0, 1, 2, 2, -1});
    EXPECT_FALSE(advice.pair(1, 2).linked);
    EXPECT_FALSE(advice.pair(2, 1).weight.direct);
    EXPECT_TRUE(advice.pair(0, 1).linked);
    EXPECT_TRUE(advice.pair(2, 3).same_gpu);
    EXPECT_FALSE(advice.pair(0, 2).same_gpu);
    EXPECT_FALSE(advice.pair(0, 4).known);
    snapshot.pair(2, 0).p2p_write = {false, Source::probe};
    EXPECT_EQ(advise(snapshot).nvlink_groups, (std::vector<std::vector<int>>{{0, 1}, {2}}));
    Snapshot slow = builders::hidden_switches(2);
    slow.pair(1, 0).mbps = {7'000, Source::override_file};
    EXPECT_EQ(advise(slow).pair(0, 1).weight.mbps, 7'000);
    EXPECT_EQ(advise(slow).ring.bottleneck_mbps, (Known<int>{7'000, Source::override_file}));
    Snapshot assumed = builders::gpus(2);
    assumed.pair(0, 1).mbps = {7'000, Source::override_file};
    EXPECT_EQ(advise(assumed).pair(0, 1).basis, Basis::kind);
}

TEST(AdviseCommunicator, RingOverMoreThanSixteenIsTheBestWhereAllPairsAreAlike) {
    EXPECT_TRUE(advise(builders::hidden_switches(17)).ring.exact);
    Snapshot snapshot = builders::hidden_switches(17);
    snapshot.gpus[3].nvlinks[0].active = false;
    EXPECT_FALSE(advise(snapshot).ring.exact);
}

TEST(AdviseCommunicator, RingKnowsTheLinksOfItsWorstEdge) {
    Snapshot snapshot = builders::hidden_switches(4);
    snapshot.gpus[3].nvlinks[0].active = false;
    const CommAdvice advice = advise(snapshot);
    EXPECT_EQ(advice.ring.bottleneck_links, 17);
    EXPECT_EQ(advice.ring.bottleneck, advice.pair(0, 3).weight);
    EXPECT_GT(advice.pair(0, 1).weight, advice.ring.bottleneck);
}

TEST(AdviseCommunicator, RingAvoidsRefusedPairs) {
    Snapshot snapshot = builders::with_p2p(builders::hidden_switches(4), true);
    for (const auto &[a, b] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 0}})
        snapshot.pair(a, b).p2p_write = {false, Source::probe};
    const CommAdvice advice = advise(snapshot);
    EXPECT_FALSE(advice.uniform);
    EXPECT_FALSE(advice.all_p2p);
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 2, 1, 3}));
}

TEST(AdviseCommunicator, RanksThatShareAGpu) {
    const CommAdvice advice = advise(builders::hidden_switches(2), {0, 1, 0, 1});
    EXPECT_FALSE(advice.uniform);
    EXPECT_TRUE(advice.fully_linked);
    EXPECT_EQ(advice.ring.bottleneck_mbps.value, 450'000);
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 2, 1, 3})) << "each way between the GPUs once, not twice";
    EXPECT_EQ(advise(builders::hidden_switches(2), {0, 0, 1, 1}).ring.order, (std::vector<int>{0, 1, 2, 3}));
    const CommAdvice one = advise(builders::hidden_switches(1), {0, 0, 0});
    EXPECT_TRUE(one.uniform);
    EXPECT_EQ(one.weakest, LinkKind::SAME_DEVICE);
    EXPECT_FALSE(one.ring.bottleneck_mbps.known());
}

TEST(AdviseCommunicator, NoGpusNoRanks) {
    const CommAdvice host = advise({}, {-1, -1, -1});
    EXPECT_TRUE(host.uniform);
    EXPECT_EQ(host.weakest, LinkKind::NONE);
    EXPECT_EQ(host.nvlink_groups.size(), 3u);
    EXPECT_EQ(host.ring.order, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(host.ranks[1].gpu, -1);
    EXPECT_EQ(advise({}, {-1}).ring.order, (std::vector<int>{0}));
    EXPECT_TRUE(advise_communicator({}, make_graph({}), {}).ring.order.empty());
}

TEST(AdviseRank, NearestNicsAreAllOfTheBestKind) {
    Snapshot snapshot = builders::gpus(1);
    const int host = builders::add_pci(snapshot, PciKind::host_bridge, -1);
    const int port = builders::add_pci(snapshot, PciKind::pci_switch, host);
    snapshot.gpus[0].pci_node = builders::add_pci(snapshot, PciKind::gpu, port);
    snapshot.gpus[0].cpuset = {"0-3", Source::hwloc};
    snapshot.gpus[0].numa_node = {1, Source::hwloc};
    builders::add_nic(snapshot, "eth0", builders::add_pci(snapshot, PciKind::nic, host));
    builders::add_nic(snapshot, "mlx5_0", builders::add_pci(snapshot, PciKind::nic, port));
    builders::add_nic(snapshot, "mlx5_1", builders::add_pci(snapshot, PciKind::nic, port));
    builders::add_nic(snapshot, "far", -1);
    const RankAdvice advice = advise_rank(snapshot, make_graph(snapshot), 0);
    EXPECT_EQ(advice.nearest_nics, (std::vector<NearNic>{{1, LinkKind::PIX}, {2, LinkKind::PIX}}));
    EXPECT_EQ(advice.cpuset.value, "0-3");
    EXPECT_EQ(advice.numa_node.value, 1);
    EXPECT_EQ(advice.uuid.value, "GPU-0");
    snapshot.nics.erase(snapshot.nics.begin(), snapshot.nics.begin() + 3);
    EXPECT_TRUE(advise_rank(snapshot, make_graph(snapshot), 0).nearest_nics.empty());
}

}  // namespace
}  // namespace baton::topology
