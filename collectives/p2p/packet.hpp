#pragma once

#include "collectives/p2p/message.hpp"
#include "transport/transport.hpp"

/// Send and recv through the slot's packets at the receiver.
///   Sender:   1. Wait until the slot's message before has left.  2. Post the signature.
///             3. Piece by piece (half a slot): wait for the piece two before to be taken, store the piece as packets.
///   Receiver: 1. Compare the signature.  2. Piece by piece: take it, tell the sender.  3. Hand the slot back.
/// A message of at most two pieces (BATON_EAGER_BYTES) never waits for its receiver: message_slots of them are
/// buffered. Longer ones go this way only where the buffers cannot be reached directly. Steps: 1 flight, plus one per
/// further two pieces. Wire: 2 message bytes. Scratch: the slot. Channels: 1.
namespace baton::core {

inline constexpr std::uint64_t message_piece = eager_bytes / 2;

template <class Engine>
BATON_HD void send_packet(Engine &engine, const Message &message) {
    MessageOutbox *out = engine.own().outbox(message.peer, message.slot());
    MessageInbox *in = engine.arena(message.peer).inbox(engine.rank(), message.slot());
    Packet *packets = engine.arena(message.peer).eager_buffer(engine.rank(), message.slot());
    if (!engine.wait_word(&out->consumed.value, message.slot_user_before(), WaitFor::consumed)) return;
    engine.post_line(&in->header);
    std::uint64_t piece = 0;
    for (std::uint64_t offset = 0; offset < message.bytes; offset += message_piece) {
        ++piece;
        const std::uint64_t rest = message.bytes - offset;
        if (piece > 2 && !engine.wait_word(&out->taken.value, step_value(message.number, piece - 2), WaitFor::taken))
            return;
        engine.put(packets + (piece & 1) * (eager_packets / 2), message.buffer + offset,
                   rest < message_piece ? rest : message_piece, step_value(message.number, piece));
    }
}

template <class Engine>
BATON_HD void recv_packet(Engine &engine, const Message &message) {
    MessageInbox *in = engine.own().inbox(message.peer, message.slot());
    MessageOutbox *out = engine.arena(message.peer).outbox(engine.rank(), message.slot());
    const Packet *packets = engine.own().eager_buffer(message.peer, message.slot());
    if (!engine.wait_word(&in->received, message.slot_user_before(), WaitFor::consumed)) return;
    if (!engine.compare_line(&in->header, nullptr)) return;
    std::uint64_t piece = 0;
    for (std::uint64_t offset = 0; offset < message.bytes; offset += message_piece) {
        ++piece;
        const std::uint64_t rest = message.bytes - offset;
        if (!engine.take(message.buffer + offset, packets + (piece & 1) * (eager_packets / 2),
                         rest < message_piece ? rest : message_piece, step_value(message.number, piece))) {
            return;
        }
        engine.post_word(&out->taken.value, step_value(message.number, piece));
    }
    engine.post_word(&in->received, message.number);
    engine.post_word(&out->consumed.value, message.number);
}

}  // namespace baton::core
