#include "sync/arena.hpp"

#include <algorithm>

#include "util/divide.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t alignment = 256;

class Allocator {
public:
    std::uint64_t take(std::uint64_t bytes) {
        const std::uint64_t offset = next_;
        next_ = round_up(next_ + bytes, alignment);
        return offset;
    }
    std::uint64_t total() const { return next_; }

private:
    std::uint64_t next_ = 0;
};

/// Room that a share of two parts may need beyond its bytes. The channel's share and the pieces in it both start at
/// multiples of word_granule, so each part may be rounded up twice; and each part has a last line of its own.
constexpr std::uint64_t roundings = 4 * word_granule;
constexpr std::uint64_t last_lines = 1;

}  // namespace

std::uint64_t ArenaLayout::share_in_lines(std::uint64_t lines) {
    const std::uint64_t kept = last_lines * DataLine::payload + roundings;
    return lines * DataLine::payload < kept ? 0 : lines * DataLine::payload - kept;
}

ArenaLayout ArenaLayout::make(int size, int channels, const Limits &limits) {
    const auto n = static_cast<std::uint64_t>(size);
    const auto c = static_cast<std::uint64_t>(channels);
    ArenaLayout layout;
    layout.size = size;
    layout.channels = channels;
    // A channel's share of limits.packets bytes, rounded up to whole packets, plus one because shares are rounded up to
    // word_granule, which is two packets.
    layout.packets_per_channel = std::max<std::uint64_t>(1, ceil_divide(limits.packets / packet_payload, c) + 1);
    layout.lines_per_channel = limits.lines == 0 ? 0 : lines_for(ceil_divide(limits.lines, c) + roundings) + last_lines;
    layout.message_packets = limits.messages / packet_payload;
    layout.message_capacity = layout.message_packets * packet_payload;
    if (limits.host_packets) {
        // HostPackets hold data in all of their memory but the epoch's. Rounded up so that slots begin at cache lines.
        layout.message_packets = round_up(ceil_divide(layout.message_capacity, sizeof(Packet)) + host_packet_epochs, 8);
    }
    layout.message_lines = lines_for(limits.message_lines);
    layout.message_staged = round_up(limits.message_staged, alignment);
    layout.segment_bytes = round_up(limits.segment, alignment);
    layout.early_bytes = round_up(limits.early, alignment);

    Allocator allocator;
    layout.sent = allocator.take(n * sizeof(MessageCount));
    layout.received = allocator.take(n * sizeof(MessageCount));
    layout.slots_of_pairs = allocator.take(n * message_slots * sizeof(MessageSlot));
    layout.signals_taken = allocator.take(max_windows * n * 8);
    layout.signals_given = allocator.take(max_windows * n * 8);
    layout.region_cache = allocator.take(n * region_slots * sizeof(Packet));
    layout.own_bytes = allocator.total();
    layout.header = allocator.take(sizeof(ArenaHeader));
    layout.starts = allocator.take(c * sizeof(ChannelStart));
    layout.signals = allocator.take(max_windows * n * sizeof(SemaphoreWord));
    layout.arrivals = allocator.take(2 * c * n * sizeof(ArrivalLine));
    layout.done = allocator.take(c * n * sizeof(SemaphoreWords));
    layout.credit = allocator.take(c * n * sizeof(SemaphoreWords));
    layout.pushed = allocator.take(n * sizeof(SemaphoreWord));
    layout.inboxes = allocator.take(n * message_slots * sizeof(MessageInbox));
    layout.outboxes = allocator.take(n * message_slots * sizeof(MessageOutbox));
    layout.eager = allocator.take(n * message_slots * layout.message_packets * sizeof(Packet));
    layout.eager_lines = allocator.take(n * message_buffers * layout.message_lines * sizeof(DataLine));
    layout.message_staging = allocator.take(n * message_buffers * layout.message_staged);
    layout.packets = allocator.take(2 * c * n * layout.packets_per_channel * sizeof(Packet));
    layout.lines = allocator.take(2 * c * n * layout.lines_per_channel * sizeof(DataLine));
    layout.staging = allocator.take(2 * n * layout.segment_bytes);
    layout.early = allocator.take(2 * c * layout.early_bytes);
    layout.total_bytes = allocator.total();
    return layout;
}

}  // namespace baton::core
