#include "topology/snapshot_json.hpp"

#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tests/topology/builders.hpp"
#include "tests/topology/machines.hpp"
#include "tests/topology/texts.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

std::string why_not(const std::string &text) {
    return test::refusal([&] { snapshot_from_json(text, "s.json"); });
}

TEST(SnapshotJson, NothingIsLost) {
    std::vector<Snapshot> all{{},
                              read_machine(texts::hwloc, "x"),
                              read_machine(texts::nccl, "x"),
                              builders::with_p2p(builders::cube_mesh(), false),
                              assemble(machines::h200_hidden_switches(), {}),
                              assemble(machines::two_bridges(), {})};
    Snapshot odd = builders::gpus(2);
    odd.gpus[0].name = "quote \" backslash \\ \xc3\xa4";
    odd.gpus[0].mig = true;
    odd.gpus[1].cuda_ordinal = {3, Source::cuda};
    odd.pair(0, 1).measured_mbps = {389'000, Source::measured};
    odd.pair(1, 0).kind = {LinkKind::C2C, Source::override_file};
    odd.host.numa_list.push_back({1, "0-3,8", std::uint64_t{1} << 50});
    odd.host.restriction = {"0,8", {2, 4}};
    odd.driver = {"580.1", Source::sysfs};
    odd.gaps = {"one", "two"};
    all.push_back(odd);
    for (const Snapshot &snapshot : all) {
        EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot), "x"), snapshot);
        EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot, 2), "x"), snapshot);
    }
}

TEST(SnapshotJson, OlderOnesWithoutARestrictionAreRead) {
    const std::string text = snapshot_to_json(read_machine(texts::hwloc, "x"));
    EXPECT_EQ(text.find("restriction"), std::string::npos);
    EXPECT_FALSE(snapshot_from_json(text, "s.json").host.restriction);
}

TEST(SnapshotJson, NamesThatAreNotUtf8DoNotStopIt) {
    Snapshot snapshot = builders::gpus(1);
    snapshot.gpus[0].name = "GPU \xff";
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot), "x").gpus[0].name, "GPU \xef\xbf\xbd");
}

TEST(SnapshotJson, EightGpusAreSmallEnoughToShare) {
    EXPECT_LT(snapshot_to_json(assemble(machines::h200_hidden_switches(), {})).size(), 64u << 10);
}

TEST(SnapshotJson, TwoGpusAreNotOne) {
    Snapshot snapshot = builders::hidden_switches(2);
    snapshot.gpus[1].pci = snapshot.gpus[0].pci;
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)), "s.json: gpus[1].pci: gpus[0] is at this address too");
    snapshot.gpus[1].mig = true;
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot), "s.json"), snapshot);
    snapshot.gpus[1].uuid = snapshot.gpus[0].uuid;
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)), "s.json: gpus[1].uuid: gpus[0] has it too");
}

TEST(SnapshotJson, RefusalsNameTheField) {
    const std::string good = snapshot_to_json(builders::hidden_switches(2));
    EXPECT_EQ(why_not("{}"), "s.json: not a snapshot: \"baton_snapshot\" is missing");
    EXPECT_EQ(why_not("[]"), "s.json: not a snapshot: \"baton_snapshot\" is missing");
    EXPECT_NE(why_not(good.substr(0, 100)).find("s.json: parse error at line 1, column 10"), std::string::npos);
    EXPECT_EQ(why_not(texts::changed(good, "\"baton_snapshot\":1", "\"baton_snapshot\":2")),
              "s.json: baton_snapshot: must be 1, not 2");
    EXPECT_EQ(why_not(texts::changed(good, "\"far_end\":\"hidden_switch\"", "\"far_end\":\"moon\"")),
              "s.json: gpus[0].nvlinks[0].far_end: \"moon\" is none of unknown, gpu, nvswitch, hidden_switch, cpu");
    EXPECT_EQ(why_not(texts::changed(good, "\"peer_gpu\":-1", "\"peer_gpu\":2")),
              "s.json: gpus[0].nvlinks: peer_gpu: 2 is no index among 2 entries");
    EXPECT_EQ(why_not(texts::changed(good, "\"mig\":false", "\"mig\":0")),
              "s.json: gpus[0].mig: must be true or false");
    EXPECT_EQ(why_not(texts::changed(good, "\"mig\"", "\"gim\"")).find("s.json: gpus[0]: unknown key \"gim\""), 0u);
    EXPECT_EQ(why_not(texts::changed(good, "\"pairs\":[{},", "\"pairs\":[")),
              "s.json: pairs: 3 entries, but 2 GPUs have 4 pairs");
    EXPECT_EQ(why_not(texts::changed(good, "\"gaps\":[]", "\"gaps\":[],\"gaps\":[]")),
              "s.json: the key \"gaps\" stands twice in one object");
    EXPECT_EQ(why_not(std::string(100'000, '[')), "s.json: nested deeper than 64 levels");
}

TEST(SnapshotJson, NumbersThatNoMachineHasAreRefused) {
    const auto refused = [](const auto &change) {
        Snapshot snapshot = builders::hidden_switches(2);
        builders::add_pci(snapshot, PciKind::host_bridge, -1);
        builders::add_nic(snapshot, "nic", 0);
        change(snapshot);
        return why_not(snapshot_to_json(snapshot));
    };
    const auto known = [](int value) { return Known<int>{value, Source::nvml}; };
    EXPECT_EQ(refused([](Snapshot &s) { s.gpus[0].nvlinks[0].reported_mbps = 2'000'000'000; }),
              "s.json: gpus[0].nvlinks: reported_mbps: 2000000000 is not from 0 to 10000000");
    EXPECT_EQ(refused([](Snapshot &s) { s.gpus[1].nvlinks[0].index = 64; }),
              "s.json: gpus[1].nvlinks: index: 64 is not from 0 to 63");
    EXPECT_EQ(refused([&](Snapshot &s) { s.pair(0, 1).links = known(2147483647); }),
              "s.json: pairs[1].links: 2147483647 is not from 0 to 64");
    EXPECT_EQ(refused([&](Snapshot &s) { s.pair(1, 0).mbps = known(-1); }),
              "s.json: pairs[2].mbps: -1 is not from 0 to 1000000000");
    EXPECT_EQ(refused([&](Snapshot &s) { s.pair(1, 0).measured_mbps = known(-1); }),
              "s.json: pairs[2].measured_mbps: -1 is not from 0 to 1000000000");
    EXPECT_EQ(refused([&](Snapshot &s) { s.gpus[0].numa_node = known(-1); }),
              "s.json: gpus[0].numa_node: -1 is not from 0 to 8191");
    EXPECT_EQ(refused([&](Snapshot &s) { s.gpus[0].c2c_links = known(65); }),
              "s.json: gpus[0].c2c_links: 65 is not from 0 to 64");
    EXPECT_EQ(refused([&](Snapshot &s) { s.nics[0].numa_node = known(9000); }),
              "s.json: nics[0].numa_node: 9000 is not from 0 to 8191");
    EXPECT_EQ(refused([](Snapshot &s) { s.pci[0].numa_nodes.assign(257, 0); }),
              "s.json: pci[0].numa_nodes: 257 entries, more than 256");
    EXPECT_EQ(refused([](Snapshot &s) { s.pci[0].numa_nodes = {-1}; }),
              "s.json: pci[0].numa_nodes: -1 is not from 0 to 8191");
    EXPECT_EQ(refused([](Snapshot &s) { s.pci[0].numa_nodes = {1, 0}; }), "s.json: pci[0].numa_nodes: not ascending");
    EXPECT_EQ(refused([](Snapshot &s) { s.nvswitches.resize(257); }), "s.json: nvswitches: 257 entries, more than 256");
    const auto restricted = [&](const Restriction &restriction) {
        return refused([&](Snapshot &s) {
            s.host.numa_list = {{0, "0-3", 0}};
            s.host.restriction = restriction;
        });
    };
    EXPECT_EQ(restricted({"3-1", {}}),
              "s.json: host.restriction.usable_pus: \"3-1\" is no list of processors, such as \"0-3,8\"");
    EXPECT_EQ(restricted({"", {1}}), "s.json: host.restriction.usable_pus: names no processor");
    EXPECT_EQ(restricted({"0", {2, 1}}), "s.json: host.restriction.hidden_nodes: not ascending");
    EXPECT_EQ(restricted({"0", {8192}}), "s.json: host.restriction.hidden_nodes: 8192 is not from 0 to 8191");
    EXPECT_EQ(refused([](Snapshot &s) {
                  s.host.restriction = {"0", {0}};
              }),
              "s.json: host.restriction.hidden_nodes: host.numa_list has none that are not hidden");
    EXPECT_EQ(restricted({"0", {0}}), "s.json: host.restriction.hidden_nodes: 0 is in host.numa_list too");
    EXPECT_EQ(refused([](Snapshot &s) { s.host.pus = -1; }), "s.json: host.pus: -1 is not from 0 to 2147483647");
    EXPECT_EQ(why_not("{\n\"baton_snapshot\":\n1e400}"), "s.json: line 3: number overflow parsing '1e400'");
}

TEST(SnapshotJson, TreesThatAreNoneAreRefused) {
    Snapshot snapshot;
    for (int node = 0; node < 3; ++node) builders::add_pci(snapshot, PciKind::bridge, node - 1);
    snapshot.pci[1].parent = 2;
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)), "s.json: pci[1].parent: 2 is no earlier entry");
    snapshot.pci[1].parent = 1;
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)), "s.json: pci[1].parent: 1 is no earlier entry");
    snapshot.pci[1].parent = 0;
    snapshot.pci[2].cpuset = "3-1";
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)),
              "s.json: pci[2].cpuset: \"3-1\" is no list of processors, such as \"0-3,8\"");
    for (int node = 3; node < 100; ++node) builders::add_pci(snapshot, PciKind::bridge, node - 1);
    EXPECT_EQ(why_not(snapshot_to_json(snapshot)).find("s.json: pci["), 0u);
}

}  // namespace
}  // namespace baton::topology
