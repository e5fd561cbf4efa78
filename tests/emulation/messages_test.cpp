// Sends and recvs by kernels: their own source, on threads of the host (block.hpp). Random groups of them between all
// pairs of ranks, in all ways, as GpuMessages launches them.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <random>
#include <tuple>

#include "collectives/expected.hpp"
#include "collectives/message_kernels.cu"
#include "emulation/forbid.hpp"
#include "emulation/launch_messages.hpp"
#include "emulation/node.hpp"
#include "support/seed.hpp"

namespace baton::emulation {
namespace {

using core::Algorithm;
using core::CommView;

constexpr int channels = 4;
constexpr std::uint64_t most_packets = 4096, most_lines = 6000, most_staged = 4096;
constexpr std::size_t memory_bytes = std::size_t{8} << 20;

Node::Settings settings_of(bool through_host, double timeout_seconds) {
    Node::Settings settings;
    settings.channels = channels;
    settings.memory_bytes = memory_bytes;
    settings.through_host = through_host;
    settings.limits = {.packets = 512,
                       .messages = most_packets,
                       .message_lines = through_host ? 0 : most_lines,
                       .message_staged = through_host ? most_staged : 0,
                       .segment = 1024};
    settings.timeout_seconds = timeout_seconds;
    return settings;
}

/// One message, as both sides know it.
struct Sent {
    int from = 0, to = 0;
    Algorithm algorithm = Algorithm::packet;
    int channels = 1;
    std::size_t send_at = 0, recv_at = 0;
    std::vector<std::byte> data;
};
/// What is launched together, on every rank: each rank's messages in its own order.
struct Group {
    std::vector<Sent> messages;
    std::vector<std::vector<std::pair<std::size_t, bool>>> order;  // by rank: index, and whether it is the send
    int blocks = channels;                                         // of a launch
    unsigned resident = UINT_MAX;                                  // blocks that run side by side
    unsigned moves = 0;  // bits by rank: its memory is elsewhere from this group on
};

class EmulatedMessages : public testing::TestWithParam<std::tuple<int, bool>> {
protected:
    int size() const { return std::get<0>(GetParam()); }
    bool through_host() const { return std::get<1>(GetParam()); }

    Sent draw_message(int from, int to) {
        Sent sent;
        sent.from = from;
        sent.to = to;
        const std::array<Algorithm, 3> ways = through_host()
                                                  ? std::array{Algorithm::packet, Algorithm::staged, Algorithm::staged}
                                                  : std::array{Algorithm::packet, Algorithm::line, Algorithm::push};
        sent.algorithm = ways[random_() % ways.size()];
        sent.channels = 1 + static_cast<int>(random_() % channels);
        const std::size_t most = sent.algorithm == Algorithm::packet ? most_packets
                                 : sent.algorithm == Algorithm::line ? most_lines
                                                                     : 3 * most_staged + 100;
        const std::size_t sizes[] = {0, 1, 7, 8, 100, most / 3, most / 2 + random_() % (most / 2), most};
        const bool may_be_empty = sent.algorithm != Algorithm::staged;  // there is no such plan: staged.hpp
        const std::size_t bytes = sizes[(may_be_empty ? 0 : 1) + random_() % (std::size(sizes) - 1)];
        sent.data = test::pattern(random_(), from, bytes);
        sent.send_at = used_ + random_() % 16;
        sent.recv_at = sent.send_at + bytes + random_() % 32;
        used_ = sent.recv_at + bytes + 16;
        return sent;
    }

    Group draw_group() {
        Group group;
        used_ = 0;
        group.order.resize(static_cast<std::size_t>(size()));
        const bool few = random_() % 2 == 0;  // few: a launch of at most four, if possible
        const std::size_t most_blocks = most_message_blocks(size());
        if (!few && random_() % 4 == 0)
            group.blocks = static_cast<int>(std::min<std::size_t>(core::max_channels, most_blocks));
        for (int from = 0; from < size(); ++from) {
            for (int to = 0; to < size(); ++to) {
                std::size_t many = few ? (to == (from + 1) % size() ? 1 + random_() % 2 : 0) : random_() % 4;
                // Now and then slots are used more than once in a launch.
                if (!few && random_() % 8 == 0) many = BATON_QUEUE_DEPTH + 1 + random_() % BATON_QUEUE_DEPTH;
                const auto room = [&](int rank) {
                    return most_blocks - group.order[static_cast<std::size_t>(rank)].size();
                };
                many = std::min({many, room(from) / (from == to ? 2 : 1), room(to)});
                for (std::size_t message = 0; message < many; ++message) {
                    const std::size_t index = group.messages.size();
                    group.messages.push_back(draw_message(from, to));
                    group.order[static_cast<std::size_t>(from)].emplace_back(index, true);
                    group.order[static_cast<std::size_t>(to)].emplace_back(index, false);
                }
            }
        }
        for (auto &of_rank : group.order) shuffle_between_pairs(of_rank, group);
        group.moves = static_cast<unsigned>(random_() & random_());
        // The fewest that a launch gets by with: recvs of one number from every rank, and one more.
        if (!through_host() && random_() % 2 == 0) group.resident = static_cast<unsigned>(size()) + 1;
        return group;
    }

    /// Keeps the order of each pair, for sends and for recvs, because the k-th send meets the k-th recv.
    void shuffle_between_pairs(std::vector<std::pair<std::size_t, bool>> &calls, const Group &group) {
        const auto kind_of = [&](const std::pair<std::size_t, bool> &call) {
            const Sent &sent = group.messages[call.first];
            return std::tuple(sent.from, sent.to, call.second);
        };
        std::map<std::tuple<int, int, bool>, std::queue<std::pair<std::size_t, bool>>> in_order;
        for (const auto &call : calls) in_order[kind_of(call)].push(call);
        std::shuffle(calls.begin(), calls.end(), random_);
        for (auto &call : calls) {
            auto &next = in_order[kind_of(call)];
            call = next.front();
            next.pop();
        }
    }

    void launch(Node &node, const CommView &view, const Group &group, std::uint64_t seed) const;

    std::uint64_t seed_ = test::draw_seed();
    std::mt19937_64 random_{seed_};
    std::size_t used_ = 0;
};

/// Forbids loads and stores between the buffers of messages.
void forbid_around(Node &node, int rank, const Group &group) {
    std::byte *const memory = node.memory(rank);
    forbid(memory, memory_bytes);
    for (const auto &[index, is_send] : group.order[static_cast<std::size_t>(rank)]) {
        const Sent &sent = group.messages[index];
        allow(memory + (is_send ? sent.send_at : sent.recv_at), sent.data.size());
    }
}

void EmulatedMessages::launch(Node &node, const CommView &view, const Group &group, std::uint64_t seed) const {
    std::vector<core::MessageCall> calls;
    if ((group.moves >> view.rank & 1) != 0) node.move(view.rank);
    for (const auto &[index, is_send] : group.order[static_cast<std::size_t>(view.rank)]) {
        const Sent &sent = group.messages[index];
        core::MessageCall call;
        call.plan.algorithm = sent.algorithm;
        call.plan.channels = sent.channels;
        call.message.buffer = node.memory(view.rank) + (is_send ? sent.send_at : sent.recv_at);
        call.message.bytes = sent.data.size();
        call.message.peer = is_send ? sent.to : sent.from;
        call.message.is_send = is_send;
        call.message.arrival.signature = core::Signature::make(BATON_SEND, BATON_UINT8, 0, sent.data.size());
        if (is_send && !sent.data.empty()) std::memcpy(call.message.buffer, sent.data.data(), sent.data.size());
        if (!is_send) call.message.arrival.recv = node.name(view.rank, call.message.buffer);
        calls.push_back(call);
    }
    if (calls.empty()) return;
    forbid_around(node, view.rank, group);
    launch_messages(view, group.blocks, calls, seed, group.resident);
    allow(node.memory(view.rank), memory_bytes);
    for (const Sent &sent : group.messages) {
        if (sent.to != view.rank) continue;
        const std::byte *const recv = node.memory(view.rank) + sent.recv_at;
        EXPECT_TRUE(test::equal_bytes(sent.data, {recv, sent.data.size()}))
            << core::algorithm_name(sent.algorithm) << " of " << sent.data.size() << " bytes from " << sent.from
            << " to " << sent.to << ", " << sent.channels << " channels";
    }
}

TEST_P(EmulatedMessages, ArriveInOrder) {
    Node::Settings settings = settings_of(through_host(), 60);
    settings.moves = true;
    Node node(size(), settings);
    std::vector<Group> groups;
    // Under sanitizers what goes through host memory takes longest.
    const int many = std::getenv("BATON_TEST_QUICK") == nullptr ? 60 : through_host() ? 3 : 6;
    for (int group = 0; group < many; ++group) groups.push_back(draw_group());
    node.with_ranks([&](const CommView &view) {
        for (std::size_t k = 0; k < groups.size(); ++k) {
            if (HasFailure()) return node.abort();
            launch(node, view, groups[k], seed_ + k * 999 + static_cast<std::uint64_t>(view.rank));
        }
    });
    EXPECT_TRUE(node.errors().empty());
}

/// One message between two ranks that does not complete, in every way.
class EmulatedMessagesThatFail : public testing::TestWithParam<Algorithm> {
protected:
    static constexpr std::size_t bytes = 3000;

    static Node::Settings settings(double timeout_seconds) {
        return settings_of(GetParam() == Algorithm::staged, timeout_seconds);
    }
    static core::MessageCall call(Node &node, const CommView &view, bool is_send, std::uint64_t count) {
        core::MessageCall call;
        call.plan.algorithm = GetParam();
        call.plan.channels = 2;
        call.message.buffer = node.memory(view.rank) + (is_send ? 0 : 2 * bytes);
        call.message.bytes = bytes;
        call.message.peer = 1 - view.rank;
        call.message.is_send = is_send;
        call.message.arrival.signature = core::Signature::make(BATON_SEND, BATON_UINT8, 0, count);
        if (!is_send) call.message.arrival.recv = node.name(view.rank, call.message.buffer);
        return call;
    }
    static void expect_code(const Node &node, baton_result code) {
        EXPECT_FALSE(node.errors().empty());
        for (const core::ErrorRecord &record : node.errors()) EXPECT_EQ(record.code, static_cast<std::uint64_t>(code));
    }
    /// Rank 1 does not hand back what it has not received.
    static void expect_nothing_taken(const Node &node) {
        const core::MessageOutbox *const out = node.view(0).own().outbox(1, 0);
        EXPECT_EQ(out->consumed.value, 0U);
        EXPECT_EQ(out->taken[0].value, 0U);
    }
};

TEST_P(EmulatedMessagesThatFail, BySignaturesThatDiffer) {
    Node node(2, settings(30));
    node.with_ranks([&](const CommView &view) {
        const bool sends = view.rank == 0;
        launch_messages(view, channels, {call(node, view, sends, sends ? bytes : bytes + 1)}, 1);
        // The next ones do nothing, and do not wait for anybody.
        launch_messages(view, channels, {call(node, view, false, bytes)}, 2);
        if (!sends) launch_messages(view, channels, {call(node, view, true, bytes)}, 3);
    });
    expect_code(node, BATON_ERR_MISMATCH);
    for (const core::Packet &word : node.view(0).own().inbox(1, 0)->header.words) EXPECT_EQ(word.epoch, 0U);
}

TEST_P(EmulatedMessagesThatFail, ByATimeout) {
    Node node(2, settings(0.5));
    node.with_ranks([&](const CommView &view) {
        if (view.rank == 1) launch_messages(view, channels, {call(node, view, false, bytes)}, 1);
    });
    expect_code(node, BATON_ERR_TIMEOUT);
    expect_nothing_taken(node);
}

/// The sender gets no further than saying what it sends.
TEST_P(EmulatedMessagesThatFail, ByDataThatDoNotCome) {
    Node node(2, settings(0.2));
    core::Arrival header;
    header.signature = core::Signature::make(BATON_SEND, BATON_UINT8, 0, bytes);
    for (int word = 0; word < core::Arrival::words; ++word)
        core::store_arrival_word(&node.view(1).own().inbox(0, 0)->header, header, word, 1);
    node.with_ranks([&](const CommView &view) {
        if (view.rank == 1) launch_messages(view, channels, {call(node, view, false, bytes)}, 1);
    });
    expect_code(node, BATON_ERR_TIMEOUT);
    expect_nothing_taken(node);
}

TEST_P(EmulatedMessagesThatFail, WhenTheHostSaysSo) {
    Node node(2, settings(30));
    node.with_ranks([&](const CommView &view) {
        if (view.rank == 0) {
            core::store_relaxed(&node.view(1).control->abort, core::AbortWord::make(BATON_ERR_ABORTED, 1, 1));
        } else {
            launch_messages(view, channels, {call(node, view, false, bytes)}, 1);
        }
    });
    EXPECT_TRUE(node.errors().empty());
    expect_nothing_taken(node);
}

/// A sender that is always as far ahead of its receiver as it may be: it may write only over what has been received.
class EmulatedSendsAhead : public testing::TestWithParam<Algorithm> {};

TEST_P(EmulatedSendsAhead, WaitForTheirSlots) {
    constexpr std::size_t bytes = 2000;
    constexpr std::uint64_t messages = 12;
    const std::uint64_t ahead = GetParam() == Algorithm::packet ? core::message_slots : core::message_buffers;
    const std::uint64_t seed = test::draw_seed();
    Node node(2, settings_of(GetParam() == Algorithm::staged, 30));
    const auto begun = [&] {  // messages that the sender has begun
        return core::load_relaxed(&node.view(0).own_words().sent(1)->word) >> core::MessageCount::reader_bits;
    };
    node.with_ranks([&](const CommView &view) {
        const bool sends = view.rank == 0;
        core::MessageCall call;
        call.plan.algorithm = GetParam();
        call.plan.channels = 2;
        call.message.buffer = node.memory(view.rank);
        call.message.bytes = bytes;
        call.message.peer = 1 - view.rank;
        call.message.is_send = sends;
        call.message.arrival.signature = core::Signature::make(BATON_SEND, BATON_UINT8, 0, bytes);
        for (std::uint64_t number = 1; number <= messages && node.errors().empty(); ++number) {
            const std::vector<std::byte> data = test::pattern(seed + number, 0, bytes);
            if (sends) std::ranges::copy(data, call.message.buffer);
            while (!sends && begun() < std::min(number + ahead, messages) && node.errors().empty()) sched_yield();
            for (int turns = 0; !sends && turns < 50; ++turns) sched_yield();  // it goes no further
            launch_messages(view, channels, {call}, seed + number);
            EXPECT_TRUE(sends || test::equal_bytes(data, {call.message.buffer, bytes})) << "message " << number;
        }
    });
    EXPECT_TRUE(node.errors().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, EmulatedSendsAhead,
                         testing::Values(Algorithm::packet, Algorithm::line, Algorithm::staged),
                         [](const auto &of) { return std::string(core::algorithm_name(of.param)); });
INSTANTIATE_TEST_SUITE_P(Ways, EmulatedMessagesThatFail,
                         testing::Values(Algorithm::packet, Algorithm::line, Algorithm::push, Algorithm::staged),
                         [](const auto &of) { return std::string(core::algorithm_name(of.param)); });

INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedMessages, testing::Combine(testing::Values(1, 2, 3), testing::Bool()),
                         [](const auto &of) {
                             return std::to_string(std::get<0>(of.param)) +
                                    (std::get<1>(of.param) ? "ThroughHost" : "");
                         });

}  // namespace
}  // namespace baton::emulation
