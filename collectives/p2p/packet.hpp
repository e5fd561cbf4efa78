#pragma once

#include "collectives/p2p/message.hpp"
#include "transport/element/packets.hpp"
#include "transport/transport.hpp"

/// Send and recv through the slot's packets at the receiver.
///   Sender:   1. Wait until the slot's message before has left.  2. Channel 0 posts the signature.
///             3. Store this channel's share as packets.
///   Receiver: 1. Channel 0 compares the signature, meanwhile: 2. Take this channel's share.
///             3. The last channel to have done so hands the slot back.
/// The receiver need not wait for the slot's message before: packets and header carry the message's number, and the
/// sender stores them when that message has left. Where a packet lies follows from the byte it carries, so sender and
/// receiver may have different channels.
/// A message that fits the slot never waits for its receiver: message_slots of them are buffered. Longer ones go this
/// way only where the buffers cannot be reached directly, or not as fast: each channel, of which both sides have the
/// same number then, has a part of the slot, and half of it goes after the other, when the one two before has been
/// taken. Steps: 1 flight, plus one per further two halves. Wire: 2 message bytes. Synchronisation: the epochs in the
/// packets, and the word that hands the slot back; for a longer message also one a channel that counts the halves
/// taken. The header is only compared. Scratch: the slot.
namespace baton::core {

static_assert(BATON_EAGER_BYTES >= 2 * message_lanes * copy_granule,
              "two pieces of each channel fit the smallest slot");

/// How a channel's share of a message goes through its slot.
struct MessagePieces {
    Range share;
    std::uint64_t piece_bytes;
    std::uint64_t first_place;  // of this channel, in the slot's bytes
    bool buffered;

    template <class Engine>
    BATON_HD static MessagePieces of(const Engine &engine, const Message &message) {
        const std::uint64_t slot_bytes = engine.own().layout->message_bytes();
        const Range share = engine.share(message.bytes, copy_granule);
        if (message.bytes <= slot_bytes) return {share, share.bytes, share.begin, true};
        const auto channels = static_cast<std::uint64_t>(engine.channels());
        const std::uint64_t half = slot_bytes / (2 * channels) / copy_granule * copy_granule;
        return {share, half, 2 * half * static_cast<std::uint64_t>(engine.channel()), false};
    }
    BATON_HD bool done(std::uint64_t pieces) const { return pieces * piece_bytes >= share.bytes; }
    /// Of the piece after so many.
    BATON_HD std::uint64_t offset(std::uint64_t pieces) const { return share.begin + pieces * piece_bytes; }
    BATON_HD std::uint64_t bytes(std::uint64_t pieces) const {
        const std::uint64_t rest = share.bytes - pieces * piece_bytes;
        return rest < piece_bytes ? rest : piece_bytes;
    }
    /// Its first packet in the slot.
    BATON_HD std::uint64_t place(std::uint64_t pieces) const {
        return (first_place + (pieces & 1) * piece_bytes) / packet_payload;
    }
};

template <class Engine>
BATON_HD bool send_packet(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageOutbox *out = engine.own().outbox(message.peer, message.slot());
    MessageInbox *in = engine.arena(message.peer).inbox(engine.rank(), message.slot());
    if (!progress.begun) {
        if (!engine.wait_word(&out->consumed.value, message.slot_user_before(), WaitFor::consumed)) return false;
        if (engine.channel() == 0) engine.post_line(&in->header);
        progress.begun = true;
    }
    const auto pieces = MessagePieces::of(engine, message);
    for (; !pieces.done(progress.pieces); ++progress.pieces) {
        const std::uint64_t number = progress.pieces + 1;
        if (number > 2 && !engine.wait_word(&out->taken[engine.channel()].value, step_value(message.number, number - 2),
                                            WaitFor::taken)) {
            return false;
        }
        engine.put(message.slot(), pieces.place(progress.pieces), message.buffer + pieces.offset(progress.pieces),
                   pieces.bytes(progress.pieces), step_value(message.number, number));
    }
    return true;
}

template <class Engine>
BATON_HD bool recv_packet(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageInbox *in = engine.own().inbox(message.peer, message.slot());
    MessageOutbox *out = engine.arena(message.peer).outbox(engine.rank(), message.slot());
    if (!progress.begun) {
        if (engine.channel() == 0 && !engine.check_line(&in->header)) return false;
        progress.begun = true;
    }
    const auto pieces = MessagePieces::of(engine, message);
    do {  // an empty message too: what check_line() finds is told by take()
        const std::uint64_t epoch = step_value(message.number, progress.pieces + 1);
        if (!engine.take(message.buffer + pieces.offset(progress.pieces), message.slot(), pieces.place(progress.pieces),
                         pieces.bytes(progress.pieces), epoch)) {
            return false;
        }
        if (!pieces.buffered) engine.post_word(&out->taken[engine.channel()].value, epoch);
        ++progress.pieces;
    } while (!pieces.done(progress.pieces));
    if (engine.last_channel(&in->left)) engine.post_words(&in->received, &out->consumed.value, message.number);
    return true;
}

}  // namespace baton::core
