#pragma once

#include "sync/pushed_word.hpp"
#include "sync/region_lookup.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/line_block.cuh"
#include "transport/kernel/move.cuh"
#include "transport/kernel/partial_move.cuh"
#include "transport/kernel/reduce_block.cuh"

namespace baton::core {

/// What the threads of a block share of their operation.
struct KernelShared {
    std::byte *send_of[max_ranks];
    std::byte *recv_of[max_ranks];
    std::byte *sources[max_ranks];
    std::byte *destinations[max_ranks];
    std::uint32_t push_numbers[max_ranks];
};

/// The engine of one block. Every method is called by all threads of the block together. See transport.hpp.
///
/// Visibility inside the block: one thread polls with acquire (arrivals relaxed: docs/memory_model.md), then a barrier
/// (agree()) hands what it saw to the others. A signal is a barrier, then a release store, which is cumulative over the
/// block's stores before it.
class KernelEngine : public LineBlock {
public:
    using Remote = std::byte *;

    __device__ KernelEngine(const CommView &view, KernelShared &shared, int channel, int channels)
        : LineBlock(view, channel, channels), shared_(shared) {}

    __device__ Remote send_of(int peer) const { return shared_.send_of[peer]; }
    __device__ Remote recv_of(int peer) const { return shared_.recv_of[peer]; }
    __device__ static Remote local(const std::byte *pointer) { return const_cast<std::byte *>(pointer); }

    __device__ bool begin(const Arrival &mine) {
        take_epoch(mine);
        post_arrivals(mine);
        return agree();
    }

    /// Joins an operation that is not finished, and that another kernel of this stream, or the channel's other block,
    /// begins.
    __device__ bool attach(const Arrival &mine) {
        take_epoch(mine);
        return agree();
    }

    __device__ bool await_all() {
        return await_all([](int) { return true; });
    }
    template <class F>
    __device__ bool await_all(const F &finds) {
        for_each_peer([&](int peer) { meet(peer, finds(peer)); });
        return agree();
    }
    /// Done by the last warp alone, while the others go on; finish() has the result.
    __device__ void verify_arrivals() {
        const int lane = static_cast<int>(threadIdx.x) - static_cast<int>(all_but_last_warp());
        if (lane < 0 || failed_) return;
        for (int peer = lane; peer < view_.size && !failed_; peer += warp_threads) {
            if (peer != view_.rank) meet(peer, false);
        }
    }

    __device__ void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (failed_ || destination == source || bytes == 0) return;
        if (own_.bytes == bytes) {
            own_.bytes = 0;
            copy_two(destination, source, own_.destination, own_.source, bytes);
        } else {
            copy_by_call(destination, source, bytes);
        }
    }
    __device__ void copy_from(std::byte *destination, Remote source, std::uint64_t bytes) {
        copy(destination, source, bytes);
    }
    /// Copies a small block at once, while arrivals fly, and a large one beside the next copy of the same length.
    __device__ void copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        constexpr std::uint64_t at_once = 16384;
        if (bytes <= at_once) return copy(destination, source, bytes);
        if (destination != source) own_ = {destination, source, bytes};
    }
    template <class F>
    __device__ const Remote *sources(int count, const F &remote_of) {
        return listed(shared_.sources, count, remote_of);
    }
    template <class F>
    __device__ const Remote *destinations(int count, const F &remote_of) {
        return listed(shared_.destinations, count, remote_of);
    }
    template <class T, bool may_be_long = false>
    __device__ void reduce(const Remote *destinations, int destination_count, const Remote *sources,
                           std::uint64_t count, int op) {
        if (failed_) return;
        reduce_block<T, may_be_long>(reinterpret_cast<T *const *>(destinations), destination_count,
                                     reinterpret_cast<const T *const *>(sources), view_.size, count, op);
    }
    template <class T>
    __device__ void accumulate(Remote destination, const std::byte *partial, const Remote *sources, int source_count,
                               std::uint64_t count, int op) {
        if (failed_) return;
        accumulate_block<T>(reinterpret_cast<Accumulator<T> *>(destination),
                            reinterpret_cast<const Accumulator<T> *>(partial),
                            reinterpret_cast<const T *const *>(sources), source_count, count, op);
    }
    template <class T>
    __device__ void complete(const Remote *destinations, int destination_count, const std::byte *partial,
                             const Remote *sources, int source_count, std::uint64_t count, int op) {
        if (failed_) return;
        complete_block<T>(reinterpret_cast<T *const *>(destinations), destination_count,
                          reinterpret_cast<const Accumulator<T> *>(partial),
                          reinterpret_cast<const T *const *>(sources), source_count, count, op, view_.size);
    }

    __device__ void order_here() { __syncthreads(); }

    __device__ void signal_all(std::uint64_t step) {
        copy_what_waits();
        post_all(&Arena::done, step);
    }
    __device__ void signal(int peer, std::uint64_t step) {
        copy_what_waits();
        post(peer, &Arena::done, step);
    }
    __device__ bool wait_all(std::uint64_t step) { return poll_all(&Arena::done, step, WaitFor::done); }
    __device__ bool wait(int peer, std::uint64_t step) { return poll_one(peer, &Arena::done, step, WaitFor::done); }

    __device__ void credit_all(std::uint64_t step) { post_all(&Arena::credit, step); }
    __device__ void credit(int peer, std::uint64_t step) { post(peer, &Arena::credit, step); }
    __device__ bool wait_credit(int peer, std::uint64_t step) {
        return poll_one(peer, &Arena::credit, step, WaitFor::credit);
    }
    __device__ bool wait_credits(std::uint64_t step) { return poll_all(&Arena::credit, step, WaitFor::credit); }

    __device__ bool pushes(int peer) const { return shared_.push_numbers[peer] != 0; }
    __device__ bool await_pushed(std::uint32_t pieces) {
        for_each_peer([&](int peer) {
            if (failed_ || !pushes(peer)) return;
            failed_ = !wait_for_pieces(view_, at(WaitFor::data, peer), view_.own().pushed(peer),
                                       shared_.push_numbers[peer], pieces);
        });
        return agree();
    }

    __device__ std::uint64_t segment_bytes() const { return view_.layout.segment_bytes; }
    __device__ Remote staging_at(int peer, int slot) const { return view_.arena(peer).staging(slot, view_.rank); }
    __device__ std::byte *staging_from(int peer, int slot) const { return view_.own().staging(slot, peer); }
    __device__ Remote staging_of(int rank, int slot) const { return view_.arena(rank).staging(slot, rank); }
    __device__ std::uint64_t early_bytes(int places) const {
        return static_cast<std::uint64_t>(channels_) * early_place_bytes(view_.layout.early_bytes, places);
    }
    __device__ Remote early_of(int rank) const { return view_.arena(rank).early(epoch_, channel_); }

    /// One thread stores the epoch, and then lets the next kernel be launched. In that order: a kernel that is not
    /// Baton's and does not wait for this one may run after it, and Baton's next one would wait for that kernel alone.
    __device__ bool finish() {
        agree();
        if (threadIdx.x == 0) {
            if (!failed_) *view_.own().epoch(channel_) = epoch_;
            let_kernel_after_launch();
        }
        return !failed_;
    }

protected:
    template <class F>
    __device__ static const Remote *listed(Remote *list, int count, const F &remote_of) {
        for (int at = static_cast<int>(threadIdx.x); at < count; at += static_cast<int>(blockDim.x)) {
            list[at] = remote_of(at);
        }
        __syncthreads();
        return list;
    }

    __device__ void copy_what_waits() {
        const OwnCopy own = own_;
        own_.bytes = 0;
        copy(own.destination, own.source, own.bytes);
    }

    template <class F>
    __device__ void for_each_peer(const F &act) {
        if (failed_) return;
        for (int peer = static_cast<int>(threadIdx.x); peer < view_.size; peer += static_cast<int>(blockDim.x)) {
            if (peer != view_.rank) act(peer);
        }
    }

    __device__ void post(int peer, Words words, std::uint64_t step) {
        if (agree() && threadIdx.x == 0)
            store_release((view_.arena(peer).*words)(channel_, view_.rank), step_value(epoch_, step));
    }
    __device__ void post_all(Words words, std::uint64_t step) {
        agree();
        for_each_peer([&](int peer) {
            store_release((view_.arena(peer).*words)(channel_, view_.rank), step_value(epoch_, step));
        });
    }
    __device__ bool poll_all(Words words, std::uint64_t step, WaitFor wait_for) {
        for_each_peer(
            [&](int peer) { poll((view_.own().*words)(channel_, peer), step_value(epoch_, step), wait_for, peer); });
        return agree();
    }
    __device__ bool poll_one(int peer, Words words, std::uint64_t step, WaitFor wait_for) {
        if (threadIdx.x == 0 && !failed_)
            poll((view_.own().*words)(channel_, peer), step_value(epoch_, step), wait_for, peer);
        return agree();
    }

private:
    __device__ void poll(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for, int peer) {
        if (!failed_) failed_ = !wait_until(view_, at(wait_for, peer), word, value);
    }

    /// Done by one thread: waits for the peer's arrival, and if `finds` looks its buffers up.
    __device__ void meet(int peer, bool finds) {
        Arrival theirs;
        if (!wait_for_line(view_, at(WaitFor::arrival, peer), view_.own().arrival(epoch_, channel_, peer), &theirs)) {
            failed_ = true;
            return;
        }
        if (!finds) return;
        const Packet send_entry = cached_region(view_, peer, theirs.send);
        const Packet recv_entry = cached_region(view_, peer, theirs.recv);
        shared_.send_of[peer] = resolve(peer, theirs.send, send_entry);
        shared_.recv_of[peer] = resolve(peer, theirs.recv, recv_entry);
        shared_.push_numbers[peer] = theirs.push_number;
    }

    __device__ Remote resolve(int owner, const BufferRef &buffer, const Packet &cached) {
        if (!buffer.is_in_region()) return nullptr;
        Remote address = region_address(view_, owner, buffer, cached);
        if (address == nullptr) {
            give_up(view_, BATON_ERR_INTERNAL, at(WaitFor::arrival, owner));
            failed_ = true;
        }
        return address;
    }

    KernelShared &shared_;
    struct OwnCopy {
        std::byte *destination = nullptr;
        const std::byte *source = nullptr;
        std::uint64_t bytes = 0;
    };
    OwnCopy own_;  // to be done beside another copy
};

/// The engine of algorithms whose blocks reduce long parts at once.
class LongPartEngine : public KernelEngine {
public:
    using KernelEngine::KernelEngine;

    template <class T>
    __device__ void reduce(const Remote *destinations, int destination_count, const Remote *sources,
                           std::uint64_t count, int op) {
        KernelEngine::reduce<T, true>(destinations, destination_count, sources, count, op);
    }
};

}  // namespace baton::core
