#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/packet.hpp"
#include "transport/transport.hpp"

/// Send and recv through the slot's packets at the receiver, for messages that the slot holds.
///   Sender:   1. Wait until the slot's message before has left.  2. Channel 0 posts the signature.
///             3. Store this channel's share as packets.
///   Receiver: 1. Channel 0 compares the signature, meanwhile: 2. Take this channel's share.
///             3. The last channel to have done so hands the slot back.
/// The receiver need not wait for the slot's message before: packets and header carry the message's number, and the
/// sender stores them when that message has left. Where a packet lies follows from the byte it carries, so sender and
/// receiver may have different channels. A message never waits for its receiver: message_slots of them are buffered.
/// Steps: 1 flight. Wire: 2 message bytes. Synchronisation: the epochs in the packets, and the word that hands the slot
/// back; the header is only compared. Scratch: the slot.
namespace baton::core {

template <class Engine>
BATON_HD bool send_packet(Engine &engine, const Message &message) {
    MessageOutbox *const own = own_outbox(engine, message);
    MessageInbox *const theirs = peers_inbox(engine, message);
    if (!engine.wait_until_left(&own->consumed.value, message.slot_user_before())) return false;
    if (engine.channel() == 0) engine.post_line(&theirs->header);
    const Range part = engine.share(message.bytes, copy_granule);
    engine.put(message.slot(), part.begin / packet_payload, message.buffer + part.begin, part.bytes, message.number);
    return true;
}

template <class Engine>
BATON_HD bool recv_packet(Engine &engine, const Message &message) {
    MessageInbox *const own = own_inbox(engine, message);
    if (engine.channel() == 0 && !engine.check_line(&own->header)) return false;
    const Range part = engine.share(message.bytes, copy_granule);
    if (!engine.take(message.buffer + part.begin, message.slot(), part.begin / packet_payload, part.bytes,
                     message.number)) {
        return false;
    }
    hand_back(engine, message);
    return true;
}

}  // namespace baton::core
