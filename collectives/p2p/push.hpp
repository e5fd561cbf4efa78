#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/control.hpp"
#include "transport/transport.hpp"

/// Send and recv straight into the receiver's buffer.
///   Sender:   1. Wait until the slot's message before has left.  2. Channel 0 posts the signature.
///             3. Wait for the receiver's reply with its buffer, push this channel's share, signal.
///   Receiver, one channel: 1. Wait until the slot's message before has left; post where the buffer is, compare the
///                             signature.
///             2. Wait for the shares of all channels of the sender; hand the slot back.
/// A copy engine does the sender's 3. for the channels behind a head, between two kernels: one that waits as in
/// send_meet(), and one that signals. The head's channels split its bytes among them as if it were the message.
/// The sender completes when the receiver has come. Steps: 2 flights and the data. Wire: message bytes.
/// Synchronisation: header, reply, a word of each channel of the sender, and the word that hands the slot back.
/// Scratch: none.
namespace baton::core {

/// Returns true, and the receiver's buffer, once that may be written.
template <class Engine>
BATON_HD bool send_meet(Engine &engine, const Message &message, MessageProgress &progress,
                        typename Engine::Remote &destination) {
    MessageOutbox *const own = own_outbox(engine, message);
    MessageInbox *const theirs = peers_inbox(engine, message);
    if (!progress.begun) {
        if (!engine.wait_until_left(&own->consumed.value, message.slot_user_before())) return false;
        if (engine.channel() == 0) engine.post_line(&theirs->header);
        progress.begun = true;
    }
    return engine.compare_line(&own->reply, WaitFor::reply, &destination);
}

template <class Engine>
BATON_HD bool send_push(Engine &engine, const Message &message, MessageProgress &progress) {
    typename Engine::Remote destination{};
    if (!send_meet(engine, message, progress, destination)) return false;
    MessageInbox *const theirs = peers_inbox(engine, message);
    const Range part = engine.share(message.bytes, copy_granule);
    engine.copy(destination + part.begin, message.buffer + part.begin, part.bytes);
    engine.post_word(&theirs->done[engine.channel()].value, step_value(message.number, 1));
    return true;
}

template <class Engine>
BATON_HD bool recv_push(Engine &engine, const Message &message, MessageProgress &progress) {
    std::uint64_t *const received = &engine.own_words().message_slot(message.peer, message.slot())->received;
    MessageInbox *const own = own_inbox(engine, message);
    MessageOutbox *const theirs = peers_outbox(engine, message);
    if (!progress.begun) {
        if (!engine.wait_until_left(received, message.slot_user_before())) return false;
        engine.post_line(&theirs->reply);
        progress.begun = true;
    }
    // The header stays until the slot is handed back, so looking at it again gives the same answer.
    if (!engine.compare_line(&own->header, WaitFor::header, nullptr)) return false;
    if (!engine.wait_parts(own->done, step_value(message.number, 1))) return false;
    engine.post_words(received, &theirs->consumed.value, message.number);
    return true;
}

}  // namespace baton::core
