#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sync/packet.hpp"
#include "transport/element/reduce.hpp"
#include "util/limits.hpp"

/// The host twins of kernel/reduce_block.cuh, kernel/partial_move.cuh and kernel/packet_move.cuh: the same names and
/// results, done by the calling thread alone. Only packets are laid out differently.
namespace baton::core {
inline namespace on_host {

/// Element i of a buffer of any alignment, by a load that compilers vectorise.
template <class T>
inline T element_at(const std::byte *buffer, std::size_t i) {
    T element;
    std::memcpy(&element, buffer + i * sizeof(T), sizeof(T));
    return element;
}

/// The loops of a reduction. They go over elements, not over ranks, because that vectorises. They are functions so that
/// __restrict can say what the types do not: one-byte elements may alias anything. The first two sources share a loop,
/// and the last step has one of its own, which saves two passes over every block.
template <class T>
inline void start_block(Accumulator<T> *__restrict held, const std::byte *__restrict source, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) held[i] = Element<T>::load(element_at<T>(source, i));
}

template <class T, int op>
inline void start_block_of_two(Accumulator<T> *__restrict held, const std::byte *__restrict first,
                               const std::byte *__restrict second, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        held[i] = combine<T>(op, Element<T>::load(element_at<T>(first, i)), Element<T>::load(element_at<T>(second, i)));
    }
}

template <class T, int op>
inline void join_block(Accumulator<T> *__restrict held, const std::byte *__restrict source, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        held[i] = combine<T>(op, held[i], Element<T>::load(element_at<T>(source, i)));
}

/// `destination` may have any alignment.
template <class T, int op>
inline void finish_block(std::byte *__restrict destination, const Accumulator<T> *__restrict held, std::size_t size,
                         int ranks) {
    for (std::size_t i = 0; i < size; ++i) {
        const T element = Element<T>::store(finish<T>(op, held[i], ranks));
        std::memcpy(destination + i * sizeof(T), &element, sizeof(T));
    }
}

/// Elements [at, at + size) of a part of a reduction: the sources join `partial` in the order of their indices, or
/// begin the reduction if it is null. REQUIRES: source_count >= 1.
template <class T>
void join_sources(Accumulator<T> *held, const Accumulator<T> *partial, const T *const *sources, int source_count,
                  std::size_t at, std::size_t size, int op) {
    const auto from = [&](int s) { return reinterpret_cast<const std::byte *>(sources[s]) + at * sizeof(T); };
    with_op(op, [&](auto constant) {
        int joined = 0;
        if (partial != nullptr) {
            std::memcpy(held, partial + at, size * sizeof(*held));
        } else if (source_count == 1) {
            start_block<T>(held, from(0), size);
            joined = 1;
        } else {
            start_block_of_two<T, constant>(held, from(0), from(1), size);
            joined = 2;
        }
        for (int s = joined; s < source_count; ++s) join_block<T, constant>(held, from(s), size);
    });
}

inline constexpr std::size_t reduced_at_once = 512;  // stays in L1

/// A part of a reduction that ends in accumulators. `destination` may equal `partial`.
template <class T>
void accumulate_block(Accumulator<T> *destination, const Accumulator<T> *partial, const T *const *sources,
                      int source_count, std::size_t count, int op) {
    alignas(64) Accumulator<T> held[reduced_at_once];
    for (std::size_t at = 0; at < count; at += reduced_at_once) {
        const std::size_t size = std::min(reduced_at_once, count - at);
        join_sources<T>(held, partial, sources, source_count, at, size, op);
        std::memcpy(destination + at, held, size * sizeof(*held));
    }
}

/// The last part of a reduction; AVG divides by `ranks`. `destination` may equal a source, but must not overlap one
/// otherwise.
template <class T>
void complete_block(T *destination, const Accumulator<T> *partial, const T *const *sources, int source_count,
                    std::size_t count, int op, int ranks) {
    alignas(64) Accumulator<T> held[reduced_at_once];
    for (std::size_t at = 0; at < count; at += reduced_at_once) {
        const std::size_t size = std::min(reduced_at_once, count - at);
        join_sources<T>(held, partial, sources, source_count, at, size, op);
        std::byte *const to = reinterpret_cast<std::byte *>(destination) + at * sizeof(T);
        // finish() knows three kinds: AVG divides, MIN and MAX leave an element as it is, SUM and PROD are alike.
        if (op == BATON_AVG) {
            finish_block<T, BATON_AVG>(to, held, size, ranks);
        } else if (op == BATON_MIN || op == BATON_MAX) {
            finish_block<T, BATON_MIN>(to, held, size, ranks);
        } else {
            finish_block<T, BATON_SUM>(to, held, size, ranks);
        }
    }
}

/// A whole reduction: element i of the sources, one of each rank, in the order of their indices.
template <class T>
void reduce_block(T *destination, const T *const *sources, int source_count, std::size_t count, int op) {
    complete_block<T>(destination, nullptr, sources, source_count, count, op, source_count);
}

/// Packets as the host lays them out in the memory of `Packet`s: the payloads lie side by side, so that memcpy moves
/// them, and the epoch lies in the place of the last host_packet_epochs Packets. No payload is ever stored in the
/// epoch's place, so none can be taken for it.
///
/// One epoch covers all payloads of a call. The sender stores it with release after them; the receiver loads it with
/// acquire before them. So both sides must put and take the same bytes. More epochs would let the receiver begin
/// earlier, but each is a cache line that the two processors hand over: with one epoch per KiB, 8 KiB took up to twice
/// as long (docs/experiments.md).
struct HostPackets {
    std::byte *payloads = nullptr;
    std::uint64_t *epoch = nullptr;
    std::uint64_t count = 0;  // payloads that there is room for

    /// In the memory of `capacity` Packets.
    static HostPackets in(Packet *memory, std::uint64_t capacity) {
        const std::uint64_t payload_packets = capacity - host_packet_epochs;
        return {reinterpret_cast<std::byte *>(memory), &memory[payload_packets].epoch,
                payload_packets * (sizeof(Packet) / packet_payload)};
    }
};

template <class Spin>
bool wait_for_epoch(const std::uint64_t *word, std::uint64_t epoch, Spin &spin) {
    while (load_acquire(word) != epoch) {
        if (!spin()) return false;
    }
    return true;
}

/// Puts `bytes` from any address. REQUIRES: the packets have room for them, since more would be stored over the epoch;
/// and they have been taken before, or never been put.
inline void put_packets(const HostPackets &packets, const void *source, std::size_t bytes, std::uint64_t epoch) {
    assert(packets_for(bytes) <= packets.count);
    if (bytes == 0) return;
    std::memcpy(packets.payloads, source, bytes);
    store_release(packets.epoch, epoch);
}

/// Waits for the packets of `bytes` and writes their payloads to any address. False if `spin` ended the wait.
template <class Spin>
bool take_packets(void *destination, const HostPackets &packets, std::size_t bytes, std::uint64_t epoch, Spin &spin) {
    if (bytes == 0) return true;
    if (!wait_for_epoch(packets.epoch, epoch, spin)) return false;
    std::memcpy(destination, packets.payloads, bytes);
    return true;
}

/// Reduces `count` elements of all ranks, in the order of ranks. packets_of(r) are the packets of rank r, or
/// HostPackets{} for this rank, whose elements are `own`. `destination` may equal `own`; both may have any alignment.
/// False if `spin` ended a wait.
template <class T, class PacketsOf, class Spin>
bool reduce_packets(T *destination, const PacketsOf &packets_of, const T *own, int ranks, std::size_t count, int op,
                    std::uint64_t epoch, Spin &spin) {
    if (count == 0) return true;
    const T *sources[max_ranks];
    for (int rank = 0; rank < ranks; ++rank) {
        const HostPackets theirs = packets_of(rank);
        const bool mine = theirs.payloads == nullptr;
        if (!mine && !wait_for_epoch(theirs.epoch, epoch, spin)) return false;
        sources[rank] = mine ? own : reinterpret_cast<const T *>(theirs.payloads);
    }
    reduce_block<T>(destination, sources, ranks, count, op);
    return true;
}

}  // namespace on_host
}  // namespace baton::core
