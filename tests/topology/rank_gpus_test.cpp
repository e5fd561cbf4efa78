#include "topology/tool/rank_gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tests/topology/builders.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

using testing::HasSubstr;
using testing::Not;

RankGpu rank_on(int local_rank, const std::string &uuid, std::size_t slot) {
    return {local_rank, uuid, builders::address(slot), "NVIDIA A100"};
}

TEST(RankGpus, AreFoundByUuid) {
    Snapshot snapshot = builders::gpus(2);
    const std::vector<RankGpu> ranks{rank_on(0, "GPU-1", 1), rank_on(1, "GPU-0", 0), {2, "", {}, ""}};
    EXPECT_EQ(find_or_add_gpus(ranks, snapshot), (std::vector<int>{1, 0, -1}));
    EXPECT_EQ(snapshot, builders::gpus(2));
}

TEST(RankGpus, AreFoundByAddressWhereAUuidIsNotKnown) {
    Snapshot snapshot = builders::gpus(2);
    EXPECT_EQ(find_or_add_gpus({rank_on(0, "", 1)}, snapshot), std::vector<int>{1});
    snapshot.gpus[1].uuid = {};
    EXPECT_EQ(find_or_add_gpus({rank_on(0, "GPU-7", 1)}, snapshot), std::vector<int>{1});
    EXPECT_EQ(snapshot.gpus.size(), 2u);
}

/// Each rank sees its own slice only: rank 1's is not rank 0's, although both are at the same address.
TEST(RankGpus, SlicesThatOnlyTheirRankSeesAreAdded) {
    Snapshot snapshot = builders::gpus(2);
    snapshot.gpus[0].uuid.value = "MIG-slice0";
    snapshot.gpus[0].mig = true;
    snapshot.gpus[0].numa_node = {1, Source::sysfs};
    snapshot.pair(1, 0).p2p_read = {false, Source::nvml};
    const std::vector<RankGpu> ranks{rank_on(0, "GPU-slice0", 0), rank_on(1, "GPU-slice1", 0),
                                     rank_on(2, "GPU-slice1", 0)};
    const std::vector<int> gpus = find_or_add_gpus(ranks, snapshot);
    EXPECT_EQ(gpus, (std::vector<int>{0, 2, 2}));
    ASSERT_EQ(snapshot.gpus.size(), 3u);
    EXPECT_TRUE(snapshot.gpus[2].mig);
    EXPECT_EQ(snapshot.gpus[2].numa_node.value, 1);
    EXPECT_EQ(snapshot.pair(1, 0).p2p_read, (Known<bool>{false, Source::nvml}));
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot), "x"), snapshot);
    Abbreviations used;
    const std::string text = ranks_text(make_machine("", snapshot, {gpus[0], gpus[1]}), used);
    EXPECT_THAT(text, HasSubstr("GPU-slice1"));
    EXPECT_THAT(text, HasSubstr("refused P2P"));
    EXPECT_THAT(text, Not(HasSubstr("every pair of ranks is linked")));
}

/// Without NVML, rank 0 knows only the GPUs that it sees itself.
TEST(RankGpus, GpusThatOnlyTheirRankSeesAreAddedWhereTheTreeHasThem) {
    Snapshot snapshot = builders::gpus(1);
    const int root = builders::add_pci(snapshot, PciKind::host_bridge, -1);
    const int device = builders::add_pci(snapshot, PciKind::gpu, root);
    snapshot.pci[static_cast<std::size_t>(root)].numa_nodes = {3};
    snapshot.pci[static_cast<std::size_t>(root)].cpuset = "8-11";
    const RankGpu other{1, "GPU-other", snapshot.pci[static_cast<std::size_t>(device)].address, "NVIDIA H200"};
    EXPECT_EQ(find_or_add_gpus({rank_on(0, "GPU-0", 0), other}, snapshot), (std::vector<int>{0, 1}));
    EXPECT_EQ(snapshot.gpus[1].pci_node, device);
    EXPECT_EQ(snapshot.gpus[1].numa_node, (Known<int>{3, Source::hwloc}));
    EXPECT_EQ(snapshot.gpus[1].cpuset.value, "8-11");
    EXPECT_EQ(snapshot.gpus[1].name, "NVIDIA H200");
    EXPECT_FALSE(snapshot.gpus[0].mig);
}

TEST(RankGpus, RanksInThePlaceOfGpusStayAlone) {
    Snapshot snapshot;
    snapshot.gpus.resize(2);
    snapshot.pairs.resize(4);
    snapshot.of_ranks = {true, Source::override_file};
    EXPECT_EQ(find_or_add_gpus({rank_on(0, "GPU-0", 0)}, snapshot), std::vector<int>{-1});
    EXPECT_EQ(snapshot.gpus.size(), 2u);
}

TEST(RankGpus, SeveralHostsAreRefused) {
    const RankGpu first = rank_on(0, "GPU-a", 0), second = rank_on(1, "GPU-b", 1);
    require_one_host({});
    require_one_host({first, second});
    EXPECT_EQ(test::refusal([&] {
                  require_one_host({first, second, rank_on(0, "GPU-c", 0), rank_on(1, "GPU-d", 1)});
              }),
              "rank 2 is on another host than rank 0, and one machine is shown: start the ranks of one host");
}

TEST(RankGpus, AreTheSameAfterTheWay) {
    for (const RankGpu &told : {RankGpu{3, "GPU-1", builders::address(4), "NVIDIA H200 NVL"}, RankGpu{},
                                RankGpu{1, "", builders::address(0), ""}, RankGpu{1, "GPU-2", {}, "A"}})
        EXPECT_EQ(rank_gpu_from(to_line(told)), told);
}

}  // namespace
}  // namespace baton::topology
