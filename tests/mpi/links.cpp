// What the user says about how ranks are linked: what a communicator makes of it, and when it refuses it.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "collective_case.hpp"

namespace baton::test {
namespace {

class Links : public CommTest {};

baton_config config_saying(const std::string &topology) {
    baton_config config = default_config();
    config.topology = topology.c_str();
    return config;
}

/// On host memory, even if there are GPUs.
baton_config host_config(const std::string &topology) {
    baton_config config = config_saying(topology);
    config.transport = BATON_TRANSPORT_HOST;
    return config;
}

/// An override with NVLinks between the ranks that `linked` names, and SYS between others.
std::string linked_by(int ranks, const std::function<bool(int, int)> &linked) {
    std::string kinds, speeds;
    for (int a = 0; a < ranks; ++a) {
        kinds += a == 0 ? "[" : ",[";
        speeds += a == 0 ? "[" : ",[";
        for (int b = 0; b < ranks; ++b) {
            const bool link = a != b && linked(a, b);
            kinds += std::string(b == 0 ? "" : ",") + (link ? "\"NVLINK\"" : "\"SYS\"");
            speeds += std::string(b == 0 ? "" : ",") + (link ? "50" : "5");
        }
        kinds += "]";
        speeds += "]";
    }
    return "{\"ranks\": " + std::to_string(ranks) + ", \"kind\": [" + kinds + "], \"gbps\": [" + speeds + "]}";
}

void expect_links(baton_comm_t comm, const std::string &text) {
    EXPECT_EQ(info_of(comm).links, text);
    char explained[4096];
    ASSERT_OK(baton_explain(comm, BATON_ALLREDUCE, 1 << 20, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, explained,
                            sizeof(explained)));
    EXPECT_NE(std::string(explained).find(text), std::string::npos) << explained;
}

void expect_collectives(baton_comm_t comm) {
    Stream stream(comm, Stream::Kind::null);
    for (const baton_operation operation : collective_operations)
        for (const std::size_t count : {std::size_t{3}, std::size_t{70000}})
            run_case({.operation = operation, .type = BATON_FLOAT32, .count = count, .seed = count}, comm, stream);
}

/// The override is about ranks, so the ranks may share a GPU.
TEST_F(Links, TwoIslands) {
    const int n = size();
    const std::string said = linked_by(n, [n](int a, int b) { return a * 2 / n == b * 2 / n; });
    const baton_config config = config_saying(said);
    Communicator comm(MPI_COMM_WORLD, &config);
    const bool apart = on_gpu() && info_of(comm).peer_access == 0;  // BATON_P2P=off: then all pairs are alike
    if (!apart && (n == 4 || n == 8))
        expect_links(comm, "islands: 2 NVLink islands of " + std::to_string(n / 2) + " ranks");
    if (!apart && n == 2) expect_links(comm, "uniform: no usable NVLinks known; the weakest link is SYS");
    expect_collectives(comm);
}

TEST_F(Links, ARing) {
    const int n = size();
    const std::string said = linked_by(n, [n](int a, int b) { return (a + 1) % n == b || (b + 1) % n == a; });
    const baton_config config = config_saying(said);
    Communicator comm(MPI_COMM_WORLD, &config);
    if (n == 4 && !(on_gpu() && info_of(comm).peer_access == 0))
        expect_links(comm,
                     "ring: every step of the ring 0-1-2-3 has NVLink of 50 GB/s, other pairs less (the weakest: SYS)");
    if (n < 4) {
        EXPECT_EQ(std::string(info_of(comm).links).find("uniform: "), 0u);
    }
    expect_collectives(comm);
}

/// The file is about one number of ranks; communicators of other sizes do without it.
TEST_F(Links, CommunicatorsOfOtherSizesPassItOver) {
    const std::string said = linked_by(size() + 1, [](int a, int b) { return a + b == 1; });
    const baton_config config = host_config(said);
    Communicator comm(MPI_COMM_WORLD, &config);
    if (size() > 1) expect_links(comm, "uniform: all ranks meet in host memory");
    expect_works(comm);
}

/// If one pair is refused, all ranks go through shared memory, as with p2p off.
TEST_F(Links, ARefusedPairStagesAll) {
    if (size() < 2) GTEST_SKIP() << "needs two ranks";
    const std::string last = std::to_string(size() - 1);
    const std::string said = "{\"ranks\": " + std::to_string(size()) + ", \"pairs\": [{\"gpus\": [\"0\", \"" + last +
                             "\"], \"p2p\": \"off\"}]}";
    const baton_config config = config_saying(said);
    Communicator comm(MPI_COMM_WORLD, &config);
    const baton_info info = info_of(comm);
    EXPECT_EQ(info.single_copy, 0);
    EXPECT_EQ(info.peer_access, 0);
    EXPECT_NE(std::string(info.reach).find("pairs[0] refuses P2P between ranks 0 and " + last), std::string::npos)
        << info.reach;
    expect_collectives(comm);
}

TEST_F(Links, RefusedGpusGoThroughHostMemory) {
    if (!on_gpu()) GTEST_SKIP() << "the communicator is on the host";
    const baton_info before = info_of(comm());
    std::vector<char> uuids(sizeof(before.device_uuid) * static_cast<std::size_t>(size()));
    MPI_Allgather(before.device_uuid, sizeof(before.device_uuid), MPI_CHAR, uuids.data(), sizeof(before.device_uuid),
                  MPI_CHAR, MPI_COMM_WORLD);
    std::set<std::string> gpus;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(size()); ++rank)
        gpus.insert(uuids.data() + rank * sizeof(before.device_uuid));
    baton_config config = default_config();
    config.topology = "{\"p2p\": \"off\"}";
    Communicator comm(MPI_COMM_WORLD, &config);
    const baton_info info = info_of(comm);
    EXPECT_EQ(info.peer_access, gpus.size() > 1 ? 0 : before.peer_access) << info.reach;
    if (gpus.size() > 1 && before.peer_access != 0) {
        EXPECT_NE(std::string(info.reach).find("p2p refuses P2P between ranks"), std::string::npos) << info.reach;
    }
    expect_works(comm);
}

/// Rank 0 reads it, and an error in it is every rank's error.
TEST_F(Links, WrongWordsAreRefusedOnEveryRank) {
    const auto refuse = [&](const std::string &topology, auto... fragments) {
        const std::string mine = rank() == 0 ? topology : "none";
        const baton_config config = host_config(mine);
        baton_comm_t created = nullptr;
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_comm_create(MPI_COMM_WORLD, &config, &created), fragments...);
        EXPECT_EQ(created, nullptr);
    };
    refuse("{\"ranks\": 2, \"gbps\": [[0, 1], [2, 0]]}", "given as text", "gbps", "not symmetric");
    refuse("{", "given as text");
    refuse("/nowhere/override.json", "/nowhere/override.json", "No such file");
    const std::string path = ::testing::TempDir() + "baton_override_" + std::to_string(environment().seed) + ".json";
    if (rank() == 0) std::ofstream(path) << "{\"pairs\": [{\"gpus\": [\"0\", \"1\"], \"kind\": \"PIGEON\"}]}";
    refuse(path, path.c_str(), "pairs[0].kind", "PIGEON");
    if (rank() == 0) std::remove(path.c_str());
    expect_works(comm());
}

TEST_F(Links, OnlyRank0sWordCounts) {
    const std::string mine = rank() == 0 ? "none" : "/nowhere/override.json";
    const baton_config config = host_config(mine);
    Communicator comm(MPI_COMM_WORLD, &config);
    expect_works(comm);
}

}  // namespace
}  // namespace baton::test
