#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "collectives/p2p/staged.hpp"
#include "expected.hpp"
#include "sync/packet.hpp"
#include "thread_ranks.hpp"
#include "transport/host/move.hpp"
#include "transport/transport.hpp"

namespace baton::test {
namespace {

using core::Communicator;

/// One of several channels, with what MessagePieces asks for.
struct Channel {
    core::ArenaLayout layout;
    int index;
    int count;
    core::Arena own() const { return {nullptr, &layout}; }
    int channel() const { return index; }
    int channels() const { return count; }
    core::Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return core::split(bytes, granule, count, index);
    }
};

/// The longest message that a layout says it holds fits its slot whole.
TEST(MessageSlots, HoldWhatTheySay) {
    for (std::uint64_t limit : {16384, 16385, 16391, 131072, 149796, 262144}) {
        const auto layout = core::ArenaLayout::make(2, 4, {.packets = 64, .messages = limit, .segment = 256});
        EXPECT_LE(layout.message_capacity, limit);
        EXPECT_GT(layout.message_capacity + core::packet_payload, limit);
        EXPECT_LE(core::packets_for(layout.message_capacity), layout.message_packets);
    }
}

/// Also on the host, whose packets are HostPackets.
TEST(MessageSlots, HoldWhatTheySayOnTheHost) {
    for (std::uint64_t limit : {16384, 16385, 16391, 65536}) {
        const auto layout =
            core::ArenaLayout::make(2, 1, {.packets = 64, .messages = limit, .host_packets = true, .segment = 256});
        EXPECT_LE(layout.message_capacity, limit);
        EXPECT_LE(layout.message_packets * sizeof(core::Packet), limit + 256) << "memory that all ranks map";
        std::vector<core::Packet> slot(layout.message_packets);
        EXPECT_GE(core::HostPackets::in(slot.data(), slot.size()).count * core::packet_payload, layout.message_capacity)
            << limit;
    }
}

/// Every channel has two halves of the buffer for itself, in which its pieces lie in turn. The pieces of all channels
/// make up the message.
TEST(MessageStaging, PiecesHavePlacesOfTheirOwn) {
    for (std::uint64_t buffer : {8192, 16384, 65536, 262144, 1048576}) {
        const auto layout =
            core::ArenaLayout::make(2, 4, {.packets = 64, .messages = 64, .message_staged = buffer, .segment = 256});
        core::Message message;
        for (std::uint64_t bytes : {std::uint64_t{16385}, buffer, 3 * buffer + 5}) {
            message.bytes = bytes;
            for (const int wanted : {1, 2, 7, core::message_lanes}) {
                const int lanes = core::shares_of(bytes, core::copy_granule, wanted);
                std::uint64_t free = 0;
                std::uint64_t next = 0;
                for (int index = 0; index < lanes; ++index) {
                    const core::MessagePieces pieces(Channel{layout, index, lanes}, message);
                    EXPECT_GE(pieces.place(0), free) << buffer;
                    EXPECT_LT(pieces.place(0), pieces.place(1)) << buffer;
                    EXPECT_EQ(pieces.place(2), pieces.place(0)) << buffer;
                    std::uint64_t done = 0;
                    for (; !pieces.done(done); ++done) {
                        EXPECT_EQ(pieces.offset(done), next) << buffer;
                        next += pieces.bytes(done);
                        EXPECT_LE(pieces.bytes(done), pieces.place(1) - pieces.place(0)) << buffer;
                    }
                    EXPECT_GT(done, 0u) << buffer;
                    free = 2 * pieces.place(1) - pieces.place(0);
                }
                EXPECT_EQ(next, bytes);
                EXPECT_LE(free, layout.message_staged) << buffer;
            }
        }
    }
}

/// There are message_buffers line buffers, each for the longest message. They begin where lines may.
TEST(MessageLines, LieSideBySide) {
    for (std::uint64_t limit : {120, 121, 65536, 1048576}) {
        const auto layout =
            core::ArenaLayout::make(3, 4, {.packets = 64, .messages = 16392, .message_lines = limit, .segment = 256});
        std::vector<core::DataLine> memory(layout.total_bytes / sizeof(core::DataLine) + 1);
        const core::Arena arena{reinterpret_cast<std::byte *>(memory.data()), &layout};
        EXPECT_GE(layout.message_lines * core::DataLine::payload, limit);
        const core::DataLine *end = arena.eager_lines(0, 0);
        EXPECT_GE(reinterpret_cast<const core::Packet *>(end), arena.eager_buffer(3, 0));
        for (int from = 0; from < 3; ++from) {
            for (int buffer = 0; buffer < core::message_buffers; ++buffer) {
                EXPECT_EQ(arena.eager_lines(from, buffer), end);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(end) % sizeof(core::DataLine), 0u);
                end += layout.message_lines;
            }
        }
        EXPECT_LE(end, reinterpret_cast<const core::DataLine *>(arena.packets(0, 0, 0)));
    }
}

TEST(Shares, NoneIsEmptyOfThoseThatAreCounted) {
    for (const std::uint64_t granule : {core::copy_granule, std::uint64_t{core::DataLine::payload}}) {
        for (int parts = 1; parts <= 64; ++parts) {
            for (std::uint64_t bytes : {0, 1, 64, 127, 128, 129, 1000, 4096, 8193, 65535, 65536, 262144}) {
                const int full = core::shares_of(bytes, granule, parts);
                ASSERT_GE(full, 1);
                ASSERT_LE(full, parts);
                for (int index = 0; index < full && bytes != 0; ++index) {
                    EXPECT_GT(core::split(bytes, granule, full, index).bytes, 0u) << bytes << " in " << parts;
                }
            }
        }
    }
}

class ThreadMessages : public testing::TestWithParam<std::tuple<int, HostWay>> {
protected:
    ThreadConfig config() const { return thread_config(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(ThreadMessages, ARingOfEverySize) {
    const int n = config().size;
    with_ranks(config(), [&](Communicator &comm) {
        const int next = (comm.rank() + 1) % n;
        const int previous = (comm.rank() + n - 1) % n;
        std::uint64_t seed = test_seed();
        for (const std::size_t bytes :
             {0, 1, 7, 8, 8191, 8192, 8193, 16384, 16385, 16440, 30001, 65535, 65536, 65537, 100003, 1 << 20}) {
            ++seed;
            const std::vector<std::byte> sent = pattern(seed, comm.rank(), bytes);
            std::vector<std::byte> got(bytes, std::byte{0xEE});
            run(comm, {send_request(comm, sent.data(), bytes, next), recv_request(comm, got.data(), bytes, previous)});
            EXPECT_TRUE(equal_bytes(pattern(seed, previous, bytes), got))
                << "rank " << comm.rank() << " bytes " << bytes;
        }
    });
}

/// A rank that only sends makes copies too, if its peer only receives.
TEST_P(ThreadMessages, OneWayOfEverySize) {
    const int pairs = config().size / 2;
    with_ranks(config(), [&](Communicator &comm) {
        const bool sends = comm.rank() % 2 == 0;
        const int sender = comm.rank() / 2 * 2;
        if (sender / 2 >= pairs) return;
        std::uint64_t seed = test_seed();
        for (const std::size_t bytes : {16385, 65536, 65537, 300001, 1 << 20, 3 << 20}) {
            for (int turn = 0; turn < 2 * core::message_slots; ++turn) {
                const std::vector<std::byte> sent = pattern(++seed, sender, bytes);
                if (sends) {
                    run(comm, {send_request(comm, sent.data(), bytes, sender + 1)});
                } else {
                    std::vector<std::byte> got(bytes, std::byte{0xEE});
                    run(comm, {recv_request(comm, got.data(), bytes, sender)});
                    ASSERT_TRUE(equal_bytes(sent, got)) << bytes << " bytes, turn " << turn;
                }
            }
        }
    });
}

TEST_P(ThreadMessages, ShortSendsNeedNoReceiverUpToTheQueueDepth) {
    const int n = config().size;
    with_ranks(config(), [&](Communicator &comm) {
        const int next = (comm.rank() + 1) % n;
        const int previous = (comm.rank() + n - 1) % n;
        for (int round = 0; round < 3; ++round) {
            // All ranks send first: without buffering this would never end.
            for (int index = 0; index < BATON_QUEUE_DEPTH; ++index) {
                const std::vector<std::byte> sent =
                    pattern(static_cast<std::uint64_t>(index), comm.rank(), BATON_EAGER_BYTES);
                run(comm, {send_request(comm, sent.data(), sent.size(), next)});
            }
            for (int index = 0; index < BATON_QUEUE_DEPTH; ++index) {
                std::vector<std::byte> got(BATON_EAGER_BYTES);
                run(comm, {recv_request(comm, got.data(), got.size(), previous)});
                EXPECT_TRUE(equal_bytes(pattern(static_cast<std::uint64_t>(index), previous, BATON_EAGER_BYTES), got))
                    << "message " << index;
            }
        }
    });
}

TEST_P(ThreadMessages, AGroupInAnyOrderArrives) {
    const int n = config().size;
    constexpr int per_pair = 11;  // more than the slots of a pair
    with_ranks(config(), [&](Communicator &comm) {
        std::mt19937_64 random(test_seed() + static_cast<std::uint64_t>(comm.rank()));
        const auto bytes_of = [](int from, int to, int index) {
            return static_cast<std::size_t>((from * 7919 + to * 104729 + index * 15485863) % 40000);
        };
        const auto seed_of = [](int to, int index) { return static_cast<std::uint64_t>(to * 100 + index); };
        std::vector<std::vector<std::byte>> sent;
        std::vector<std::vector<std::byte>> got;
        // Per pair the order is the message's identity; across pairs and directions any order must do.
        std::vector<std::pair<int, bool>> turns;
        for (int peer = 0; peer < n; ++peer) {
            for (int index = 0; index < per_pair; ++index) {
                turns.emplace_back(peer, true);
                turns.emplace_back(peer, false);
            }
        }
        std::shuffle(turns.begin(), turns.end(), random);
        std::vector<int> sends(static_cast<std::size_t>(n));
        std::vector<int> recvs(static_cast<std::size_t>(n));
        std::vector<core::Request> requests;
        std::vector<std::pair<int, int>> got_of;
        sent.reserve(turns.size());
        got.reserve(turns.size());
        for (const auto &[peer, is_send] : turns) {
            const auto at = static_cast<std::size_t>(peer);
            if (is_send) {
                const int index = sends[at]++;
                sent.push_back(pattern(seed_of(peer, index), comm.rank(), bytes_of(comm.rank(), peer, index)));
                requests.push_back(send_request(comm, sent.back().data(), sent.back().size(), peer));
            } else {
                const int index = recvs[at]++;
                got.emplace_back(bytes_of(peer, comm.rank(), index));
                got_of.emplace_back(peer, index);
                requests.push_back(recv_request(comm, got.back().data(), got.back().size(), peer));
            }
        }
        run(comm, requests);
        for (std::size_t index = 0; index < got.size(); ++index) {
            const auto [peer, number] = got_of[index];
            EXPECT_TRUE(equal_bytes(pattern(seed_of(comm.rank(), number), peer, got[index].size()), got[index]))
                << "rank " << comm.rank() << " from " << peer << " message " << number;
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Host, ThreadMessages,
                         testing::Combine(testing::Values(1, 2, 4), testing::Values(HostWay::pull, HostWay::push,
                                                                                    HostWay::line, HostWay::staged)),
                         [](const auto &instance) {
                             return std::to_string(std::get<0>(instance.param)) + "Ranks" +
                                    name_of(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace baton::test
