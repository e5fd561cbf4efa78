#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/packet.hpp"
#include "transport/element/lanes.hpp"
#include "transport/kernel/word.cuh"

/// Data that carries its own flags (sync/packet.hpp), sent and taken by one block. All threads of a one-dimensional
/// block call with the same arguments. A call that waits answers for the calling thread only; agree() (block.cuh) makes
/// that the block's answer. A thread that gave up leaves its part of the destination unwritten. Only the first `takers`
/// threads take packets, so that a warp may do something else meanwhile.
namespace baton::core {
inline namespace on_device {

/// The payload bytes of packet `index` out of `bytes`: 8, or what is left for the last one.
__device__ inline std::size_t payload_bytes(std::size_t index, std::size_t bytes) {
    const std::size_t left = bytes - index * packet_payload;
    return left < packet_payload ? left : packet_payload;
}

/// Packs `bytes` from any address into packets. The last payload is filled up with zeros. REQUIRES: the destination's
/// packets have been taken before, or never been sent.
__device__ inline void put_packets(Packet *destination, const void *source, std::size_t bytes, std::uint64_t epoch) {
    constexpr int unroll = 4;
    const auto *from = static_cast<const char *>(source);
    const std::size_t packets = packets_for(bytes);
    const std::size_t stride = blockDim.x;
    for (std::size_t base = threadIdx.x; base < packets; base += unroll * stride) {
        std::uint64_t held[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const std::size_t i = base + k * stride;
            if (i < packets) held[k] = load_bytes(from + i * packet_payload, payload_bytes(i, bytes));
        }
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            if (base + k * stride < packets) store_packet(destination + base + k * stride, held[k], epoch);
        }
    }
}

/// Waits until the packets at where[0..count-1] carry `epoch`, and takes their payloads. A null entry is skipped and
/// its payload left alone. Each round of polls issues the loads of all packets that are still missing before it looks
/// at any of them, so that packets which are there cost one flight together. `spin` is asked after every round that
/// missed something; if it returns false the wait ends, and the payloads must not be used.
template <int count, class Spin>
__device__ inline bool poll_packets(const Packet *const (&where)[count], std::uint64_t (&payload)[count],
                                    std::uint64_t epoch, Spin &spin) {
    bool missing[count];
#pragma unroll
    for (int k = 0; k < count; ++k) missing[k] = where[k] != nullptr;
    for (;;) {
        Packet seen[count] = {};
#pragma unroll
        for (int k = 0; k < count; ++k) {
            if (missing[k]) seen[k] = load_packet(where[k]);
        }
        bool any = false;
#pragma unroll
        for (int k = 0; k < count; ++k) {
            if (!missing[k]) continue;
            missing[k] = seen[k].epoch != epoch;
            if (!missing[k]) payload[k] = seen[k].payload;
            any |= missing[k];
        }
        if (!any) return true;
        if (!spin()) return false;
    }
}

/// How many packets a thread polls at once if there are many: enough to hide a flight, few enough for registers.
inline constexpr int packet_batch = 8;

/// Word `index` of a reduction: polls the packets of all ranks, `batch` of them at once, and combines them in the order
/// of ranks. packets_of(rank) is a rank's first packet, or null for this rank, whose word is `own`. False if `spin`
/// ended a wait.
template <class T, int batch, class PacketsOf, class Spin>
__device__ inline bool reduce_packet_word(const PacketsOf &packets_of, int ranks, std::size_t index, std::uint64_t own,
                                          int op, std::uint64_t epoch, Spin &spin, std::uint64_t &result) {
    Lanes<T, std::uint64_t> lanes{};
    for (int first = 0; first < ranks; first += batch) {
        const Packet *where[batch];
        std::uint64_t words[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) {
            const Packet *source = first + k < ranks ? packets_of(first + k) : nullptr;
            where[k] = source != nullptr ? source + index : nullptr;
            words[k] = own;
        }
        if (!poll_packets(where, words, epoch, spin)) return false;
        with_op(op, [&](auto constant) {
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                if (first + k == 0) {
                    lanes.start(words[k]);
                } else if (first + k < ranks) {
                    lanes.join(constant, words[k]);
                }
            }
        });
    }
    result = lanes.result(op, ranks);
    return true;
}

/// Takes packets base, base + takers, ... of `all`; each part has `packets` of them, and a thread takes `at_once`.
template <int at_once, class PacketsOf, class AddressOf, class Spin>
__device__ inline bool take_round(unsigned base, unsigned takers, unsigned all, unsigned packets,
                                  const PacketsOf &packets_of, const AddressOf &address_of_part, std::size_t bytes,
                                  std::uint64_t epoch, Spin &spin) {
    const Packet *where[at_once];
    std::uint64_t held[at_once];
    unsigned part[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
        const unsigned i = base + k * takers;
        part[k] = i / packets;
        where[k] = i < all ? packets_of(static_cast<int>(part[k])) + (i - part[k] * packets) : nullptr;
    }
    if (!poll_packets(where, held, epoch, spin)) return false;
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
        const unsigned i = base + k * takers;
        if (i >= all) continue;
        const unsigned index = i - part[k] * packets;
        char *to = address_of_part(static_cast<int>(part[k])) + index * packet_payload;
        store_bytes(to, held[k], payload_bytes(index, bytes));
    }
    return true;
}

/// Waits for the packets of `bytes` from each of `peers` senders and writes their payloads to any address. Part k comes
/// in packets_of(k) and goes to address_of_part(k). False if `spin` ended a wait. All parts together are spread over
/// the threads: one after the other, each part would cost its own flight to memory. Threads with at most one packet run
/// short code, because instructions are a good part of a small operation's time.
template <class PacketsOf, class AddressOf, class Spin>
__device__ inline bool take_packets_from_each(int peers, const PacketsOf &packets_of, const AddressOf &address_of_part,
                                              std::size_t bytes, std::uint64_t epoch, unsigned takers, Spin &spin) {
    constexpr int unroll = 4;
    const auto packets = static_cast<unsigned>(packets_for(bytes));
    const unsigned all = packets * static_cast<unsigned>(peers);
    if (threadIdx.x >= takers) return true;
    if (all <= takers)
        return take_round<1>(threadIdx.x, takers, all, packets, packets_of, address_of_part, bytes, epoch, spin);
    for (unsigned base = threadIdx.x; base < all; base += unroll * takers) {
        if (!take_round<unroll>(base, takers, all, packets, packets_of, address_of_part, bytes, epoch, spin))
            return false;
    }
    return true;
}

/// The same for one sender.
template <class Spin>
__device__ inline bool take_packets(void *destination, const Packet *source, std::size_t bytes, std::uint64_t epoch,
                                    unsigned takers, Spin &spin) {
    if (bytes == 0) return true;
    return take_packets_from_each(
        1, [=](int) { return source; }, [=](int) { return static_cast<char *>(destination); }, bytes, epoch, takers,
        spin);
}

/// Reduces `count` elements of all ranks, in the order of ranks. packets_of(r) are the packets of rank r, or null for
/// this rank, whose elements are `own`. `destination` may equal `own`; both may have any alignment. A thread polls the
/// packets of a word together, packet_batch at most, so that they cost one flight, and combines in registers.
template <class T, class PacketsOf, class Spin>
__device__ inline bool reduce_packets(T *destination, const PacketsOf &packets_of, const T *own, int ranks,
                                      std::size_t count, int op, std::uint64_t epoch, unsigned takers, Spin &spin) {
    constexpr int few = 4;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t packets = packets_for(bytes);
    if (threadIdx.x >= takers) return true;
    for (std::size_t i = threadIdx.x; i < packets; i += takers) {
        const std::size_t offset = i * packet_payload;
        const std::size_t size = payload_bytes(i, bytes);
        const std::uint64_t own_word = load_bytes(reinterpret_cast<const char *>(own) + offset, size);
        std::uint64_t result;
        const bool there =
            ranks <= few ? reduce_packet_word<T, few>(packets_of, ranks, i, own_word, op, epoch, spin, result)
                         : reduce_packet_word<T, packet_batch>(packets_of, ranks, i, own_word, op, epoch, spin, result);
        if (!there) return false;
        store_bytes(reinterpret_cast<char *>(destination) + offset, result, size);
    }
    return true;
}

}  // namespace on_device
}  // namespace baton::core
