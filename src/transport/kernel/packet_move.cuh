#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/element/packets.hpp"
#include "transport/kernel/word.cuh"

/// Data that carries its own flags (sync/packet.hpp), sent and taken by one block. All threads of a one-dimensional
/// block call with the same arguments. A call that waits answers for the calling thread only: the block's answer is
/// __syncthreads_and() of it, and a thread that gave up leaves its part of the destination unwritten.
namespace baton::core {
inline namespace on_device {

/// The payload bytes of packet `index` out of `bytes`: 8, or what is left for the last one.
__device__ inline std::size_t payload_bytes(std::size_t index, std::size_t bytes) {
    const std::size_t left = bytes - index * packet_payload;
    return left < packet_payload ? left : packet_payload;
}

/// Packs `bytes` from any address into packets and stores them at every destination. The last payload is filled up with
/// zeros. A destination's packets must have been taken (or never sent) before.
__device__ inline void put_packets(Packet *const *destinations, int destination_count, const void *source,
                                   std::size_t bytes, std::uint64_t epoch) {
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
        for (int j = 0; j < destination_count; ++j) {
            Packet *const to = destinations[j];
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                if (base + k * stride < packets) store_packet(to + base + k * stride, held[k], epoch);
            }
        }
    }
}

/// Waits for the packets of `bytes` and writes their payload to any address. False if `spin` ended a wait.
template <class Spin>
__device__ inline bool take_packets(void *destination, const Packet *source, std::size_t bytes, std::uint64_t epoch,
                                    Spin &spin) {
    constexpr int unroll = 4;
    auto *to = static_cast<char *>(destination);
    const std::size_t packets = packets_for(bytes);
    const std::size_t stride = blockDim.x;
    for (std::size_t base = threadIdx.x; base < packets; base += unroll * stride) {
        const Packet *where[unroll];
        std::uint64_t held[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            where[k] = base + k * stride < packets ? source + base + k * stride : nullptr;
        }
        if (!poll_packets(where, held, epoch, spin)) return false;
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const std::size_t i = base + k * stride;
            if (i < packets) store_bytes(to + i * packet_payload, held[k], payload_bytes(i, bytes));
        }
    }
    return true;
}

/// put_packets() with a part of the source for each of `peers` destinations, take_packets() from each of them: part k
/// belongs to packets_of(k) and lies at address_of_part(k). All parts together are spread over the threads: one after
/// the other, each would cost a flight to memory of its own.
template <class PacketsOf, class AddressOf>
__device__ inline void put_packets_to_each(int peers, const PacketsOf &packets_of, const AddressOf &address_of_part,
                                           std::size_t bytes, std::uint64_t epoch) {
    const auto packets = static_cast<unsigned>(packets_for(bytes));
    const unsigned all = packets * static_cast<unsigned>(peers);
    for (unsigned i = threadIdx.x; i < all; i += blockDim.x) {
        const unsigned part = i / packets;
        const unsigned index = i % packets;
        const char *from = address_of_part(static_cast<int>(part)) + index * packet_payload;
        store_packet(packets_of(static_cast<int>(part)) + index, load_bytes(from, payload_bytes(index, bytes)), epoch);
    }
}

template <class PacketsOf, class AddressOf, class Spin>
__device__ inline bool take_packets_from_each(int peers, const PacketsOf &packets_of, const AddressOf &address_of_part,
                                              std::size_t bytes, std::uint64_t epoch, Spin &spin) {
    constexpr int unroll = 4;
    const auto packets = static_cast<unsigned>(packets_for(bytes));
    const unsigned all = packets * static_cast<unsigned>(peers);
    const unsigned stride = blockDim.x;
    for (unsigned base = threadIdx.x; base < all; base += unroll * stride) {
        const Packet *where[unroll];
        std::uint64_t held[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const unsigned i = base + k * stride;
            where[k] = i < all ? packets_of(static_cast<int>(i / packets)) + i % packets : nullptr;
        }
        if (!poll_packets(where, held, epoch, spin)) return false;
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            const unsigned i = base + k * stride;
            if (i >= all) continue;
            const unsigned index = i % packets;
            char *to = address_of_part(static_cast<int>(i / packets)) + index * packet_payload;
            store_bytes(to, held[k], payload_bytes(index, bytes));
        }
    }
    return true;
}

/// Words that reduce_packets() collects at a time, from all peers together.
inline constexpr unsigned reduce_packets_room = 2048;

/// Reduces `count` elements of all ranks, in their order: sources[r] are the packets of rank r, or null for this rank,
/// whose elements are `own`. `destination` may equal `own`; both may have any alignment. False, for the whole block, if
/// `spin` ended a wait, or if a thread came with going = false: it has heard of a failure before the others.
///
/// Every thread polls packets of its own, as many together as there are: a thread that polled all ranks' packets of one
/// word would wait for a round trip to memory for each. They meet in `room`, reduce_packets_room words of shared
/// memory.
template <class T, class Spin>
__device__ inline bool reduce_packets(T *destination, const Packet *const *sources, const T *own, int ranks,
                                      std::size_t count, int op, std::uint64_t epoch, std::uint64_t *room, bool going,
                                      Spin &spin) {
    constexpr int unroll = 4;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t packets = packets_for(bytes);
    const unsigned at_a_time = reduce_packets_room / static_cast<unsigned>(ranks);
    bool complete = going;
    for (std::size_t first = 0; first < packets; first += at_a_time) {
        const auto words = static_cast<unsigned>(packets - first < at_a_time ? packets - first : at_a_time);
        const unsigned all = words * static_cast<unsigned>(ranks);
        for (unsigned base = threadIdx.x; base < all && complete; base += unroll * blockDim.x) {
            const Packet *where[unroll];
            std::uint64_t held[unroll] = {};
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                const unsigned i = base + k * blockDim.x;
                where[k] = nullptr;
                if (i >= all) continue;
                const std::size_t index = first + i % words;
                const Packet *source = sources[i / words];
                where[k] = source != nullptr ? source + index : nullptr;
                if (source == nullptr && own != nullptr) {
                    held[k] = load_bytes(reinterpret_cast<const char *>(own) + index * packet_payload,
                                         payload_bytes(index, bytes));
                }
            }
            complete = poll_packets(where, held, epoch, spin);
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                const unsigned i = base + k * blockDim.x;
                if (i < all) room[i] = held[k];
            }
        }
        complete = __syncthreads_and(complete) != 0;
        if (!complete) return false;
        for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
            Lanes<T, std::uint64_t> lanes;
            lanes.start(room[i]);
            with_op(op, [&](auto constant) {
                for (int rank = 1; rank < ranks; ++rank)
                    lanes.join(constant, room[static_cast<unsigned>(rank) * words + i]);
            });
            const std::size_t index = first + i;
            store_bytes(reinterpret_cast<char *>(destination) + index * packet_payload, lanes.result(op, ranks),
                        payload_bytes(index, bytes));
        }
        __syncthreads();
    }
    return true;
}

}  // namespace on_device
}  // namespace baton::core
