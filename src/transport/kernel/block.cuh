#pragma once

#include "sync/wait.hpp"
#include "transport/kernel/ptx.cuh"
#include "transport/kernel/warp.cuh"
#include "transport/transport.hpp"

namespace baton::core {

/// A block of a collective: the ranks and the channel it works for, the operation it is in, and whether its threads go
/// on. The engine is built on it (packet_block.cuh, line_block.cuh, engine.cuh). All threads of the block call every
/// method together.
class KernelBlock {
public:
    /// An object serves one operation. The channel's epoch and abort word are on their way while the addresses are
    /// calculated. All threads load them, so that none waits for another to hand them on. From host memory only one
    /// thread does, because the warps' loads would wait for each other there (ChannelStart).
    __device__ KernelBlock(const CommView &view, int channel, int channels)
        : view_(view), channel_(channel), channels_(channels) {
        const ChannelStart *const at = view.own().start(channel);
        const ChannelStart start = view.arenas_on_host ? load_by_one(at) : load_start(at);
        abort_ = start.abort;
        epoch_ = start.epoch;
    }

    __device__ int rank() const { return view_.rank; }
    __device__ int size() const { return view_.size; }
    __device__ int channel() const { return channel_; }
    __device__ int channels() const { return channels_; }

    /// The order is the same on all channels: each rank's blocks aim at one peer at a time, and no two ranks at the
    /// same one. Pushes then reach 362 GB/s, against 349 if blocks aim at all peers (docs/experiments.md).
    __device__ int peer_at(int step) const {
        const int peer = view_.rank + step;
        return peer < view_.size ? peer : peer - view_.size;
    }
    __device__ int spread_peer_at(int step) const { return peer_at(1 + (step - 1 + channel_) % (view_.size - 1)); }
    __device__ Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, channels_, channel_);
    }

private:
    __device__ __noinline__ static ChannelStart load_by_one(const ChannelStart *at) {
        __shared__ ChannelStart loaded;
        if (threadIdx.x == 0) loaded = load_start(at);
        __syncthreads();
        return loaded;
    }

protected:
    __device__ void take_epoch(const Arrival &mine) {
        mine_ = mine.signature;
        ++epoch_;
        failed_ = told_to_give_up(view_, abort_);
    }

    /// A barrier: false on all threads once one of them has failed or has been told to give up.
    __device__ bool agree() {
        failed_ = __syncthreads_or(failed_) != 0;
        return !failed_;
    }

    __device__ void post_arrivals(const Arrival &mine) {
        if (failed_) return;
        for (int index = static_cast<int>(threadIdx.x); index < view_.size * 8; index += static_cast<int>(blockDim.x)) {
            const int peer = index / 8;
            const int word = index % 8;
            if (peer != view_.rank && word < Arrival::words) {
                store_arrival_word(view_.arena(peer).arrival(epoch_, channel_, view_.rank), mine, word, epoch_);
            }
        }
    }

    __device__ OperationPoint at(WaitFor wait_for, int peer) const { return {peer, channel_, epoch_, wait_for, mine_}; }

    const CommView &view_;
    std::uint64_t abort_;  // the abort word at the start
    std::uint64_t epoch_;  // before begin() the last operation's, from then on this one's
    Signature mine_;
    int channel_;
    int channels_;
    bool failed_ = false;  // of this thread only, until agree()
};

}  // namespace baton::core
