// Broadcast by pull where the root makes a part of the others' copies, with the system's copies from this process into
// itself.
#include "collectives/broadcast/pull.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "host_node.hpp"
#include "support/random_bytes.hpp"
#include "transport/host/engine.hpp"

namespace baton::test {
namespace {

class Counting : public core::HostEngine {
public:
    using HostEngine::HostEngine;
    std::uint64_t written = 0, read = 0;

    const std::byte *own = nullptr;  // what it writes into this is not counted

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (destination.address != own) written += bytes;
        HostEngine::copy(destination, source, bytes);
    }
    void copy_from(std::byte *destination, const Remote &source, std::uint64_t bytes) {
        read += bytes;
        HostEngine::copy_from(destination, source, bytes);
    }
};

bool copies_work() {
    int word = 1, copied = 0;
    return core::host_read(reinterpret_cast<std::byte *>(&copied), {reinterpret_cast<std::byte *>(&word), ::getpid()},
                           sizeof(word));
}

struct Case {
    int ranks;
    std::size_t bytes;
    bool help;
    bool mapped = false;    // all that the root could spare the others is a memcpy each
    bool in_place = false;  // at the root
};
class BroadcastPull : public testing::TestWithParam<Case> {};

TEST_P(BroadcastPull, TheRootCopiesAPartForWhoNamesItsBuffer) {
    if (!copies_work()) GTEST_SKIP() << "process_vm_readv: " << std::strerror(errno);
    const int ranks = GetParam().ranks;
    const std::size_t bytes = GetParam().bytes;
    const bool help = GetParam().help, mapped = GetParam().mapped;
    const int root = ranks - 1, unnamed = ranks > 2 ? 1 : -1;
    const bool in_place = GetParam().in_place;
    const std::uint64_t part = help && !mapped ? core::copied_by_root(bytes, ranks, in_place) : 0;
    HostNode node(ranks, 4096);
    std::vector<std::byte> sent = random_bytes(1, bytes);
    std::vector<std::vector<std::byte>> received(static_cast<std::size_t>(ranks), std::vector<std::byte>(bytes));
    node.with_ranks({}, [&](const HostNode::Rank &rank) {
        const int me = rank.view.rank;
        core::HostReach reach;
        reach.pids.assign(static_cast<std::size_t>(ranks), ::getpid());
        reach.ranks_help = help;
        reach.same_process = mapped;
        const core::HostScratch scratch(ranks);
        std::vector<std::byte> &recv = received[static_cast<std::size_t>(me)];
        core::Request request;
        request.operation = BATON_BROADCAST;
        request.count = bytes;
        request.root = root;
        core::CollectiveArgs args;
        args.arrival = HostNode::Rank::arrival(request, sent.data(), recv.data());
        if (me == root) args.arrival.recv = in_place ? args.arrival.send : core::BufferRef();
        if (me != root) args.arrival.send = {};
        if (me == unnamed) args.arrival.recv = {};
        args.send = sent.data();
        args.recv = me == root && in_place ? sent.data() : recv.data();
        args.bytes = bytes;
        args.root = root;
        for (int turn = 0; turn < 3; ++turn) {
            std::fill(recv.begin(), recv.end(), std::byte{0xEE});
            Counting engine(rank.view, reach, scratch);
            engine.own = args.recv;
            core::broadcast_pull(engine, args);
            EXPECT_EQ(std::memcmp(args.recv, sent.data(), bytes), 0) << "rank " << me << " turn " << turn;
            const int helped = ranks - 1 - (unnamed >= 0 ? 1 : 0);
            EXPECT_EQ(engine.written, me == root ? part * static_cast<std::uint64_t>(helped) : 0) << me;
            EXPECT_EQ(engine.read, me == root ? 0 : me == unnamed ? bytes : bytes - part) << me;
        }
    });
}
INSTANTIATE_TEST_SUITE_P(Host, BroadcastPull,
                         testing::Values(Case{2, 1, true}, Case{2, 45055, true}, Case{2, 65536, true},
                                         Case{2, 1000001, true}, Case{2, 1000001, false}, Case{3, 100003, true},
                                         Case{4, 1000001, true}, Case{4, 1000001, false}, Case{2, 1000001, true, true},
                                         Case{4, 1000001, true, true}, Case{2, 3000001, true},
                                         Case{3, 3000001, true, false, true}, Case{2, 65536, true, false, true}),
                         [](const auto &instance) {
                             return std::to_string(instance.param.ranks) + "Ranks" +
                                    std::to_string(instance.param.bytes) + (instance.param.help ? "Helped" : "Alone") +
                                    (instance.param.mapped ? "Mapped" : "") +
                                    (instance.param.in_place ? "InPlace" : "");
                         });

TEST(CopiedByRoot, IsWholePagesOrNothing) {
    EXPECT_EQ(core::copied_by_root(65536, 2, false), 24576u);
    EXPECT_EQ(core::copied_by_root(65536, 2, true), 32768u);
    EXPECT_EQ(core::copied_by_root(1 << 20, 4, false), 196608u);
    EXPECT_EQ(core::copied_by_root(1 << 22, 4, false), 524288u);
    EXPECT_EQ(core::copied_by_root(1 << 22, 4, true), 1048576u);
    EXPECT_EQ(core::copied_by_root(43000, 2, false), 0u);
    EXPECT_EQ(core::copied_by_root(0, 2, true), 0u);
    EXPECT_EQ(core::copied_by_root((std::uint64_t{1} << 63) - 1, 2, true), (std::uint64_t{1} << 62) - 4096);
}

}  // namespace
}  // namespace baton::test
