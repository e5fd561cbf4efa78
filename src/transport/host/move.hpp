#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/element/packets.hpp"

/// The host twins of kernel/move.cuh and kernel/packet_move.cuh: the same names, arguments and bits, done by the
/// calling thread alone.
namespace baton::core {
inline namespace on_host {

/// Copies `bytes` from `source` to each of the destinations. They do not overlap the source, unless they equal it.
inline void copy_block(void *const *destinations, int destination_count, const void *source, std::size_t bytes) {
    // For several destinations by pieces that stay in the cache, so that the source is read from memory once.
    const std::size_t piece = destination_count > 1 ? std::size_t{64} * 1024 : bytes;
    for (std::size_t at = 0; at < bytes; at += piece) {
        const std::size_t size = std::min(piece, bytes - at);
        for (int j = 0; j < destination_count; ++j) {
            if (destinations[j] == source) continue;
            std::memcpy(static_cast<char *>(destinations[j]) + at, static_cast<const char *>(source) + at, size);
        }
    }
}

/// Element i of a buffer of any alignment; a load that compilers vectorise.
template <class T>
inline T element_at(const std::byte *buffer, std::size_t i) {
    T element;
    std::memcpy(&element, buffer + i * sizeof(T), sizeof(T));
    return element;
}

/// The loops of a reduction, over elements and not over ranks, because that is what vectorises. They are functions so
/// that __restrict can say what the types do not: one-byte elements may alias anything. The first two sources and the
/// last step each have one of their own, which saves two passes over every block.
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
/// begin where that is null. source_count >= 1.
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

/// The last part of a reduction, into element i of every destination; `ranks` is what AVG divides by. A destination may
/// be equal to a source, but not overlap one otherwise.
template <class T>
void complete_block(T *const *destinations, int destination_count, const Accumulator<T> *partial,
                    const T *const *sources, int source_count, std::size_t count, int op, int ranks) {
    alignas(64) Accumulator<T> held[reduced_at_once];
    for (std::size_t at = 0; at < count; at += reduced_at_once) {
        const std::size_t size = std::min(reduced_at_once, count - at);
        join_sources<T>(held, partial, sources, source_count, at, size, op);
        const auto to = [&](int j) { return reinterpret_cast<std::byte *>(destinations[j]) + at * sizeof(T); };
        if (op == BATON_AVG) {
            finish_block<T, BATON_AVG>(to(0), held, size, ranks);
        } else if (op == BATON_MIN || op == BATON_MAX) {
            finish_block<T, BATON_MIN>(to(0), held, size, ranks);
        } else {
            finish_block<T, BATON_SUM>(to(0), held, size, ranks);
        }
        for (int j = 1; j < destination_count; ++j) std::memcpy(to(j), to(0), size * sizeof(T));
    }
}

/// A reduction whole: element i of the sources, in the order of their indices.
template <class T>
void reduce_block(T *const *destinations, int destination_count, const T *const *sources, int source_count,
                  std::size_t count, int op, int ranks) {
    complete_block<T>(destinations, destination_count, nullptr, sources, source_count, count, op, ranks);
}

/// Packets whose payloads one epoch covers, that of the last of them: a receiver that looks at every line while the
/// sender fills it takes each from the other's cache more than once. Counted from the first packet of a call, so both
/// sides must put and take the same bytes. The epochs of the others stay what they were, and no payload ever lies where
/// an epoch does.
inline constexpr std::size_t packet_group = 32;

/// Calls visit(first, packets) for each group of the packets of `bytes`, until it returns false.
template <class F>
bool for_each_group(std::size_t bytes, const F &visit) {
    const std::size_t packets = packets_for(bytes);
    for (std::size_t first = 0; first < packets; first += packet_group) {
        if (!visit(first, std::min(packet_group, packets - first))) return false;
    }
    return true;
}

template <class Spin>
bool wait_for_group(const Packet *last, std::uint64_t epoch, Spin &spin) {
    while (load_acquire(&last->epoch) != epoch) {
        if (!spin()) return false;
    }
    return true;
}

/// Of the payload of packet `index`; only the last one's is not full.
inline std::size_t payload_bytes(std::size_t index, std::size_t bytes) {
    return std::min(packet_payload, bytes - index * packet_payload);
}

/// Packs `bytes` from any address into packets and stores them at every destination. The last payload is filled up with
/// zeros. A destination's packets must have been taken (or never sent) before.
inline void put_packets(Packet *const *destinations, int destination_count, const void *source, std::size_t bytes,
                        std::uint64_t epoch) {
    const auto *const from = static_cast<const char *>(source);
    for (int j = 0; j < destination_count; ++j) {
        Packet *const to = destinations[j];
        for_each_group(bytes, [&](std::size_t first, std::size_t packets) {
            for (std::size_t i = first; i < first + packets; ++i) {
                std::uint64_t payload = 0;
                std::memcpy(&payload, from + i * packet_payload, payload_bytes(i, bytes));
                store_relaxed(&to[i].payload, payload);
            }
            store_release(&to[first + packets - 1].epoch, epoch);
            return true;
        });
    }
}

/// Waits for the packets of `bytes` and writes their payload to any address. False if `spin` ended a wait.
template <class Spin>
bool take_packets(void *destination, const Packet *source, std::size_t bytes, std::uint64_t epoch, Spin &spin) {
    auto *const to = static_cast<char *>(destination);
    return for_each_group(bytes, [&](std::size_t first, std::size_t packets) {
        if (!wait_for_group(source + first + packets - 1, epoch, spin)) return false;
        for (std::size_t i = first; i < first + packets; ++i) {
            const std::uint64_t payload = load_relaxed(&source[i].payload);
            std::memcpy(to + i * packet_payload, &payload, payload_bytes(i, bytes));
        }
        return true;
    });
}

/// Reduces `count` elements of all ranks, in their order: packets_of(r) are the packets of rank r, or null for this
/// rank, whose elements are `own`. `destination` may equal `own`; both may have any alignment. False if `spin` ended a
/// wait.
template <class T, class PacketsOf, class Spin>
bool reduce_packets(T *destination, const PacketsOf &packets_of, const T *own, int ranks, std::size_t count, int op,
                    std::uint64_t epoch, Spin &spin) {
    const std::size_t bytes = count * sizeof(T);
    const auto *const from = reinterpret_cast<const std::byte *>(own);
    auto *const to = reinterpret_cast<std::byte *>(destination);
    const auto word_of = [&](int rank, std::size_t i) {
        const Packet *const packets = packets_of(rank);
        if (packets != nullptr) return load_relaxed(&packets[i].payload);
        std::uint64_t word = 0;
        std::memcpy(&word, from + i * packet_payload, payload_bytes(i, bytes));
        return word;
    };
    return for_each_group(bytes, [&](std::size_t first, std::size_t packets) {
        for (int rank = 0; rank < ranks; ++rank) {
            const Packet *const theirs = packets_of(rank);
            if (theirs != nullptr && !wait_for_group(theirs + first + packets - 1, epoch, spin)) return false;
        }
        with_op(op, [&](auto constant) {
            for (std::size_t i = first; i < first + packets; ++i) {
                Lanes<T, std::uint64_t> lanes{};
                lanes.start(word_of(0, i));
                for (int rank = 1; rank < ranks; ++rank) lanes.join(constant, word_of(rank, i));
                const std::uint64_t result = lanes.result(op, ranks);
                std::memcpy(to + i * packet_payload, &result, payload_bytes(i, bytes));
            }
        });
        return true;
    });
}

}  // namespace on_host
}  // namespace baton::core
