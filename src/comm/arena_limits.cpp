#include "comm/arena_limits.hpp"

#include <algorithm>

#include "comm/config.hpp"
#include "comm/links_of.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t KiB = 1 << 10;
constexpr std::uint64_t MiB = 1 << 20;

/// Bytes for the messages of one peer: of its packets together, and of each of its line and staging buffers.
std::uint64_t for_messages_of_a_peer(int size) { return 8 * MiB / static_cast<std::uint64_t>(size); }

/// Packets are for latency: more would only cost memory.
std::uint64_t packet_limit(const baton_config &config, const Capabilities &capabilities) {
    const std::uint64_t most = capabilities.on_gpu ? MiB : 8 * KiB;
    if (config.packet_limit != unset_size) return std::min<std::uint64_t>(config.packet_limit, most);
    return buffer_capacity(capabilities.tuning, goes_in_packets, capabilities.size, capabilities.channels, most);
}

std::uint64_t line_limit(const Capabilities &capabilities) {
    const std::uint64_t for_all_peers = capabilities.on_gpu ? 16 * MiB : MiB;
    return buffer_capacity(capabilities.tuning, goes_in_lines, capabilities.size, capabilities.channels,
                           for_all_peers / static_cast<std::uint64_t>(capabilities.size));
}

/// The host's built-in tables send no messages in lines; a user's table may.
std::uint64_t message_line_limit(const Capabilities &capabilities) {
    const std::uint64_t most = capabilities.on_gpu ? MiB : 64 * KiB;
    return longest_message(capabilities.tuning, goes_in_lines,
                           std::min(for_messages_of_a_peer(capabilities.size), most));
}

/// On the host: two pieces of 32 KiB (docs/experiments.md has other sizes).
std::uint64_t staged_message_limit(const Capabilities &capabilities) {
    return std::min(for_messages_of_a_peer(capabilities.size), capabilities.on_gpu ? 2 * MiB : 64 * KiB);
}

/// The longest message that a slot holds in packets. On a GPU that has lines or staging for messages, what the tuning
/// gives to packets; else as much as memory may cost.
std::uint64_t slot_limit(const Capabilities &capabilities, bool others_have_buffers) {
    const std::uint64_t most =
        std::min(for_messages_of_a_peer(capabilities.size) / message_slots, capabilities.on_gpu ? 256 * KiB : 64 * KiB);
    const bool as_measured = capabilities.on_gpu && others_have_buffers;
    return std::max<std::uint64_t>(BATON_EAGER_BYTES,
                                   as_measured ? longest_message(capabilities.tuning, goes_in_packets, most) : most);
}

}  // namespace

ArenaLayout::Limits arena_limits(const baton_config &config, const Capabilities &capabilities, bool reach_each_other,
                                 const std::vector<int> &generations) {
    const bool lines =
        config.lines == BATON_LINES_AUTO && reach_each_other && lines_arrive_whole(capabilities.links, generations);
    const bool stages = !capabilities.on_gpu || !reach_each_other;
    ArenaLayout::Limits limits;
    limits.packets = packet_limit(config, capabilities);
    limits.host_packets = !capabilities.on_gpu;
    limits.lines = lines ? line_limit(capabilities) : 0;
    limits.message_lines = lines ? message_line_limit(capabilities) : 0;
    limits.message_staged = stages ? staged_message_limit(capabilities) : 0;
    limits.messages = slot_limit(capabilities, limits.message_lines != 0 || stages);
    limits.segment = std::min<std::uint64_t>(config.segment_bytes, capabilities.on_gpu ? 1024 * MiB : 128 * KiB);
    // The early parts of 16 channels make one segment. The host has none: ranks meet before they know that they stage.
    if (stages && capabilities.on_gpu)
        limits.early = limits.segment / static_cast<std::uint64_t>(std::min(capabilities.channels, 16));
    return limits;
}

void take_arena_sizes(const ArenaLayout::Limits &limits, const ArenaLayout &layout, Capabilities &capabilities) {
    capabilities.message_bytes = layout.message_capacity;
    capabilities.message_line_bytes = limits.message_lines;
    capabilities.message_staged_bytes = layout.message_staged;
    capabilities.packet_channel_bytes = layout.packets_per_channel * packet_payload / word_granule * word_granule;
    capabilities.packet_bytes = limits.packets / word_granule * word_granule;
    capabilities.line_bytes = limits.lines / word_granule * word_granule;
    capabilities.line_channel_bytes = ArenaLayout::share_in_lines(layout.lines_per_channel);
    capabilities.segment_bytes = layout.segment_bytes;
}

}  // namespace baton::core
