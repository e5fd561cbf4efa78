#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "tests/topology/invariants.hpp"
#include "topology/graph.hpp"
#include "topology/readers.hpp"

// The fixtures, and other projects' descriptions of real machines. BATON_TOPOLOGY_SAMPLES names the latter's folder:
// the environment variable, else the build's macro.
namespace baton::topology {
namespace {

using Kinds = std::vector<std::vector<LinkKind>>;

std::vector<std::string> machines_in(const std::string &folder) {
    std::vector<std::string> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".xml" || entry.path().extension() == ".json") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

void check_all(const std::string &folder) {
    const std::vector<std::string> paths = machines_in(folder);
    EXPECT_FALSE(paths.empty()) << "no *.xml or *.json in " << folder;
    for (const std::string &path : paths) {
        SCOPED_TRACE(path);
        check_invariants(read_machine_file(path));
    }
}

/// Expects all devices of a bus below one bridge, and no address twice.
void check_buses(const Snapshot &snapshot) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> parent_of_bus;
    std::set<std::string> addresses;
    for (const PciNode &node : snapshot.pci) {
        if (!node.address) continue;
        EXPECT_TRUE(addresses.insert(to_string(*node.address)).second) << to_string(*node.address) << " twice";
        const auto [bus, fresh] = parent_of_bus.insert({{node.address->domain, node.address->bus}, node.parent});
        EXPECT_EQ(bus->second, node.parent) << to_string(*node.address) << " is at another bridge than its bus";
    }
}

TEST(Fixtures, HaveNoBusAtTwoBridges) {
    for (const std::string &path : machines_in(BATON_TOPOLOGY_FIXTURES)) {
        SCOPED_TRACE(path);
        check_buses(read_machine_file(path));
    }
}

TEST(Fixtures, EachNicOfHgxIsBehindOneSwitchWithItsGpu) {
    const Graph graph = make_graph(read_machine_file(BATON_TOPOLOGY_FIXTURES "/hgx-h200-visible-switches.xml"));
    ASSERT_EQ(graph.nics, 8u);
    for (std::size_t gpu = 0; gpu < 8; ++gpu)
        for (std::size_t nic = 0; nic < 8; ++nic) {
            const LinkKind expected = gpu == nic ? LinkKind::PIX : gpu / 4 == nic / 4 ? LinkKind::PHB : LinkKind::SYS;
            EXPECT_EQ(graph.nic_path(gpu, nic).kind.value, expected) << gpu << " " << nic;
        }
}

TEST(Fixtures, KeepTheInvariants) { check_all(BATON_TOPOLOGY_FIXTURES); }

class Samples : public testing::Test {
protected:
    void SetUp() override {
        const char *named = std::getenv("BATON_TOPOLOGY_SAMPLES");
        const bool is_named = named != nullptr && *named != '\0';
        folder_ = is_named ? named : BATON_TOPOLOGY_SAMPLES;
        if (!is_named && !std::filesystem::is_directory(folder_))
            GTEST_SKIP() << "BATON_TOPOLOGY_SAMPLES names no folder";
    }
    Snapshot sample(const std::string &name) const { return read_machine_file(folder_ + "/" + name); }
    std::string folder_;
};

LinkKind kind(const Graph &graph, std::size_t a, std::size_t b) { return graph.pair(a, b).kind.value; }

TEST_F(Samples, KeepTheInvariants) { check_all(folder_); }

TEST_F(Samples, Dgx2BySwitchesAndByPci) {
    Snapshot snapshot = sample("nvidiaDGX2.xml");
    ASSERT_EQ(snapshot.gpus.size(), 16u);
    EXPECT_EQ(snapshot.nvswitches.size(), 12u);
    const Graph by_links = make_graph(snapshot);
    for (Gpu &gpu : snapshot.gpus) gpu.nvlinks.clear();
    const Graph by_pci = make_graph(snapshot);
    for (std::size_t a = 0; a < 16; ++a)
        for (std::size_t b = 0; b < 16; ++b) {
            if (a == b) continue;
            EXPECT_EQ(kind(by_links, a, b), LinkKind::NVSWITCH);
            EXPECT_EQ(by_links.pair(a, b).links, 6);
            EXPECT_EQ(by_links.pair(a, b).nominal_mbps.value, 150'000);
            const LinkKind expected = a / 2 == b / 2   ? LinkKind::PIX
                                      : a / 4 == b / 4 ? LinkKind::PXB
                                      : a / 8 == b / 8 ? LinkKind::NODE
                                                       : LinkKind::SYS;
            EXPECT_EQ(kind(by_pci, a, b), expected) << a << " " << b;
        }
}

TEST_F(Samples, Power8HasTwoIslands) {
    Snapshot snapshot = sample("power8gpudistances.xml");
    ASSERT_EQ(snapshot.gpus.size(), 4u);
    const Graph by_links = make_graph(snapshot);
    EXPECT_EQ(kind(by_links, 0, 1), LinkKind::NVLINK);
    EXPECT_EQ(by_links.pair(0, 1).nominal_mbps.value, 40'000);
    EXPECT_EQ(by_links.pair(0, 1).links, 2);
    EXPECT_EQ(kind(by_links, 1, 2), LinkKind::SYS);
    EXPECT_EQ(snapshot.gpus[0].nvlinks.back().far_end, FarEnd::cpu);
    for (Gpu &gpu : snapshot.gpus) gpu.nvlinks.clear();
    EXPECT_EQ(kind(make_graph(snapshot), 0, 1), LinkKind::NODE);
}

TEST_F(Samples, PascalBehindOneSwitchWithItsNic) {
    const Snapshot snapshot = sample("cts1-pascal.xml");
    const Graph graph = make_graph(snapshot);
    ASSERT_EQ(graph.gpus, 2u);
    EXPECT_EQ(kind(graph, 0, 1), LinkKind::PIX);
    const auto nic =
        std::find_if(snapshot.nics.begin(), snapshot.nics.end(), [](const Nic &one) { return one.name == "mlx5_0"; });
    ASSERT_NE(nic, snapshot.nics.end());
    EXPECT_EQ(nic->kind, NicKind::infiniband);
    EXPECT_EQ(graph.nic_path(1, static_cast<std::size_t>(nic - snapshot.nics.begin())).kind.value, LinkKind::PIX);
}

TEST_F(Samples, TwoDomainsUnderGroupsOfNodes) {
    const Snapshot snapshot = sample("64intel64-3g2n+2n-irregulargroups+pci.xml");
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(kind(make_graph(snapshot), 0, 1), LinkKind::SYS);
    EXPECT_EQ(snapshot.gpus[0].numa_node.value, 4);
    EXPECT_EQ(snapshot.gpus[1].numa_node.value, 7);
}

}  // namespace
}  // namespace baton::topology
