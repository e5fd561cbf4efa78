#pragma once

#include "collectives/p2p/message.hpp"
#include "transport/transport.hpp"

/// Send and recv through the slot's packets at the receiver.
///   Sender:   1. Wait until the slot's message before has left.  2. Post the signature.
///             3. Piece by piece (half a slot): wait for the piece two before to be taken, store the piece as packets.
///   Receiver: 1. Compare the signature, meanwhile: 2. Piece by piece: take it; tell the sender, if it waits for that.
///             3. Hand the slot back.
/// The receiver need not wait for the slot's message before: packets and header carry the message's number, and the
/// sender stores them when that message has left.
/// A message of at most two pieces (BATON_EAGER_BYTES) never waits for its receiver: message_slots of them are
/// buffered. Longer ones go this way only where the buffers cannot be reached directly. Steps: 1 flight, plus one per
/// further two pieces. Wire: 2 message bytes. Scratch: the slot. Channels: 1.
namespace baton::core {

inline constexpr std::uint64_t message_piece = eager_bytes / 2;

/// The next piece of a message.
struct MessagePiece {
    std::uint64_t number;  // from 1
    std::uint64_t offset;
    std::uint64_t bytes;

    BATON_HD static MessagePiece after(const MessageProgress &progress, const Message &message) {
        const std::uint64_t offset = progress.pieces * message_piece;
        const std::uint64_t rest = message.bytes - offset;
        return {progress.pieces + 1, offset, rest < message_piece ? rest : message_piece};
    }
    /// Where it lies in the slot: pieces take turns.
    BATON_HD std::uint64_t place() const { return (number & 1) * (eager_packets / 2); }
};

template <class Engine>
BATON_HD bool send_packet(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageOutbox *out = engine.own().outbox(message.peer, message.slot());
    MessageInbox *in = engine.arena(message.peer).inbox(engine.rank(), message.slot());
    Packet *packets = engine.arena(message.peer).eager_buffer(engine.rank(), message.slot());
    if (!progress.begun) {
        if (!engine.wait_word(&out->consumed.value, message.slot_user_before(), WaitFor::consumed)) return false;
        engine.post_line(&in->header);
        progress.begun = true;
    }
    for (; progress.pieces * message_piece < message.bytes; ++progress.pieces) {
        const MessagePiece piece = MessagePiece::after(progress, message);
        if (piece.number > 2 &&
            !engine.wait_word(&out->taken.value, step_value(message.number, piece.number - 2), WaitFor::taken)) {
            return false;
        }
        engine.put(packets + piece.place(), message.buffer + piece.offset, piece.bytes,
                   step_value(message.number, piece.number));
    }
    return true;
}

template <class Engine>
BATON_HD bool recv_packet(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageInbox *in = engine.own().inbox(message.peer, message.slot());
    MessageOutbox *out = engine.arena(message.peer).outbox(engine.rank(), message.slot());
    const Packet *packets = engine.own().eager_buffer(message.peer, message.slot());
    if (!progress.begun) {
        if (!engine.check_line(&in->header)) return false;
        progress.begun = true;
    }
    for (; progress.pieces * message_piece < message.bytes; ++progress.pieces) {
        const MessagePiece piece = MessagePiece::after(progress, message);
        const std::uint64_t epoch = step_value(message.number, piece.number);
        if (!engine.take(message.buffer + piece.offset, packets + piece.place(), piece.bytes, epoch)) return false;
        if (message.bytes > 2 * message_piece) engine.post_word(&out->taken.value, epoch);
    }
    engine.post_words(&in->received, &out->consumed.value, message.number);
    return true;
}

}  // namespace baton::core
