#pragma once

#include "transport/kernel/block.cuh"
#include "transport/kernel/packet_move.cuh"

namespace baton::core {

/// A block's packets (sync/packet.hpp): sent as the operation begins, and polled for by all threads but the last
/// warp's. See transport.hpp.
class PacketBlock : public KernelBlock {
public:
    using KernelBlock::KernelBlock;

    /// The first words are loaded together with the epoch, and no thread waits for another before it has sent its own.
    __device__ bool begin_with_packets(const Arrival &mine, const std::byte *source, std::uint64_t stride,
                                       std::uint64_t bytes, std::byte *own) {
        const auto packets = static_cast<unsigned>(packets_for(bytes));
        const unsigned all = packets * static_cast<unsigned>(own == nullptr ? view_.size - 1 : view_.size);
        all <= blockDim.x ? post_with_packets<1>(mine, source, stride, bytes, own, packets, all)
                          : post_with_packets<2>(mine, source, stride, bytes, own, packets, all);
        return agree();
    }

    __device__ void take_packets_from_each(std::byte *destination, std::uint64_t stride, std::uint64_t bytes) {
        if (bytes == 0 || failed_) return;
        Spin spin(view_, at(WaitFor::data, any_peer));
        const bool taken = core::take_packets_from_each(
            view_.size - 1, [&](int part) { return view_.own().packets(epoch_, channel_, peer_at(part + 1)); },
            [&](int part) { return reinterpret_cast<char *>(destination + peer_at(part + 1) * stride); }, bytes, epoch_,
            all_but_last_warp(), spin);
        if (!taken) failed_ = true;
    }
    __device__ void take_packets_from(int peer, std::byte *destination, std::uint64_t bytes) {
        if (failed_) return;
        Spin spin(view_, at(WaitFor::data, peer));
        if (!take_packets(destination, view_.own().packets(epoch_, channel_, peer), bytes, epoch_, all_but_last_warp(),
                          spin)) {
            failed_ = true;
        }
    }
    template <class T>
    __device__ void reduce_packets_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        if (failed_) return;
        const auto packets_of = [&](int peer) {
            return peer == view_.rank ? nullptr : view_.own().packets(epoch_, channel_, peer);
        };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_packets<T>(reinterpret_cast<T *>(destination), packets_of, reinterpret_cast<const T *>(own),
                               view_.size, count, op, epoch_, all_but_last_warp(), spin)) {
            failed_ = true;
        }
    }

private:
    __device__ Packet *packets_at(int peer) const { return view_.arena(peer).packets(epoch_, channel_, view_.rank); }

    /// Sends `all` packets: `packets` for each peer and, unless `own` is null, for this rank. A thread loads `at_once`
    /// of them before it stores them.
    template <int at_once>
    __device__ void post_with_packets(const Arrival &mine, const std::byte *source, std::uint64_t stride,
                                      std::uint64_t bytes, std::byte *own, unsigned packets, unsigned all) {
        struct Target {
            int peer;
            unsigned index;
        };
        const auto from = [&](int peer) { return source + static_cast<std::uint64_t>(peer) * stride; };
        unsigned next = threadIdx.x;
        Target targets[at_once];
        std::uint64_t words[at_once];
        const auto load = [&] {
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
                const unsigned i = next + static_cast<unsigned>(k) * blockDim.x;
                if (i >= all) continue;
                const unsigned part = i / packets;
                targets[k] = {peer_at(static_cast<int>(part) + 1), i - part * packets};
                words[k] = load_bytes(from(targets[k].peer) + targets[k].index * packet_payload,
                                      payload_bytes(targets[k].index, bytes));
            }
        };
        load();
        take_epoch(mine);
        post_arrivals(mine);
        while (next < all && !failed_) {
#pragma unroll
            for (int k = 0; k < at_once; ++k, next += blockDim.x) {
                if (next >= all) continue;
                const auto [peer, index] = targets[k];
                if (peer != view_.rank) {
                    store_packet(packets_at(peer) + index, words[k], epoch_);
                } else if (own != from(peer)) {
                    store_bytes(own + index * packet_payload, words[k], payload_bytes(index, bytes));
                }
            }
            if constexpr (at_once > 1) load();
        }
    }
};

}  // namespace baton::core
