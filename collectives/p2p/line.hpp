#pragma once

#include "collectives/p2p/message.hpp"
#include "sync/data_line.hpp"
#include "transport/transport.hpp"

/// Send and recv through one of the receiver's line buffers for the sender, which the pair's messages take in turns.
///   Sender:   1. Wait until slot and buffer are free (wait_for_buffer()).  2. Channel 0 posts the signature.
///             3. Store this channel's share as lines.
///   Receiver: 1. Channel 0 compares the signature, meanwhile: 2. Take this channel's share.
///             3. The last channel to have done so hands slot and buffer back.
/// Like packet.hpp, for messages that a buffer holds whole: too long never to wait for the receiver (so there are fewer
/// buffers than slots), and too short to ask where the receiver's memory is. Where a line lies follows from the byte it
/// carries, so sender and receiver may have different channels. Steps: 1 flight. Wire: 16/15 message bytes.
/// Synchronisation: the epochs in the lines, and the word that hands the slot back; the header is only compared.
/// Scratch: the line buffer.
namespace baton::core {

template <class Engine>
BATON_HD bool send_line(Engine &engine, const Message &message) {
    if (!wait_for_buffer(engine, message)) return false;
    if (engine.channel() == 0) engine.post_line(&peers_inbox(engine, message)->header);
    const Range part = engine.share(message.bytes, DataLine::payload);
    engine.put_lines(message.buffer_index(), part.begin / DataLine::payload, message.buffer + part.begin, part.bytes,
                     message.number);
    return true;
}

template <class Engine>
BATON_HD bool recv_line(Engine &engine, const Message &message) {
    MessageInbox *const own = own_inbox(engine, message);
    if (engine.channel() == 0 && !engine.check_line(&own->header)) return false;
    const Range part = engine.share(message.bytes, DataLine::payload);
    if (!engine.take_lines(message.buffer + part.begin, message.buffer_index(), part.begin / DataLine::payload,
                           part.bytes, message.number)) {
        return false;
    }
    hand_back(engine, message);
    return true;
}

}  // namespace baton::core
