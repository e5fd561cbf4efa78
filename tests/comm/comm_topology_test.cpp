// What rank 0 tells the others about the machine.
#include "comm/comm_topology.hpp"
#include "comm/links_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tests/topology/builders.hpp"

namespace baton::core {
namespace {

using test::refusal;
using testing::HasSubstr;
using topology::Source;
namespace builders = topology::builders;

TEST(CommTopology, TheSettingIsATextOrAFileOrNone) {
    EXPECT_FALSE(read_topology(nullptr));
    EXPECT_FALSE(read_topology(""));
    EXPECT_FALSE(read_topology("none"));
    EXPECT_EQ(read_topology(R"({"ranks": 3})")->ranks, 3);
    EXPECT_THAT(refusal([] { read_topology("/nowhere/o.json"); }), HasSubstr("/nowhere/o.json: No such file"));
    EXPECT_THAT(refusal([] { read_topology(R"({"ranks": 0})"); }), HasSubstr("given as text: ranks"));
}

TEST(CommTopology, HostRanksAreAlikeUnlessTheOverrideSpeaksOfThem) {
    const auto said = read_topology(R"({"ranks": 4, "links": [[0,2,0,0], [2,0,0,0], [0,0,0,2], [0,0,2,0]],
                                        "gbps": [[0,50,5,5], [50,0,5,5], [5,5,0,50], [5,5,50,0]]})");
    const CommTopology four = host_topology(said, 4);
    EXPECT_EQ(four.links.island_of_rank, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(four.note, "");
    EXPECT_EQ(four.refusal, "");
    EXPECT_TRUE(four.localities.empty());
    const CommTopology two = host_topology(said, 2);
    EXPECT_EQ(two.links.shape, Links::Shape::uniform);
    EXPECT_EQ(two.links.why, "all ranks meet in host memory");
    EXPECT_THAT(two.note, HasSubstr("given as text speaks of 4 ranks: it is passed over for a "
                                    "communicator of 2 ranks on host memory"));
    EXPECT_THAT(host_topology(read_topology(R"({"p2p": "off"})"), 2).note, HasSubstr("speaks of GPUs"));
    EXPECT_EQ(host_topology(std::nullopt, 2).note, "");
}

TEST(CommTopology, RanksFindTheirGpusByUuid) {
    topology::Snapshot machine = builders::gpus(4);
    builders::join(machine, 0, 2, 4);
    builders::join(machine, 1, 3, 4);
    for (std::size_t gpu = 0; gpu < 4; ++gpu) machine.gpus[gpu].numa_node = {static_cast<int>(gpu / 2), Source::sysfs};
    machine.gpus[3].cpuset = {"8-15", Source::hwloc};
    const CommTopology found = gpu_topology(std::nullopt, machine, {"GPU-3", "GPU-1", "GPU-0", "GPU-2"});
    EXPECT_EQ(found.links.island_of_rank, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(found.localities[0].numa_node, 1);
    EXPECT_EQ(found.localities[0].processors, "8-15");
    EXPECT_EQ(found.localities[2].numa_node, 0);
    EXPECT_EQ(found.localities[2].processors, "");
    const CommTopology strange = gpu_topology(std::nullopt, machine, {"GPU-3", "GPU-9", "GPU-0"});
    EXPECT_EQ(strange.links.shape, Links::Shape::uniform);
    EXPECT_EQ(strange.localities[1].numa_node, -1);
}

TEST(CommTopology, TheOverrideRefusesP2pBetweenRanks) {
    const topology::Snapshot machine = builders::hidden_switches(4);
    const auto said = read_topology(R"({"pairs": [{"gpus": ["1", "3"], "p2p": "off"}]})");
    EXPECT_EQ(gpu_topology(said, machine, {"GPU-3", "GPU-0", "GPU-1"}).refusal,
              "topology override given as text: pairs[0] refuses P2P between ranks 0 and 2");
    EXPECT_EQ(gpu_topology(said, machine, {"GPU-3", "GPU-0"}).refusal, "");
    EXPECT_EQ(gpu_topology(read_topology(R"({"p2p": "off"})"), machine, {"GPU-3", "GPU-3"}).refusal, "") << "one GPU";
    EXPECT_EQ(gpu_topology(read_topology(R"({"p2p": "off"})"), machine, {"GPU-8", "GPU-9"}).refusal,
              "topology override given as text: p2p refuses P2P between ranks 0 and 1")
        << "GPUs that nobody describes";
    EXPECT_EQ(host_topology(read_topology(R"({"ranks": 2, "p2p": "off"})"), 2).refusal,
              "topology override given as text: p2p refuses P2P between ranks 0 and 1");
}

TEST(CommTopology, AnOverrideThatDoesNotFitTheMachineIsRefused) {
    const auto said = read_topology(R"({"pairs": [{"gpus": ["1", "7"], "gbps": 1}]})");
    EXPECT_THAT(refusal([&] { gpu_topology(said, builders::hidden_switches(4), {"GPU-0"}); }),
                HasSubstr("pairs[0]: there is no GPU \"7\""));
}

TEST(CommTopology, RanksOnGpusAreLinkedAsAnOverrideOfRanksSays) {
    topology::Snapshot machine = builders::hidden_switches(2);
    machine.gpus[1].numa_node = {1, Source::sysfs};
    const auto said = read_topology(R"({"ranks": 4, "links": [[0,2,0,0], [2,0,0,0], [0,0,0,2], [0,0,2,0]],
                                        "gbps": [[0,50,5,5], [50,0,5,5], [5,5,0,50], [5,5,50,0]],
                                        "pairs": [{"gpus": ["0", "2"], "p2p": "off"}]})");
    const CommTopology shared = gpu_topology(said, machine, {"GPU-0", "GPU-0", "GPU-1", "GPU-0"});
    EXPECT_EQ(shared.links.island_of_rank, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(shared.refusal, "topology override given as text: pairs[0] refuses P2P between ranks 0 and 2");
    EXPECT_EQ(shared.note, "");
    ASSERT_EQ(shared.localities.size(), 4u);
    EXPECT_EQ(shared.localities[2].numa_node, 1) << "where a rank lies is the machine's word";
    const CommTopology others = gpu_topology(said, machine, {"GPU-0", "GPU-1"});
    EXPECT_EQ(others.links.shape, Links::Shape::uniform);
    EXPECT_THAT(others.note, HasSubstr("speaks of 4 ranks: it is passed over for a communicator of 2 ranks on GPUs"));
    EXPECT_EQ(others.refusal, "");
}

/// Lines would tear if an override could give NVLinks to a machine that has none.
TEST(CommTopology, NvlinksAreTheMachinesWord) {
    const auto all_nvlink = [](const topology::Snapshot &machine, const char *said,
                               const std::vector<std::string> &uuids) {
        const auto read = said == nullptr ? std::nullopt : read_topology(said);
        return gpu_topology(read, machine, uuids).links.all_nvlink;
    };
    const topology::Snapshot linked = builders::hidden_switches(2);
    const topology::Snapshot apart = builders::gpus(2);
    const std::vector<std::string> both{"GPU-0", "GPU-1"};
    EXPECT_TRUE(all_nvlink(linked, nullptr, both));
    EXPECT_FALSE(all_nvlink(apart, nullptr, both));
    EXPECT_TRUE(all_nvlink(apart, nullptr, {"GPU-0", "GPU-0"})) << "one GPU";
    EXPECT_FALSE(all_nvlink(linked, nullptr, {"GPU-0", "GPU-9"})) << "nobody describes it";
    EXPECT_FALSE(all_nvlink(apart, R"({"pairs": [{"gpus": ["0", "1"], "kind": "NVLINK", "links": 4}]})", both));
    EXPECT_FALSE(all_nvlink(linked, R"({"pairs": [{"gpus": ["0", "1"], "p2p": "off"}]})", both));
    EXPECT_FALSE(all_nvlink(apart, R"({"ranks": 2, "links": [[0, 4], [4, 0]]})", both));
    EXPECT_TRUE(all_nvlink(linked, R"({"ranks": 2, "links": [[0, 4], [4, 0]]})", both));
}

TEST(CommTopology, LinesWantNvlinksAndHopper) {
    Links links;
    EXPECT_TRUE(lines_arrive_whole(links, {})) << "host memory";
    EXPECT_FALSE(lines_arrive_whole(links, {9, 9}));
    links.all_nvlink = true;
    EXPECT_TRUE(lines_arrive_whole(links, {9, 9}));
    EXPECT_FALSE(lines_arrive_whole(links, {9, 8}));
    EXPECT_FALSE(lines_arrive_whole(links, {10, 10}));
}

TEST(CommTopology, ReachesTheOthersWhole) {
    CommTopology sent;
    sent.links.shape = Links::Shape::ring;
    sent.links.ring = {0, 2, 1};
    sent.links.island_of_rank = {0, 1, 0};
    sent.links.why = "why \"not\"";
    sent.links.all_alike = true;
    sent.links.all_nvlink = true;
    sent.refusal = "an entry";
    sent.localities = {{1, "8-15,24"}, {-1, ""}};
    const CommTopology got = comm_topology_from(to_text(sent));
    EXPECT_EQ(got.links.shape, sent.links.shape);
    EXPECT_EQ(got.links.ring, sent.links.ring);
    EXPECT_EQ(got.links.island_of_rank, sent.links.island_of_rank);
    EXPECT_EQ(got.links.why, sent.links.why);
    EXPECT_TRUE(got.links.all_alike);
    EXPECT_TRUE(got.links.all_nvlink);
    EXPECT_EQ(got.refusal, sent.refusal);
    ASSERT_EQ(got.localities.size(), 2u);
    EXPECT_EQ(got.localities[0].numa_node, 1);
    EXPECT_EQ(got.localities[0].processors, "8-15,24");
    EXPECT_EQ(got.localities[1].numa_node, -1);
}

/// Where the processors of the GPU's node are excluded, nothing is bound.
TEST(CommTopology, PlacesFollowTheGpuAndTheUsersBinding) {
    const std::vector<int> allowed = allowed_processors();
    const CommTopology::Locality here{0, std::to_string(allowed.front())}, elsewhere{0, "8000"}, unknown{};
    const std::vector<int> bound = allowed.size() > 1 ? std::vector<int>{allowed.front()} : std::vector<int>{};
    EXPECT_EQ(placement_at(&here).processors, bound);
    EXPECT_TRUE(placement_at(&elsewhere).processors.empty());
    EXPECT_EQ(placement_at(&elsewhere).numa_node, 0);
    EXPECT_EQ(placement_at(&unknown).numa_node, placement_at(nullptr).numa_node);
}

}  // namespace
}  // namespace baton::core
