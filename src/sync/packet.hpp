#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/platform.hpp"

namespace baton::core {

/// Eight bytes of data and the epoch that says which operation they belong to, in one 16-byte word: data that carries
/// its own flag, so a transfer is one flight without a fence.
///
/// Written by one thread of the sender, read by one thread of the receiver, in the receiver's memory.
/// GPU: one relaxed 128-bit access each way. PTX makes a .b128 access with .sys scope a single memory operation, so a
/// reader that sees the epoch sees the payload stored with it. Nothing orders one packet after another, and nothing has
/// to: each is checked by itself.
/// In host memory that GPUs share the same access is atomic: the CUDA memory model says so of aligned 16-byte loads
/// and stores of mapped memory (docs/memory_model.md).
/// Host (arrival lines; data goes as in host/move.hpp): payload relaxed, then epoch with release; the reader takes the
/// epoch with acquire, then the payload.
/// A packet may be written again when its reader has taken it; the algorithms show that by their epochs (arena.hpp).
/// 64-bit epochs do not wrap, so a stale packet can never look new.
struct alignas(16) Packet {
    std::uint64_t payload;
    std::uint64_t epoch;
};
inline constexpr std::size_t packet_payload = sizeof(Packet::payload);

/// Shares of what a collective sends in packets or lines begin at multiples of this, and so do other shares that are
/// too small for copy_granule (transport.hpp). So a share has whole packets and whole elements, and the words in which
/// kernels move it are aligned as in the whole. Buffers of packets and lines have room for a multiple of it.
inline constexpr std::uint64_t word_granule = 16;
static_assert(word_granule % packet_payload == 0);

constexpr BATON_HD std::size_t packets_for(std::size_t bytes) {
    return bytes / packet_payload + (bytes % packet_payload != 0 ? 1 : 0);
}

/// HostPackets (transport/host/move.hpp) use the memory of Packets; the epoch takes the place of so many at its end.
inline constexpr std::uint64_t host_packet_epochs = 1;

BATON_HD inline void store_packet(Packet *packet, std::uint64_t payload, std::uint64_t epoch) {
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t"
        ".reg .b128 word;\n\t"
        "mov.b128 word, {%1, %2};\n\t"
        "st.relaxed.sys.global.b128 [%0], word;\n\t"
        "}" ::"l"(packet),
        "l"(payload), "l"(epoch)
        : "memory");
#else
    store_relaxed(&packet->payload, payload);
    store_release(&packet->epoch, epoch);
#endif
}

/// Returns what lies there now. The payload is valid if the epoch is the one that the caller waits for.
BATON_HD inline Packet load_packet(const Packet *packet) {
    Packet value;
#if defined(__CUDA_ARCH__)
    asm volatile(
        "{\n\t"
        ".reg .b128 word;\n\t"
        "ld.relaxed.sys.global.b128 word, [%2];\n\t"
        "mov.b128 {%0, %1}, word;\n\t"
        "}"
        : "=l"(value.payload), "=l"(value.epoch)
        : "l"(packet)
        : "memory");
#else
    value.epoch = load_acquire(&packet->epoch);
    value.payload = load_relaxed(&packet->payload);
#endif
    return value;
}

}  // namespace baton::core
