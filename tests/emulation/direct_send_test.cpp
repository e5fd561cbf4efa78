// Sends by copy engines, with memcpy for the copies. The kernels before and after them run on threads of the host,
// beside the head and other messages as GpuMessages launches them. A ring; receivers do not know how they are sent to.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "collectives/expected.hpp"
#include "emulation/launch_messages.hpp"
#include "emulation/node.hpp"
#include "support/seed.hpp"

namespace baton::emulation {
namespace {

using core::Algorithm;
using core::CommView;

constexpr int channels = 4;
constexpr std::size_t send_at = 0, recv_at = 1 << 18, small_send_at = 2 << 18, small_recv_at = 3 << 18;
constexpr std::size_t small_bytes = 400;

/// One round, the same for all ranks except who sends directly.
struct Round {
    std::size_t bytes;
    int parts;
    int small;  // messages beside, by packets, against the ring; none of them shares a direct send's count
    unsigned sends_directly;  // bit by rank
    std::uint64_t seed;
};

class EmulatedDirectSends : public testing::TestWithParam<int> {
protected:
    int size() const { return GetParam(); }
    int after(int rank) const { return (rank + 1) % size(); }
    int before(int rank) const { return (rank + size() - 1) % size(); }

    Round draw_round() {
        Round round{};
        const std::size_t sizes[] = {1, 127, 1024, 4096, 30000, 200001};
        round.bytes = sizes[random_() % std::size(sizes)];
        round.parts = 1 + static_cast<int>(random_() % 3);
        round.small = size() < 3 ? 0 : static_cast<int>(random_() % 3);
        round.sends_directly = static_cast<unsigned>(random_());
        round.seed = random_();
        return round;
    }
    core::MessageCall call(bool is_send, int peer, std::size_t at, std::size_t bytes, Algorithm algorithm, int parts,
                           int rank) {
        core::MessageCall call;
        call.plan.algorithm = algorithm;
        call.plan.channels = parts;
        call.message.buffer = node_.memory(rank) + at;
        call.message.bytes = bytes;
        call.message.peer = peer;
        call.message.is_send = is_send;
        call.message.arrival.signature = core::Signature::make(BATON_SEND, BATON_UINT8, 0, bytes);
        if (!is_send) call.message.arrival.recv = node_.name(rank, call.message.buffer);
        return call;
    }
    static Node::Settings settings() {
        Node::Settings settings;
        settings.channels = channels;
        settings.memory_bytes = 4 << 18;
        settings.limits = {.packets = 512, .messages = 4096, .message_lines = 6000, .segment = 1024};
        return settings;
    }
    void run(const CommView &view, const Round &round);

    std::uint64_t seed_ = test::draw_seed();
    std::mt19937_64 random_{seed_};
    Node node_{size(), settings()};
};

void EmulatedDirectSends::run(const CommView &view, const Round &round) {
    const int rank = view.rank;
    const auto sent_by = [&](int sender) { return test::pattern(round.seed, sender, round.bytes); };
    std::byte *const memory = node_.memory(rank);
    std::ranges::copy(sent_by(rank), memory + send_at);
    std::fill_n(memory + recv_at, round.bytes, std::byte{0xEE});
    std::vector<core::MessageCall> calls;
    calls.push_back(call(true, after(rank), send_at, round.bytes, Algorithm::push, round.parts, rank));
    std::optional<core::DirectSend> direct;
    if ((round.sends_directly >> rank & 1) != 0) {
        direct = core::leave_head(calls.front(), node_.memory(after(rank)) + recv_at);
        if (direct->head_parts == 0) calls.clear();
    }
    calls.push_back(call(false, before(rank), recv_at, round.bytes, Algorithm::push, round.parts, rank));
    const auto small_sent_by = [&](int sender, int k) {
        return test::pattern(round.seed + 1 + static_cast<std::uint64_t>(k), sender, small_bytes);
    };
    const auto place_of = [](int k) { return static_cast<std::size_t>(k) * small_bytes; };
    for (int k = 0; k < round.small; ++k) {
        const std::size_t at = place_of(k);
        std::ranges::copy(small_sent_by(rank, k), memory + small_send_at + at);
        calls.push_back(call(true, before(rank), small_send_at + at, small_bytes, Algorithm::packet, 2, rank));
        calls.push_back(call(false, after(rank), small_recv_at + at, small_bytes, Algorithm::packet, 2, rank));
    }
    launch_messages(view, channels, calls, round.seed + static_cast<std::uint64_t>(rank), UINT_MAX, direct);
    EXPECT_TRUE(test::equal_bytes(sent_by(before(rank)), {memory + recv_at, round.bytes}))
        << "rank " << rank << ", " << round.bytes << " bytes, " << round.parts << " parts, direct "
        << round.sends_directly;
    for (int k = 0; k < round.small; ++k)
        EXPECT_TRUE(
            test::equal_bytes(small_sent_by(after(rank), k), {memory + small_recv_at + place_of(k), small_bytes}))
            << "rank " << rank << ", small message " << k;
}

TEST_P(EmulatedDirectSends, ArriveAsPushesDo) {
    std::vector<Round> rounds(std::getenv("BATON_TEST_QUICK") != nullptr ? 6 : 40);
    std::ranges::generate(rounds, [&] { return draw_round(); });
    node_.with_ranks([&](const CommView &view) {
        for (const Round &round : rounds) {
            if (HasFailure()) return node_.abort();
            run(view, round);
        }
    });
    EXPECT_TRUE(node_.errors().empty());
}

/// The receiver's host named one buffer and its recv another: nothing may be said to have arrived.
TEST_P(EmulatedDirectSends, ToAnotherBufferThanTheRecvsAreRefused) {
    constexpr std::size_t bytes = 4096;
    node_.with_ranks([&](const CommView &view) {
        if (view.rank == 0) {
            std::vector<core::MessageCall> calls{call(true, 1, send_at, bytes, Algorithm::push, 1, 0)};
            const core::DirectSend direct = core::leave_head(calls.front(), node_.memory(1) + recv_at + 256);
            launch_messages(view, channels, {}, 1, UINT_MAX, direct);
        } else if (view.rank == 1) {
            launch_messages(view, channels, {call(false, 0, recv_at, bytes, Algorithm::push, 1, 1)}, 2);
        }
    });
    const std::vector<core::ErrorRecord> errors = node_.errors();
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors.front().code, static_cast<std::uint64_t>(BATON_ERR_INTERNAL));
    EXPECT_EQ(node_.view(1).own().inbox(0, 0)->done[0].value, 0U);
}

/// The memory that a recv names has been given up.
TEST_P(EmulatedDirectSends, ToARegionThatIsGoneAreRefused) {
    constexpr std::size_t bytes = 4096;
    node_.with_ranks([&](const CommView &view) {
        if (view.rank > 1) return;
        core::MessageCall one = call(view.rank == 0, 1 - view.rank, view.rank == 0 ? send_at : recv_at, bytes,
                                     Algorithm::push, 1, view.rank);
        one.message.arrival.recv.generation += 1;
        if (view.rank == 1 || size() == 2) return launch_messages(view, channels, {one}, 2);  // two: a kernel sends
        const core::DirectSend direct = core::leave_head(one, node_.memory(1) + recv_at);
        launch_messages(view, channels, {}, 1, UINT_MAX, direct);
    });
    const std::vector<core::ErrorRecord> errors = node_.errors();
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors.front().code, static_cast<std::uint64_t>(BATON_ERR_INTERNAL));
    EXPECT_EQ(node_.view(1).own().inbox(0, 0)->done[0].value, 0U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedDirectSends, testing::Values(2, 3), testing::PrintToStringParamName());

}  // namespace
}  // namespace baton::emulation
