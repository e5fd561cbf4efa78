#pragma once

#include <cstdint>

#include "memory/region.hpp"
#include "sync/packet.hpp"

namespace baton::core {

/// Where a buffer lies, in terms that every peer can look up: a region slot of its owner and a byte offset. On the
/// host, memory without a region is named by its address (raw_slot): the peer reaches it by the system's single copy
/// (process_vm_readv and process_vm_writev), or not at all.
struct BufferRef {
    static constexpr std::uint64_t raw_slot = 0xFFFF;
    std::uint64_t word = raw_slot;  // slot in bits 0..15, offset or address in bits 16..63 (48 bits)
    std::uint32_t generation = 0;   // low 32 bits of the region's

    static BufferRef in_region(const PublishedRegion &region, std::uint64_t offset) {
        return {offset << 16 | region.slot, static_cast<std::uint32_t>(region.generation)};
    }
    static BufferRef at_address(const void *address) {
        return {reinterpret_cast<std::uint64_t>(address) << 16 | raw_slot, 0};
    }
    BATON_HD std::uint64_t slot() const { return word & 0xFFFF; }
    BATON_HD bool names_a_buffer() const { return word != raw_slot; }
    BATON_HD bool is_in_region() const { return slot() != raw_slot; }
    BATON_HD std::uint64_t offset() const { return word >> 16; }
    std::byte *address() const { return reinterpret_cast<std::byte *>(word >> 16); }
};

/// What a rank says it is doing. Two ranks that meet must say the same; both halves of a message sign as a send.
struct Signature {
    // In a message: it is a recv; for error texts, not compared. In a zero-SM call, between the hosts: it is captured
    // (peer_addresses.cpp).
    static constexpr std::uint64_t receiving = std::uint64_t{1} << 32;
    std::uint64_t what = 0;   // operation | type << 8 | op << 16 | root << 24, and `receiving`
    std::uint64_t count = 0;  // elements

    BATON_HD static Signature make(int operation, int type, int op, std::uint64_t count, int root = 0) {
        return {static_cast<std::uint64_t>(operation) | static_cast<std::uint64_t>(type) << 8 |
                    static_cast<std::uint64_t>(op) << 16 | static_cast<std::uint64_t>(root) << 24,
                count};
    }
    BATON_HD bool operator==(const Signature &other) const {
        return static_cast<std::uint32_t>(what) == static_cast<std::uint32_t>(other.what) && count == other.count;
    }
    int operation() const { return static_cast<int>(what & 0xFF); }
    bool receives() const { return (what & receiving) != 0; }
    int type() const { return static_cast<int>(what >> 8 & 0xFF); }
    int op() const { return static_cast<int>(what >> 16 & 0xFF); }
    int root() const { return static_cast<int>(what >> 24 & 0xFF); }
};

/// The message that a rank stores into a peer's line when its stream reaches an operation: what it does, and where its
/// buffers are. Five packets, so neither a fence nor a particular order of the stores is needed.
struct Arrival {
    static constexpr int words = 5;
    Signature signature;
    BufferRef send;
    BufferRef recv;
    std::uint32_t push_number = 0;  // of this rank's pushes (pushed_word.hpp), below 2^31; 0: it pushes nothing

    BATON_HD std::uint64_t word(int index) const {
        switch (index) {
            case 0:
                return signature.what | static_cast<std::uint64_t>(push_number) << push_number_shift;
            case 1:
                return signature.count;
            case 2:
                return send.word;
            case 3:
                return recv.word;
            default:
                return static_cast<std::uint64_t>(send.generation) | static_cast<std::uint64_t>(recv.generation) << 32;
        }
    }
    BATON_HD static Arrival from_words(const std::uint64_t *values) {
        Arrival arrival;
        arrival.signature.what = values[0] & ((std::uint64_t{1} << push_number_shift) - 1);
        arrival.push_number = static_cast<std::uint32_t>(values[0] >> push_number_shift);
        arrival.signature.count = values[1];
        arrival.send.word = values[2];
        arrival.recv.word = values[3];
        arrival.send.generation = static_cast<std::uint32_t>(values[4]);
        arrival.recv.generation = static_cast<std::uint32_t>(values[4] >> 32);
        return arrival;
    }

private:
    static constexpr int push_number_shift = 33;  // behind all bits of Signature::what
    static_assert(Signature::receiving == std::uint64_t{1} << (push_number_shift - 1), "the highest of them");
};

/// Written by `from`, read by `to`, in `to`'s memory; one 128-byte line per (parity, channel, from). A line of parity
/// e % 2 is written again for epoch e + 2, which `from` starts only after `to` has finished e (arena.hpp).
struct alignas(128) ArrivalLine {
    Packet words[8];
};

BATON_HD inline void store_arrival_word(ArrivalLine *line, const Arrival &arrival, int index, std::uint64_t epoch) {
    store_packet(&line->words[index], arrival.word(index), epoch);
}

/// Returns true, and the arrival, once all words of `epoch` are there.
BATON_HD inline bool load_arrival(const ArrivalLine *line, std::uint64_t epoch, Arrival *arrival) {
    std::uint64_t values[Arrival::words];
    bool complete = true;
    for (int index = 0; index < Arrival::words; ++index) {
        const Packet packet = load_packet(&line->words[index]);
        complete = complete && packet.epoch == epoch;
        values[index] = packet.payload;
    }
    if (complete) *arrival = Arrival::from_words(values);
    return complete;
}

}  // namespace baton::core
