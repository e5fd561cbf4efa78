#pragma once

#include "collectives/p2p/message.hpp"
#include "transport/transport.hpp"

/// Send and recv straight into the receiver's buffer.
///   Sender:   1. Wait until the slot's message before has left.  2. Channel 0 posts the signature.
///             3. Wait for the receiver's reply with its buffer, push this channel's share, signal.
///   Receiver: 1. Channel 0 posts where the buffer is and compares the signature.
///             2. Every channel waits for its share; the last one hands the slot back.
/// The sender completes when the receiver has come. Steps: 2 flights and the data. Wire: message bytes. Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD void send_push(Engine &engine, const Message &message) {
    MessageOutbox *out = engine.own().outbox(message.peer, message.slot());
    MessageInbox *in = engine.arena(message.peer).inbox(engine.rank(), message.slot());
    if (!engine.wait_word(&out->consumed.value, message.slot_user_before(), WaitFor::consumed)) return;
    if (engine.channel() == 0) engine.post_line(&in->header);
    typename Engine::Remote destination{};
    if (!engine.compare_line(&out->reply, &destination)) return;
    const Range part = engine.share(message.bytes, line_bytes);
    engine.copy(destination + part.begin, message.buffer + part.begin, part.bytes);
    engine.post_word(&in->done[engine.channel()].value, message.number);
}

template <class Engine>
BATON_HD void recv_push(Engine &engine, const Message &message) {
    MessageInbox *in = engine.own().inbox(message.peer, message.slot());
    MessageOutbox *out = engine.arena(message.peer).outbox(engine.rank(), message.slot());
    if (!engine.wait_word(&in->received, message.slot_user_before(), WaitFor::consumed)) return;
    if (engine.channel() == 0) {
        engine.post_line(&out->reply);
        if (!engine.compare_line(&in->header, nullptr)) return;
    }
    if (!engine.wait_word(&in->done[engine.channel()].value, message.number, WaitFor::data)) return;
    if (!engine.last_part(&in->parts)) return;
    engine.post_word(&in->received, message.number);
    engine.post_word(&out->consumed.value, message.number);
}

}  // namespace baton::core
