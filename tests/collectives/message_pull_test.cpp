// Messages by pull that both ranks copy, step by step on one thread: who copies what, and who waits for whom.
#include "collectives/p2p/pull.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "transport/host/message_engine.hpp"

namespace baton::core {
namespace {

/// Calls before_a_piece() just before it copies a piece.
class Interrupted : public HostMessageEngine {
public:
    using HostMessageEngine::HostMessageEngine;
    std::function<void()> before_a_piece = [] {};
    int pieces = 0;

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        piece();
        HostMessageEngine::copy(destination, source, bytes);
    }
    void copy_from(std::byte *destination, const Remote &source, std::uint64_t bytes) {
        piece();
        HostMessageEngine::copy_from(destination, source, bytes);
    }

private:
    void piece() {
        ++pieces;
        before_a_piece();
    }
};

/// Rank 0 sends to rank 1.
class SharedPull : public testing::Test {
protected:
    static constexpr int sender = 0, receiver = 1;

    SharedPull() {
        for (int rank : {sender, receiver}) {
            CommView &view = views_[rank];
            view.rank = rank;
            view.size = 2;
            view.control = &controls_[rank];
            view.layout = ArenaLayout::make(2, 1, {.packets = 64, .segment = 256});
            view.timeout_ns = 60'000'000'000;
        }
        for (std::vector<Line> &arena : arenas_) arena.resize(views_[0].layout.total_bytes / sizeof(Line) + 1);
        for (CommView &view : views_) {
            for (int rank : {sender, receiver}) view.arenas[rank] = arenas_[rank].front().bytes;
            view.own_memory = view.own().base;
        }
        reach_.same_process = true;
    }

    /// One side of message `number` of `bytes`, from or into a buffer of its own.
    struct Side {
        Side(SharedPull &test, int rank, std::uint64_t number, std::size_t bytes, bool sends_too = false)
            : buffer(bytes, rank == sender ? static_cast<std::byte>(number) : std::byte{0xEE}) {
            message.arrival.signature = Signature::make(BATON_SEND, BATON_UINT8, BATON_SUM, bytes);
            const BufferRef named = BufferRef::at_address(buffer.data());
            (rank == sender ? message.arrival.send : message.arrival.recv) = named;
            message.buffer = buffer.data();
            message.bytes = bytes;
            message.number = number;
            message.peer = 1 - rank;
            message.is_send = rank == sender;
            engine.emplace(test.views_[rank], test.reach_, message.arrival, message.peer, number, test.moves_[rank],
                           !sends_too);
        }
        bool advance() {
            return message.is_send ? send_pull(*engine, message, progress) : recv_pull(*engine, message, progress);
        }
        std::vector<std::byte> buffer;
        Message message;
        MessageProgress progress;
        std::optional<Interrupted> engine;
    };

    struct alignas(256) Line {
        std::byte bytes[256] = {};
    };
    CommView views_[2];
    Control controls_[2]{};
    std::vector<Line> arenas_[2];
    std::uint64_t moves_[2] = {};
    HostReach reach_;
};

constexpr std::size_t bytes = 6 * 262144;  // six pieces

TEST_F(SharedPull, BothCopyUntilNoneIsLeft) {
    Side send(*this, sender, 1, bytes), recv(*this, receiver, 1, bytes);
    EXPECT_FALSE(send.advance());
    recv.engine->before_a_piece = [&] {
        if (recv.engine->pieces != 3) return;
        EXPECT_FALSE(send.advance());  // copies all that is left, and waits for the receiver's third
    };
    EXPECT_TRUE(recv.advance());
    EXPECT_EQ(recv.engine->pieces, 3);
    EXPECT_EQ(send.engine->pieces, 3);
    EXPECT_EQ(send.buffer, recv.buffer);
    EXPECT_TRUE(send.advance());
}

TEST_F(SharedPull, TheReceiverWaitsForWhatTheSenderHasClaimed) {
    Side send(*this, sender, 1, bytes), recv(*this, receiver, 1, bytes);
    EXPECT_FALSE(send.advance());
    // As if the sender had claimed the first piece and were copying it slowly.
    EXPECT_EQ(HostMessageEngine::count_up(&views_[sender].own().outbox(receiver, 0)->taken[0].value), step_value(1, 0));
    for (int look = 0; look < 3; ++look) EXPECT_FALSE(recv.advance());
    EXPECT_EQ(recv.engine->pieces, 5);
    EXPECT_FALSE(send.advance()) << "it has not left";
    const Range first = SharedPieces(bytes)[0];
    std::memcpy(recv.buffer.data(), send.buffer.data(), first.bytes);
    store_release(&views_[receiver].own().inbox(sender, 0)->done[0].value, step_value(1, 1));
    EXPECT_TRUE(recv.advance());
    EXPECT_EQ(send.buffer, recv.buffer);
    EXPECT_TRUE(send.advance());
    EXPECT_EQ(send.engine->pieces, 0);
}

/// A sender that comes late finds nothing to claim, and stores nothing for a message that has left.
TEST_F(SharedPull, ALateSenderTouchesNothing) {
    constexpr std::uint64_t next = 1 + message_slots;
    Side send(*this, sender, 1, bytes), recv(*this, receiver, 1, bytes);
    EXPECT_FALSE(send.advance());
    EXPECT_TRUE(recv.advance());
    EXPECT_EQ(recv.engine->pieces, 6);
    // The slot's next message begins before the first one's send has been looked at again, as in a group.
    Side send_next(*this, sender, next, bytes), recv_next(*this, receiver, next, bytes);
    EXPECT_FALSE(send_next.advance());
    EXPECT_TRUE(send.advance());
    EXPECT_EQ(send.engine->pieces, 0);
    recv_next.engine->before_a_piece = [&] {
        if (recv_next.engine->pieces != 1) return;
        EXPECT_FALSE(send_next.advance());
    };
    EXPECT_TRUE(recv_next.advance());
    EXPECT_EQ(send_next.engine->pieces, 5);
    EXPECT_EQ(send_next.buffer, recv_next.buffer);
}

/// The receiver's call may have ended with an error, and its buffer may be in other use.
TEST_F(SharedPull, NobodyCopiesForACommunicatorThatIsBroken) {
    Side send(*this, sender, 1, bytes), recv(*this, receiver, 1, bytes);
    EXPECT_FALSE(send.advance());
    recv.engine->before_a_piece = [&] {
        if (recv.engine->pieces == 1) give_up(views_[receiver], BATON_ERR_SYSTEM, OperationPoint{});
    };
    EXPECT_FALSE(recv.advance());
    EXPECT_EQ(recv.engine->pieces, 1);
    EXPECT_TRUE(recv.engine->failed());
    EXPECT_FALSE(send.advance());
    EXPECT_EQ(send.engine->pieces, 0);
    EXPECT_TRUE(send.engine->failed());
}

/// A reply that is read after its message has ended may name memory that is no longer there.
TEST_F(SharedPull, AReplyThatSaysNothingIsNoError) {
    Side send(*this, sender, 1, bytes);
    EXPECT_FALSE(send.advance());
    std::vector<RegionEntry> regions(2 * region_slots);
    views_[sender].regions = regions.data();
    Arrival reply;  // with another signature, or with a region that nobody has published
    const auto replies = [&] {
        ArrivalLine *const line = &views_[sender].own().outbox(receiver, 0)->reply;
        for (int word = 0; word < Arrival::words; ++word) store_arrival_word(line, reply, word, 1);
        EXPECT_FALSE(send.advance());
    };
    reply.recv = BufferRef::in_region({3, 1}, 0);
    replies();
    reply.signature = send.message.arrival.signature;
    replies();
    // From a receiver that takes fewer bytes by push and has not read the header yet.
    std::vector<std::byte> shorter(bytes / 8);
    reply.signature = Signature::make(BATON_SEND, BATON_UINT8, BATON_SUM, shorter.size());
    reply.recv = BufferRef::at_address(shorter.data());
    replies();
    EXPECT_FALSE(send.engine->failed());
    EXPECT_EQ(send.engine->pieces, 0);
}

/// A sender polls often until the receiver has finished; these polls must not count any further.
TEST_F(SharedPull, ASenderThatHasHelpedOnceCountsNoMore) {
    Side send(*this, sender, 1, bytes), recv(*this, receiver, 1, bytes);
    EXPECT_FALSE(send.advance());
    recv.engine->before_a_piece = [&] {
        if (recv.engine->pieces != 1) return;
        for (int look = 0; look < 100; ++look) EXPECT_FALSE(send.advance());
    };
    EXPECT_TRUE(recv.advance());
    const std::uint64_t claimed = views_[sender].own().outbox(receiver, 0)->taken[0].value;
    EXPECT_EQ(claimed, step_value(1, 0) + 6 + 2);  // and once in vain by each
}

TEST_F(SharedPull, NobodyHelpsWhereThatIsNotAskedFor) {
    for (const bool short_one : {true, false}) {
        const std::size_t size = short_one ? 32768 : bytes;
        const std::uint64_t number = short_one ? 1 : 2;
        Side send(*this, sender, number, size), recv(*this, receiver, number, size, !short_one);
        EXPECT_FALSE(send.advance());
        recv.engine->before_a_piece = [&] { EXPECT_FALSE(send.advance()); };
        EXPECT_TRUE(recv.advance());
        EXPECT_EQ(recv.engine->pieces, 1);
        EXPECT_EQ(send.engine->pieces, 0);
        EXPECT_EQ(send.buffer, recv.buffer);
        EXPECT_TRUE(send.advance());
    }
}

/// A rank's other messages, and whoever waits for this one, need not wait until all of it is copied.
TEST_F(SharedPull, ALongMessageIsCopiedInTurns) {
    constexpr std::size_t length = 40 * 262144 - 5;
    for (const bool helped : {true, false}) {
        const std::uint64_t number = helped ? 1 : 2;
        Side send(*this, sender, number, length), recv(*this, receiver, number, length, !helped);
        EXPECT_FALSE(send.advance());
        for (const std::uint64_t pieces : {16, 32}) {
            EXPECT_FALSE(recv.advance());
            EXPECT_EQ(recv.progress.pieces, pieces);
            EXPECT_EQ(recv.engine->pieces, helped ? pieces : pieces / 16);
            EXPECT_EQ(views_[sender].own().outbox(receiver, send.message.slot())->taken[0].value,
                      step_value(number, pieces));
        }
        EXPECT_TRUE(recv.advance());
        EXPECT_EQ(send.buffer, recv.buffer);
        EXPECT_TRUE(send.advance());
        EXPECT_EQ(send.engine->pieces, 0);
    }
}

TEST_F(SharedPull, ASenderHelpsInTurns) {
    constexpr std::size_t length = 40 * 262144;
    Side send(*this, sender, 1, length), recv(*this, receiver, 1, length);
    EXPECT_FALSE(send.advance());
    recv.engine->before_a_piece = [&] {
        if (recv.engine->pieces != 1) return;
        for (const int pieces : {16, 32, 39, 39}) {
            EXPECT_FALSE(send.advance());
            EXPECT_EQ(send.engine->pieces, pieces);
        }
    };
    EXPECT_TRUE(recv.advance());
    EXPECT_EQ(send.buffer, recv.buffer);
    EXPECT_TRUE(send.advance());
}

/// With a timeout of 0. The clock of a wait starts anew with every sign of its peer.
class SlowPull : public SharedPull {
protected:
    /// More than one look at the clock, fewer than the two after which a wait has lasted too long.
    static constexpr int patience = 300;

    SlowPull() {
        for (CommView &view : views_) view.timeout_ns = 0;
    }
    static bool keeps_waiting(Side &side, int polls) {
        for (int poll = 0; poll < polls; ++poll) EXPECT_FALSE(side.advance());
        return !side.engine->failed();
    }
};

TEST_F(SlowPull, ASenderSeesThatItsReceiverCopies) {
    constexpr std::size_t length = 40 * 262144;
    Side send(*this, sender, 1, length), recv(*this, receiver, 1, length, true);
    EXPECT_TRUE(keeps_waiting(send, patience));
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_FALSE(recv.advance());
        EXPECT_TRUE(keeps_waiting(send, patience)) << turn;
    }
    EXPECT_FALSE(keeps_waiting(send, 2 * patience)) << "without an end";
}

TEST_F(SlowPull, AReceiverThatCopiesKeepsWaitingForTheSameSendersNextMessage) {
    constexpr std::size_t length = 40 * 262144;
    for (const bool helped : {true, false}) {
        const std::uint64_t number = helped ? 1 : 3;
        Side send(*this, sender, number, length), recv(*this, receiver, number, length, !helped);
        Side next(*this, receiver, number + 1, length);
        EXPECT_FALSE(send.advance());
        EXPECT_TRUE(keeps_waiting(next, patience));
        for (int turn = 0; turn < 2; ++turn) {
            EXPECT_FALSE(recv.advance());
            EXPECT_TRUE(keeps_waiting(next, patience)) << helped << " " << turn;
        }
        EXPECT_TRUE(recv.advance());
    }
}

TEST_F(SharedPull, ASenderWhoseReceiverCopiesSleepsAllTheSame) {
    Side send(*this, sender, 1, 40 * 262144), recv(*this, receiver, 1, 40 * 262144, true);
    for (int turn = 0; turn < 2; ++turn) {
        for (int poll = 0; poll < 1 << 20; ++poll) EXPECT_FALSE(send.advance());
        EXPECT_FALSE(recv.advance());
    }
    EXPECT_FALSE(send.advance());
    EXPECT_TRUE(send.engine->waits_long(1));
}

TEST_F(SharedPull, AnAbortIsSeenWhileOtherMessagesGetOn) {
    Side queued(*this, sender, 1 + message_slots, 4096);
    give_up(views_[receiver], BATON_ERR_SYSTEM, OperationPoint{});
    for (int poll = 0; poll < 300 && !queued.engine->failed(); ++poll) {
        ++moves_[sender];
        EXPECT_FALSE(queued.advance());
    }
    EXPECT_TRUE(queued.engine->failed());
}

TEST_F(SharedPull, ASecondTurnIsNotBegunForACommunicatorThatIsBroken) {
    Side send(*this, sender, 1, 40 * 262144), recv(*this, receiver, 1, 40 * 262144, true);
    EXPECT_FALSE(send.advance());
    EXPECT_FALSE(recv.advance());
    give_up(views_[receiver], BATON_ERR_SYSTEM, OperationPoint{});
    EXPECT_FALSE(recv.advance());
    EXPECT_TRUE(recv.engine->failed());
    EXPECT_EQ(recv.engine->pieces, 1);
}

TEST_F(SlowPull, MessagesWaitForTheirTurnWhileOthersOfTheirPeerGetOn) {
    constexpr std::size_t length = 4096;
    Side first(*this, sender, 1, length), second(*this, sender, 2, length);
    Side queued(*this, sender, 1 + message_slots, length);  // waits for the first one's slot
    EXPECT_FALSE(first.advance());
    EXPECT_TRUE(keeps_waiting(second, 1));
    EXPECT_TRUE(keeps_waiting(queued, patience));
    Side recv(*this, receiver, 2, length);
    EXPECT_TRUE(recv.advance());
    EXPECT_TRUE(second.advance());
    EXPECT_TRUE(keeps_waiting(queued, patience));
    EXPECT_FALSE(keeps_waiting(queued, 2 * patience)) << "the first one has no receiver";
}

TEST(SharedPieces, AreTheMessageInOrder) {
    for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{32768}, std::uint64_t{32769}, std::uint64_t{65536},
                                     std::uint64_t{70001}, std::uint64_t{524289}, std::uint64_t{1} << 33}) {
        const core::SharedPieces pieces(size);
        std::uint64_t end = 0;
        for (std::uint64_t index = 0; index < pieces.count(); ++index) {
            ASSERT_EQ(pieces[index].begin, end);
            ASSERT_GT(pieces[index].bytes, 0u);
            end += pieces[index].bytes;
        }
        EXPECT_EQ(end, size);
    }
    EXPECT_EQ(core::SharedPieces(32768).count(), 1u);
    EXPECT_EQ(core::SharedPieces(65535).count(), 1u);
    EXPECT_EQ(core::SharedPieces(0).count(), 0u);
    // Halves, in pairs of equal pieces.
    EXPECT_EQ(core::SharedPieces(65536)[0].bytes, 32768u);
    EXPECT_EQ(core::SharedPieces(65536).count(), 2u);
    EXPECT_EQ(core::SharedPieces(786431)[0].bytes, 196608u);
    EXPECT_EQ(core::SharedPieces(786431).count(), 4u);
    EXPECT_EQ(core::SharedPieces(16 << 20)[63].bytes, 262144u);
    EXPECT_EQ(core::SharedPieces(16 << 20).count(), 64u);
    // The count of pieces must not run into the next message's number.
    EXPECT_LT(core::SharedPieces((std::uint64_t{1} << 63) - 1).count() + 2, std::uint64_t{1} << step_bits);
}

}  // namespace
}  // namespace baton::core
