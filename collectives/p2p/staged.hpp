#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/control.hpp"
#include "transport/transport.hpp"

/// Send and recv through one of the receiver's staging buffers for the sender, which the pair's messages take in turns.
/// For memory that the other side cannot reach, or only by a copy that costs more than two. REQUIRES: the message has
/// bytes, so that there is a piece to wait for; short ones are buffered.
///   Both have the same channels. Each channel has a part of the message and one of the buffer; its pieces go through
///   the two halves of that.
///   Sender:   1. Channel 0 waits until the buffer is free (wait_for_buffer()), posts the signature, tells the others.
///             2. Copy a piece into its half, once the one two before has been taken; signal. So with all pieces.
///   Receiver: 1. Channel 0 compares the signature, meanwhile: 2. Wait for a piece, copy it; say so if its half is
///             filled again.  3. The last channel to have taken its part hands slot and buffer back.
/// The sender completes when all but the last two pieces of each channel have been taken. Steps: 1 flight, plus one per
/// further two pieces. Wire: message bytes. Synchronisation: a word of each channel, both ways, and the word that hands
/// the slot back. Scratch: the staging buffer. On the host a header may name the sender's buffer, where that is mapped
/// here (Issuer::issue_messages()): then nothing is staged, and the receiver pulls (HostExecutor, take_header()).
namespace baton::core {

/// How a channel's part of a message goes through staging.
class MessagePieces {
public:
    template <class Engine>
    BATON_HD MessagePieces(const Engine &engine, const Message &message)
        : part_(engine.share(message.bytes, copy_granule)) {
        const auto channels = static_cast<std::uint64_t>(engine.channels());
        most_ = engine.own().layout->message_staged / (2 * channels) / copy_granule * copy_granule;
        first_place_ = 2 * most_ * static_cast<std::uint64_t>(engine.channel());
    }
    BATON_HD bool done(std::uint64_t pieces) const { return pieces * most_ >= part_.bytes; }
    /// Where the piece after so many begins in the message.
    BATON_HD std::uint64_t offset(std::uint64_t pieces) const { return part_.begin + pieces * most_; }
    BATON_HD std::uint64_t bytes(std::uint64_t pieces) const {
        const std::uint64_t rest = part_.bytes - pieces * most_;
        return rest < most_ ? rest : most_;
    }
    /// Where that piece lies in the buffer.
    BATON_HD std::uint64_t place(std::uint64_t pieces) const { return first_place_ + (pieces & 1) * most_; }

private:
    Range part_;
    std::uint64_t most_;
    std::uint64_t first_place_;
};

template <class Engine>
BATON_HD bool send_staged(Engine &engine, const Message &message, MessageProgress &progress) {
    std::uint64_t *const opened = &engine.own_words().message_slot(message.peer, message.slot())->opened;
    MessageOutbox *const own = own_outbox(engine, message);
    MessageInbox *const theirs = peers_inbox(engine, message);
    if (!progress.begun) {
        // Only one channel looks at the slot's words: where arenas are in host memory, blocks wait for each other
        // there.
        if (engine.channel() == 0) {
            if (!wait_for_buffer(engine, message)) return false;
            engine.post_line(&theirs->header);
            engine.post_word(opened, message.number);
        } else if (!engine.wait_word(opened, message.number, WaitFor::consumed)) {
            return false;
        }
        progress.begun = true;
    }
    std::byte *const staging = engine.arena(message.peer).message_staging(engine.rank(), message.buffer_index());
    const MessagePieces pieces(engine, message);
    for (; !pieces.done(progress.pieces); ++progress.pieces) {
        const std::uint64_t number = progress.pieces + 1;
        if (number > 2 && !engine.wait_word(&own->taken[engine.channel()].value, step_value(message.number, number - 2),
                                            WaitFor::taken)) {
            return false;
        }
        engine.copy(engine.local(staging + pieces.place(progress.pieces)),
                    message.buffer + pieces.offset(progress.pieces), pieces.bytes(progress.pieces));
        engine.post_word(&theirs->done[engine.channel()].value, step_value(message.number, number));
    }
    return true;
}

template <class Engine>
BATON_HD bool recv_staged(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageInbox *const own = own_inbox(engine, message);
    MessageOutbox *const theirs = peers_outbox(engine, message);
    if (!progress.begun) {
        if (engine.channel() == 0 && !engine.check_line(&own->header)) return false;
        progress.begun = true;
    }
    std::byte *const staging = engine.own().message_staging(message.peer, message.buffer_index());
    const MessagePieces pieces(engine, message);
    do {  // at least once: wait_word() tells what check_line() has found
        const std::uint64_t step = step_value(message.number, progress.pieces + 1);
        if (!engine.wait_word(&own->done[engine.channel()].value, step, WaitFor::data)) return false;
        engine.copy_from(message.buffer + pieces.offset(progress.pieces),
                         engine.local(staging + pieces.place(progress.pieces)), pieces.bytes(progress.pieces));
        if (!pieces.done(progress.pieces + 2)) engine.post_word(&theirs->taken[engine.channel()].value, step);
        ++progress.pieces;
    } while (!pieces.done(progress.pieces));
    hand_back(engine, message);
    return true;
}

}  // namespace baton::core
