#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/arena.hpp"

namespace baton::core {

/// One send or recv. `number` is the message's place in the order of its ordered pair, from 1: both sides count alike,
/// so the k-th send meets the k-th recv. The slot (number - 1) % message_slots carries it.
struct Message {
    Arrival arrival;              // signature (the same for both sides); recv: where the receiver's buffer is
    std::byte *buffer = nullptr;  // send: read only
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;
    std::int32_t peer = 0;
    bool is_send = false;

    BATON_HD static int slot_of(std::uint64_t number) { return static_cast<int>((number - 1) % message_slots); }
    BATON_HD int slot() const { return slot_of(number); }
    /// The number of the message so many before this one; 0 if there was none.
    BATON_HD std::uint64_t before(std::uint64_t messages) const { return number > messages ? number - messages : 0; }
    BATON_HD std::uint64_t slot_user_before() const { return before(message_slots); }
    /// The buffer of lines or staging, if it needs one.
    BATON_HD int buffer_index() const { return static_cast<int>((number - 1) % message_buffers); }
};

/// How far a message has come on this rank. The algorithms of this folder are called until they return true. A kernel's
/// waits block, so there one call is all it takes, and false means failure; a host thread's waits only look, so that
/// one thread progresses all messages of a group, and false means "not yet" or failure.
struct MessageProgress {
    bool begun = false;
    std::uint64_t pieces = 0;  // done by this rank
    bool none_left = false;    // of the pieces that two ranks copy: a rank asks in vain once at most
};

/// The boxes of the message's slot. A receiver has its own inbox and its peer's outbox, a sender its peer's inbox and
/// its own outbox.
template <class Engine>
BATON_HD MessageInbox *own_inbox(Engine &engine, const Message &message) {
    return engine.own().inbox(message.peer, message.slot());
}
template <class Engine>
BATON_HD MessageInbox *peers_inbox(Engine &engine, const Message &message) {
    return engine.arena(message.peer).inbox(engine.rank(), message.slot());
}
template <class Engine>
BATON_HD MessageOutbox *own_outbox(Engine &engine, const Message &message) {
    return engine.own().outbox(message.peer, message.slot());
}
template <class Engine>
BATON_HD MessageOutbox *peers_outbox(Engine &engine, const Message &message) {
    return engine.arena(message.peer).outbox(engine.rank(), message.slot());
}

/// Returns true once a message's slot is free to send it, and its buffer of lines or staging too: all messages that may
/// have used the buffer since the slot's last one, and that one, have left, in whatever order.
template <class Engine>
BATON_HD bool wait_for_buffer(Engine &engine, const Message &message) {
    for (int before = message_buffers; before <= message_slots; before += message_buffers) {
        const std::uint64_t number = message.before(static_cast<std::uint64_t>(before));
        MessageOutbox *const out = engine.own().outbox(message.peer, Message::slot_of(number));
        if (!engine.wait_until_left(&out->consumed.value, number)) return false;
    }
    return true;
}

/// What each channel of a receiver does once it has taken its part: the last one hands slot and buffer back.
template <class Engine>
BATON_HD void hand_back(Engine &engine, const Message &message) {
    MessageSlot *const slot = engine.own_words().message_slot(message.peer, message.slot());
    MessageOutbox *const theirs = peers_outbox(engine, message);
    if (engine.last_channel(&slot->channels_done))
        engine.post_words(&slot->received, &theirs->consumed.value, message.number);
}

}  // namespace baton::core
