#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/control.hpp"
#include "transport/transport.hpp"

/// Send and recv by copies out of the sender's buffer into the receiver's, which both make where both have time; one
/// channel.
///   Sender:   1. Wait until the slot's message before has left.  2. Set the count of claimed pieces to 0; post the
///             signature and where the buffer is.
///             3. Wait until this message has left; the clock starts anew whenever the count has grown. If the
///             receiver names its buffer meanwhile: claim pieces and copy them there as long as there are any; say that
///             its pieces have come.
///   Receiver: 1. Wait for the sender's line, compare the signature.  2. If the sender may help: reply where the buffer
///             is.  3. Claim pieces and copy them as long as there are any; else copy many at a time, and count them.
///             4. Wait for the sender's pieces, if it has claimed any; hand the slot back.
/// A sender that has claimed nothing says nothing, since the slot may be its next message's by then. Until the slot is
/// handed back the count is this message's, and only the sender sets it for the next one. After pieces_a_turn pieces
/// the other messages of the call have their turn.
/// The sender completes when the receiver has come and all is copied. Steps: 2 flights and the data, and a third where
/// the sender has helped. Wire: message bytes, read and written. Synchronisation: header, reply, the atomic count, a
/// word for the sender's pieces, and the word that hands the slot back. Scratch: none.
namespace baton::core {

/// The pieces of a message that two ranks copy, of at most 256 KiB (larger only where they would be more than 2^21).
/// Their number is even, so that both ranks end together; rounding to pages may take one away. A system call for less
/// than 32 KiB is not worth a wait.
class SharedPieces {
public:
    BATON_HD explicit SharedPieces(std::uint64_t bytes) : bytes_(bytes) {
        constexpr std::uint64_t page = 4096, least = 32768, most = 262144;
        // The count of claims has step_bits, and each of the two ranks may count it up once too often.
        constexpr std::uint64_t most_pairs = std::uint64_t{1} << (step_bits - 4);
        const std::uint64_t wanted = ceil_divide(bytes, 2 * most);
        const std::uint64_t pieces = 2 * (wanted < most_pairs ? wanted : most_pairs);
        each_ = bytes < 2 * least ? 2 * least : ceil_divide(bytes, pieces * page) * page;
    }
    BATON_HD std::uint64_t count() const { return ceil_divide(bytes_, each_); }
    BATON_HD Range operator[](std::uint64_t index) const {
        const std::uint64_t begin = index * each_;
        return {begin, bytes_ - begin < each_ ? bytes_ - begin : each_};
    }

private:
    std::uint64_t bytes_;
    std::uint64_t each_;
};

/// What a rank copies before its other messages have their turn: 4 MiB, about half a millisecond.
inline constexpr std::uint64_t pieces_a_turn = 16;

/// Claims as many pieces as a turn has, and calls copy(piece) for each. True if none is left.
template <class Engine, class Copy>
BATON_HD bool copy_claimed(Engine &engine, const Message &message, MessageProgress &progress, std::uint64_t *claimed,
                           const Copy &copy) {
    const SharedPieces pieces(message.bytes);
    const std::uint64_t first = step_value(message.number, 0);
    for (std::uint64_t turn = 0; turn < pieces_a_turn && engine.may_go_on(); ++turn) {
        const std::uint64_t piece = engine.count_up(claimed) - first;
        if (piece >= pieces.count()) return true;
        copy(pieces[piece]);
        ++progress.pieces;
    }
    return load_relaxed(claimed) - first >= pieces.count();
}

/// Copies the pieces of a turn at once, for a receiver that nobody helps. True if they were the last.
template <class Engine, class Copy>
BATON_HD bool copy_alone(Engine &engine, const Message &message, MessageProgress &progress, std::uint64_t *copied,
                         const Copy &copy) {
    if (!engine.may_go_on()) return false;
    const SharedPieces pieces(message.bytes);
    const std::uint64_t begin = pieces[progress.pieces].begin;
    progress.pieces += pieces_a_turn;
    if (progress.pieces >= pieces.count()) {
        progress.pieces = pieces.count();
        copy(Range{begin, message.bytes - begin});
        return true;
    }
    copy(Range{begin, pieces[progress.pieces].begin - begin});
    engine.post_word(copied, step_value(message.number, progress.pieces));
    return false;
}

template <class Engine>
BATON_HD bool send_pull(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageOutbox *const own = own_outbox(engine, message);
    MessageInbox *const theirs = peers_inbox(engine, message);
    if (!progress.begun) {
        if (!engine.wait_until_left(&own->consumed.value, message.slot_user_before())) return false;
        engine.post_word(&own->taken[0].value, step_value(message.number, 0));
        engine.post_line(&theirs->header);
        progress.begun = true;
    }
    if (engine.wait_word(&own->consumed.value, message.number, WaitFor::reply, &own->taken[0].value)) return true;
    typename Engine::Remote destination{};
    if (!progress.none_left && engine.find_reply(&own->reply, &destination)) {
        const auto copy = [&](const Range &piece) {
            engine.copy(destination + piece.begin, message.buffer + piece.begin, piece.bytes);
        };
        progress.none_left = copy_claimed(engine, message, progress, &own->taken[0].value, copy);
        if (progress.none_left && progress.pieces != 0)
            engine.post_word(&theirs->done[0].value, step_value(message.number, 1));
    }
    return false;
}

template <class Engine>
BATON_HD bool recv_pull(Engine &engine, const Message &message, MessageProgress &progress) {
    std::uint64_t *const received = &engine.own_words().message_slot(message.peer, message.slot())->received;
    MessageInbox *const own = own_inbox(engine, message);
    MessageOutbox *const theirs = peers_outbox(engine, message);
    const std::uint64_t count = SharedPieces(message.bytes).count();
    if (!progress.none_left) {
        // The header stays until the slot is handed back, so looking at it again gives the same answer.
        typename Engine::Remote source{};
        if (!engine.compare_line(&own->header, WaitFor::header, &source)) return false;
        const bool helped = count > 1 && engine.sender_helps();
        if (helped && !progress.begun) engine.post_line(&theirs->reply);
        progress.begun = true;
        const auto copy = [&](const Range &piece) {
            engine.copy_from(message.buffer + piece.begin, source + piece.begin, piece.bytes);
        };
        std::uint64_t *const counted = &theirs->taken[0].value;
        progress.none_left = helped ? copy_claimed(engine, message, progress, counted, copy)
                                    : copy_alone(engine, message, progress, counted, copy);
        engine.gets_on();
        if (!progress.none_left) return false;
    }
    if (progress.pieces < count && !engine.wait_word(&own->done[0].value, step_value(message.number, 1), WaitFor::data))
        return false;
    engine.post_words(received, &theirs->consumed.value, message.number);
    return true;
}

}  // namespace baton::core
