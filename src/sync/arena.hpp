#pragma once

#include <cstddef>
#include <cstdint>

#include "baton/baton.h"
#include "memory/region.hpp"
#include "sync/arrival.hpp"
#include "sync/data_line.hpp"

namespace baton::core {

inline constexpr int max_channels = 64;
inline constexpr int max_windows = 64;
static_assert(1 + max_windows + 3 * BATON_GROUP_LIMIT < own_slots,
              "an arena, windows, and chunks of staging, of which the messages of a group take one each at most");
/// Messages of one ordered pair that may be under way.
inline constexpr int message_slots = BATON_QUEUE_DEPTH;
/// How many of them may be in lines or staging: message k uses buffer (k - 1) % message_buffers.
inline constexpr int message_buffers = 2;
static_assert(message_slots % message_buffers == 0, "a slot's messages use one buffer");
/// Most channels of a message that goes through staging.
inline constexpr int message_lanes = 16;
/// Bits of a semaphore value that tell the steps of one operation apart; 40 bits are left for the epoch
/// (memory_model.md, "How long numbers last").
inline constexpr int step_bits = 24;

/// A word that one peer writes (MessageOutbox::taken is an exception) and this rank polls. It has a line of its own so
/// that host caches do not fight over it.
struct alignas(64) SemaphoreWord {
    std::uint64_t value;
};

/// Words of one peer on a line of their own. Algorithms that need one word use the first; in a pass of lines
/// (transport.hpp, pass_lines) each warp has one.
struct alignas(64) SemaphoreWords {
    static constexpr unsigned count = 8;
    std::uint64_t values[count];
};

struct alignas(128) ArenaHeader {
    std::uint64_t claim;  // this rank's waiters: the first to fail writes the error record
};

/// What a channel reads before it begins. Every channel has an abort word of its own, on one line with its epoch, which
/// no other channel reads: where arenas are in host memory, a GPU's loads of one line come one after the other, a
/// microsecond each (docs/experiments.md).
struct alignas(64) ChannelStart {
    std::uint64_t abort;  // an AbortWord: stored relaxed by any rank's waiters, read by the owner's; stays once set
    std::uint64_t epoch;  // of the channel's last operation: stored at its end, by the last of two blocks
    unsigned long long halves;  // of the channel that have completed the operation (kernel/half_engine.cuh); 0 between
                                // operations, except after a failure, when no other one begins
};
static_assert(offsetof(ChannelStart, abort) == 0 && offsetof(ChannelStart, epoch) == 8, "kernels load both at once");

/// How many messages have gone to (or come from) a peer, and how many blocks of the running launch have read that. Each
/// block adds itself as it reads; the last one adds the launch's messages. In memory, so that a captured launch counts
/// right at every replay.
struct MessageCount {
    static constexpr int reader_bits = 16;
    std::uint64_t word;  // messages << reader_bits | readers
};
static_assert(2 * (max_channels + BATON_GROUP_LIMIT) < 1 << MessageCount::reader_bits, "a launch's blocks");
/// How a launch uses a count.
struct CountUse {
    std::uint32_t readers = 0;   // blocks of the launch that read the count
    std::uint32_t messages = 0;  // messages that it adds
};

/// A rank's own words for one message slot, for both directions with a peer.
struct MessageSlot {
    // Number of the last message from the peer that has left the slot. The message's last channel raises it (GPU:
    // relaxed atomicMax; host: release). A launch reads it at its start; a recv by push polls it while its slot is not
    // free.
    std::uint64_t received;
    std::uint64_t channels_done;  // that have taken their part of it, counted on this device; the last one resets it
    // Number of the last message to the peer whose channels may begin to stage: channel 0 releases it, the others
    // acquire it.
    std::uint64_t opened;
};

/// State of one message slot at the receiver, for one sender. Message k of a pair (from 1) uses slot (k - 1) % slots.
struct alignas(128) MessageInbox {
    ArrivalLine header;                // sender -> receiver: signature of message k (epoch k)
    SemaphoreWord done[max_channels];  // sender -> receiver: how many pieces of its part of message k channel c has
                                       // stored (step_value(k, pieces)); a part by push or pull counts as one
};

/// State of the same slot at the sender.
struct alignas(128) MessageOutbox {
    ArrivalLine reply;                   // receiver -> sender: where the buffer for message k is (epoch k)
    SemaphoreWord consumed;              // receiver -> sender: message k has left the slot (value k)
    SemaphoreWord taken[message_lanes];  // receiver -> sender: pieces that a channel has taken out of its part of the
                                         // staging (step_value(k, pieces)). In a pull, on the host, the first one
                                         // counts from step_value(k, 0) the pieces that either side has claimed, or
                                         // that a receiver alone has copied
};

/// Where the parts of an arena lie. An arena is one allocation per rank that all ranks of the communicator have mapped:
/// device memory, or shared host memory. Every offset is the same on all ranks. Indices are in the order written, as
/// [channel][from]; "from" is the rank that writes, and the arena's owner reads, unless said otherwise.
///
/// Reuse. Epochs are per channel, and every operation on a channel is all-to-all: finishing epoch e+1 means that each
/// peer has sent something in e+1, and so had finished e. Therefore what is indexed by epoch parity (arrival lines,
/// packets, data lines, early staging) may be written for e+2 without asking. A staging segment may be filled again
/// after its reader's credit, or after signals that imply it (memory_model.md). Message slots, with their buffers of
/// lines or staging, are handed back (consumed).
struct ArenaLayout {
    std::int32_t size = 0;
    std::int32_t channels = 0;
    std::uint64_t packets_per_channel = 0;  // per parity and peer
    std::uint64_t lines_per_channel = 0;    // likewise
    std::uint64_t segment_bytes = 0;        // per staging slot and peer, over all channels
    std::uint64_t early_bytes = 0;          // per parity and channel
    std::uint64_t message_packets = 0;      // per message slot
    std::uint64_t message_capacity = 0;     // the longest message that they hold, bytes
    std::uint64_t message_lines = 0;        // per line buffer of messages
    std::uint64_t message_staged = 0;       // bytes per staging buffer of messages
    // At the beginning, what only its rank looks at (OwnWords):
    std::uint64_t sent = 0;            // [peer] MessageCount
    std::uint64_t received = 0;        // [peer] MessageCount
    std::uint64_t slots_of_pairs = 0;  // [peer][slot] MessageSlot
    std::uint64_t signals_taken = 0;   // [window][peer] u64: signals that waits have consumed
    std::uint64_t signals_given = 0;   // [window][peer] u64: signals sent to peer
    std::uint64_t region_cache = 0;    // [owner][slot] Packet: address and generation, as this rank saw them
    std::uint64_t own_bytes = 0;       // all of these
    std::uint64_t header = 0;
    std::uint64_t starts = 0;           // [channel] ChannelStart
    std::uint64_t signals = 0;          // [window][from] SemaphoreWord
    std::uint64_t arrivals = 0;         // [parity][channel][from] ArrivalLine
    std::uint64_t done = 0;             // [channel][from] SemaphoreWords
    std::uint64_t credit = 0;           // [channel][from] SemaphoreWords
    std::uint64_t pushed = 0;           // [from] SemaphoreWord: written by from's stream (pushed_word.hpp)
    std::uint64_t inboxes = 0;          // [from][slot] MessageInbox
    std::uint64_t outboxes = 0;         // [to][slot] MessageOutbox
    std::uint64_t eager = 0;            // [from][slot][message_packets] Packet; on the host HostPackets
    std::uint64_t eager_lines = 0;      // [from][buffer][message_lines] DataLine
    std::uint64_t message_staging = 0;  // [from][buffer][message_staged]
    std::uint64_t packets = 0;          // [parity][channel][from][packets_per_channel] Packet; likewise
    std::uint64_t lines = 0;            // [parity][channel][from][lines_per_channel] DataLine
    std::uint64_t staging = 0;          // [2][from][segment_bytes]; the owner's own: for all ranks, who read it here
    std::uint64_t early = 0;            // [parity][channel][early_bytes]; the owner writes, others read
    std::uint64_t total_bytes = 0;

    /// Bytes that the parts are to hold.
    struct Limits {
        std::uint64_t packets = 0;         // of a collective for each peer, over all channels
        std::uint64_t lines = 0;           // likewise
        std::uint64_t messages = 0;        // of a message in packets
        bool host_packets = false;         // packets are HostPackets
        std::uint64_t message_lines = 0;   // of a message in lines
        std::uint64_t message_staged = 0;  // per staging buffer of longer messages, in pieces
        std::uint64_t segment = 0;         // segment_bytes
        std::uint64_t early = 0;           // early_bytes
    };
    static ArenaLayout make(int size, int channels, const Limits &limits);
    /// The most bytes to a peer, in two parts at most, that a channel with so many lines for it may be given.
    static std::uint64_t share_in_lines(std::uint64_t lines);
};

/// The index-th T of the part at `offset` in an arena's or OwnWords' memory.
template <class T>
BATON_HD T *part_at(std::byte *base, std::uint64_t offset, std::int64_t index) {
    return reinterpret_cast<T *>(base + offset) + index;
}

/// One rank's arena as this process sees it.
struct Arena {
    std::byte *base = nullptr;
    const ArenaLayout *layout = nullptr;

    BATON_HD ArenaHeader *header() const { return part_at<ArenaHeader>(base, layout->header, 0); }
    BATON_HD ChannelStart *start(int channel) const { return part_at<ChannelStart>(base, layout->starts, channel); }
    BATON_HD std::uint64_t *epoch(int channel) const { return &start(channel)->epoch; }
    BATON_HD std::uint64_t *abort(int channel) const { return &start(channel)->abort; }
    BATON_HD std::uint64_t *signal_word(int window, int from) const {
        return &part_at<SemaphoreWord>(base, layout->signals, window * layout->size + from)->value;
    }
    BATON_HD ArrivalLine *arrival(std::uint64_t epoch, int channel, int from) const {
        return part_at<ArrivalLine>(base, layout->arrivals, buffer_of(epoch, channel, from));
    }
    /// The first of the words, for algorithms that need only one; so is credit().
    BATON_HD std::uint64_t *done(int channel, int from) const {
        return part_at<SemaphoreWords>(base, layout->done, channel * layout->size + from)->values;
    }
    BATON_HD std::uint64_t *credit(int channel, int from) const {
        return part_at<SemaphoreWords>(base, layout->credit, channel * layout->size + from)->values;
    }
    BATON_HD std::uint64_t *pushed(int from) const {
        return &part_at<SemaphoreWord>(base, layout->pushed, from)->value;
    }
    BATON_HD MessageInbox *inbox(int from, int slot) const {
        return part_at<MessageInbox>(base, layout->inboxes, from * message_slots + slot);
    }
    BATON_HD MessageOutbox *outbox(int to, int slot) const {
        return part_at<MessageOutbox>(base, layout->outboxes, to * message_slots + slot);
    }
    BATON_HD Packet *eager_buffer(int from, int slot) const {
        return packets_at(layout->eager, from * message_slots + slot, layout->message_packets);
    }
    BATON_HD DataLine *eager_lines(int from, int buffer) const {
        return lines_at(layout->eager_lines, from * message_buffers + buffer, layout->message_lines);
    }
    BATON_HD std::byte *message_staging(int from, int buffer) const {
        return base + layout->message_staging + begin_of(from * message_buffers + buffer, layout->message_staged);
    }
    BATON_HD Packet *packets(std::uint64_t epoch, int channel, int from) const {
        return packets_at(layout->packets, buffer_of(epoch, channel, from), layout->packets_per_channel);
    }
    BATON_HD DataLine *lines(std::uint64_t epoch, int channel, int from) const {
        return lines_at(layout->lines, buffer_of(epoch, channel, from), layout->lines_per_channel);
    }
    BATON_HD std::byte *staging(int slot, int from) const {
        return base + layout->staging +
               (static_cast<std::uint64_t>(slot) * static_cast<std::uint64_t>(layout->size) +
                static_cast<std::uint64_t>(from)) *
                   layout->segment_bytes;
    }
    BATON_HD std::byte *early(std::uint64_t epoch, int channel) const {
        const int parity = static_cast<int>(epoch & 1);
        return base + layout->early + begin_of(parity * layout->channels + channel, layout->early_bytes);
    }

private:
    /// Index of a buffer of arrivals, packets or lines.
    BATON_HD int buffer_of(std::uint64_t epoch, int channel, int from) const {
        const int parity = static_cast<int>(epoch & 1);
        return (parity * layout->channels + channel) * layout->size + from;
    }
    BATON_HD Packet *packets_at(std::uint64_t offset, int buffer, std::uint64_t packets) const {
        return reinterpret_cast<Packet *>(base + offset) + begin_of(buffer, packets);
    }
    BATON_HD DataLine *lines_at(std::uint64_t offset, int buffer, std::uint64_t lines) const {
        return reinterpret_cast<DataLine *>(base + offset) + begin_of(buffer, lines);
    }
    /// Offset of a buffer behind others of its length. Both factors fit 32 bits, which GPUs multiply at once.
    BATON_HD static std::uint64_t begin_of(int buffer, std::uint64_t each) {
        return std::uint64_t{static_cast<std::uint32_t>(buffer)} * static_cast<std::uint32_t>(each);
    }
};

/// Words that only their rank looks at. They are the beginning of its arena, or device memory of their own where the
/// arenas of GPUs' ranks are in host memory.
struct OwnWords {
    std::byte *base = nullptr;
    const ArenaLayout *layout = nullptr;

    BATON_HD MessageCount *sent(int peer) const { return part_at<MessageCount>(base, layout->sent, peer); }
    BATON_HD MessageCount *received(int peer) const { return part_at<MessageCount>(base, layout->received, peer); }
    BATON_HD MessageSlot *message_slot(int peer, int slot) const {
        return part_at<MessageSlot>(base, layout->slots_of_pairs, peer * message_slots + slot);
    }
    BATON_HD std::uint64_t *signals_taken(int window, int peer) const {
        return part_at<std::uint64_t>(base, layout->signals_taken, window * layout->size + peer);
    }
    BATON_HD std::uint64_t *signals_given(int window, int peer) const {
        return part_at<std::uint64_t>(base, layout->signals_given, window * layout->size + peer);
    }
    BATON_HD Packet *cached_region(int owner, std::uint64_t slot) const {
        return part_at<Packet>(base, layout->region_cache,
                               static_cast<std::int64_t>(owner) * region_slots + static_cast<std::int64_t>(slot));
    }
};

}  // namespace baton::core
