#pragma once

#include "transport/kernel/engine.cuh"

namespace baton::core {

/// The engine of half a channel, for algorithms that push step by step, or in lines from rank to rank. Two blocks share
/// a channel's epoch and arrivals, and each has half of the channel's part. Before a block signals, its stores have to
/// arrive; blocks on twice as many multiprocessors keep the links busy meanwhile (docs/experiments.md). It offers only
/// what has words for each half. The second block uses the words of credits for its signals, and for what it has taken
/// of lines.
class HalfEngine : KernelEngine {
public:
    using KernelEngine::await_all;
    using KernelEngine::channel;
    using KernelEngine::copy;
    using KernelEngine::copy_own;
    using KernelEngine::local;
    using KernelEngine::rank;
    using KernelEngine::recv_of;
    using KernelEngine::Remote;
    using KernelEngine::size;
    using KernelEngine::verify_arrivals;

    __device__ HalfEngine(const CommView &view, KernelShared &shared, int block, int blocks)
        : KernelEngine(view, shared, block / 2, blocks / 2),
          half_(block % 2),
          words_(half_ == 0 ? &Arena::done : &Arena::credit) {}

    __device__ bool begin(const Arrival &mine) { return half_ == 0 ? KernelEngine::begin(mine) : attach(mine); }
    __device__ Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, 2 * channels_, 2 * channel_ + half_);
    }
    __device__ void pass_lines(const LinePass &pass) { pass_lines_by(pass, words_, static_cast<unsigned>(half_), 2); }
    __device__ void signal(int peer, std::uint64_t step) {
        copy_what_waits();
        post(peer, words_, step);
    }
    __device__ bool wait(int peer, std::uint64_t step) { return poll_one(peer, words_, step, WaitFor::done); }

    /// The second block to come here stores the epoch, because when the first ends the other may not have read it yet.
    /// A block has used the epoch before its last barrier, so that load is over when the block counts itself.
    __device__ bool finish() {
        agree();
        if (threadIdx.x == 0) {
            ChannelStart *const start = view_.own().start(channel_);
            if (!failed_ && atomicAdd(&start->halves, 1ULL) == 1) {
                start->halves = 0;
                start->epoch = epoch_;
            }
            let_kernel_after_launch();
        }
        return !failed_;
    }

private:
    const int half_;
    const Words words_;
};

}  // namespace baton::core
