#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/control.hpp"
#include "transport/transport.hpp"

/// Send and recv by the receiver's copy out of the sender's buffer; one channel.
///   Sender:   1. Wait until the slot's message before has left.  2. Post the signature and where the buffer is.
///             3. Wait until this message has left.
///   Receiver: 1. Wait for the sender's line, compare the signature.  2. Copy; hand the slot back.
/// The sender completes when the receiver has come and copied. Steps: 2 flights and the data. Wire: message bytes,
/// read. Synchronisation: header, and the word that hands the slot back. Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD bool send_pull(Engine &engine, const Message &message, MessageProgress &progress) {
    MessageOutbox *out = engine.own().outbox(message.peer, message.slot());
    MessageInbox *in = engine.arena(message.peer).inbox(engine.rank(), message.slot());
    if (!progress.begun) {
        if (!engine.wait_until_left(&out->consumed.value, message.slot_user_before())) return false;
        engine.post_line(&in->header);
        progress.begun = true;
    }
    return engine.wait_word(&out->consumed.value, message.number, WaitFor::reply);
}

template <class Engine>
BATON_HD bool recv_pull(Engine &engine, const Message &message, MessageProgress & /*progress*/) {
    std::uint64_t *const received = &engine.own_words().message_slot(message.peer, message.slot())->received;
    MessageInbox *in = engine.own().inbox(message.peer, message.slot());
    MessageOutbox *out = engine.arena(message.peer).outbox(engine.rank(), message.slot());
    typename Engine::Remote source{};
    if (!engine.compare_line(&in->header, WaitFor::header, &source)) return false;
    engine.copy_from(message.buffer, source, message.bytes);
    engine.post_words(received, &out->consumed.value, message.number);
    return true;
}

}  // namespace baton::core
