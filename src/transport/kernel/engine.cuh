#pragma once

#include "sync/region_lookup.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/line_move.cuh"
#include "transport/kernel/move.cuh"
#include "transport/kernel/packet_move.cuh"
#include "transport/kernel/partial_move.cuh"
#include "transport/transport.hpp"

namespace baton::core {

/// What the threads of a block share about their operation.
struct KernelShared {
    std::byte *send_of[max_ranks];
    std::byte *recv_of[max_ranks];
    std::byte *sources[max_ranks];
    std::byte *destinations[max_ranks];
};

/// The engine of one block. Every method is called by all threads of the block together. See transport.hpp.
///
/// Visibility inside the block: one thread polls with acquire, then a barrier (agree()) hands what it saw to the
/// others; a signal is a barrier, then a release store, which is cumulative over the block's stores before it.
class KernelEngine {
public:
    using Remote = std::byte *;

    /// One engine, one operation: its epoch and the abort word are on their way while the addresses are calculated. All
    /// threads load the same two words, so that none waits for another to hand them on.
    __device__ KernelEngine(const CommView &view, KernelShared &shared, int channel, int channels)
        : view_(view), shared_(shared), channel_(channel), channels_(channels) {
        abort_ = load_relaxed(&view.own().header()->abort);
        epoch_ = load_relaxed(view.own().epoch(channel));
    }

    __device__ int rank() const { return view_.rank; }
    __device__ int size() const { return view_.size; }

    /// The same order on all channels: each rank's blocks aim at one peer at a time, and no two ranks at the same.
    /// Measured against blocks that aim at all peers: 362 instead of 349 GB/s of pushes (docs/performance.md).
    __device__ int peer_at(int step) const {
        const int peer = view_.rank + step;
        return peer < view_.size ? peer : peer - view_.size;
    }
    __device__ int spread_peer_at(int step) const { return peer_at(1 + (step - 1 + channel_) % (view_.size - 1)); }
    __device__ Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, channels_, channel_);
    }
    __device__ Remote send_of(int peer) const { return shared_.send_of[peer]; }
    __device__ Remote recv_of(int peer) const { return shared_.recv_of[peer]; }
    __device__ static Remote local(const std::byte *pointer) { return const_cast<std::byte *>(pointer); }

    __device__ bool begin(const Arrival &mine) {
        take_epoch(mine);
        post_arrivals(mine);
        return agree();
    }

    /// The first words are loaded together with the epoch, and no thread waits for another before it has sent its own.
    __device__ bool begin_with_packets(const Arrival &mine, const std::byte *source, std::uint64_t stride,
                                       std::uint64_t bytes, std::byte *own) {
        const auto packets = static_cast<unsigned>(packets_for(bytes));
        const unsigned all = packets * static_cast<unsigned>(own == nullptr ? view_.size - 1 : view_.size);
        all <= blockDim.x ? post_with_packets<1>(mine, source, stride, bytes, own, packets, all)
                          : post_with_packets<2>(mine, source, stride, bytes, own, packets, all);
        return agree();
    }

    /// The first lines' data are loaded together with the epoch.
    template <class PartOf>
    __device__ bool begin_with_lines(const Arrival &mine, int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        using Run = LineRun<lines_at_once>;
        const bool odd = any_odd(parts, [&](int index) {
            const LinePart part = part_of(index);
            return is_odd(part.from, part.bytes) || is_odd(part.to, 0);
        });
        LineRuns<lines_at_once> runs(parts, most_bytes, blockDim.x);
        LinePart part;
        LineWords words[lines_at_once];
        const auto load = [&] {
            if (!runs.more()) return;
            part = part_of(runs.part());
            load_run(words, part.from, Run(runs.run(), part.bytes), odd);
        };
        load();
        take_epoch(mine);
        post_arrivals(mine);
        // Threads may have been told at different loads: a warp stores lines together or not at all.
        const bool going = __all_sync(whole_warp, going_);
        while (going && runs.more()) {
            const Run run(runs.run(), part.bytes);
            if (part.to != nullptr && part.to != part.from) store_run(part.to, run, words, odd);
            if (part.peer != view_.rank) {
#pragma unroll
                for (int k = 0; k < lines_at_once; ++k) words[k].high = ends_line() ? epoch_ : words[k].high;
                DataLine *const lines = view_.arena(part.peer).lines(epoch_, channel_, view_.rank);
                store_lines(lines + lines_for(part.behind), run, words);
            }
            runs.advance();
            load();
        }
        return agree();
    }

    /// Joins the operation that another kernel of this stream has begun and not finished.
    __device__ bool attach(const Arrival &mine) {
        take_epoch(mine);
        return agree();
    }

    __device__ bool await(int peer) {
        if (threadIdx.x == 0 && going_) meet(peer);
        return agree();
    }
    __device__ bool await_all() {
        for_each_peer([&](int peer) { meet(peer); });
        return agree();
    }
    /// By the last warp alone, while the others go on; finish() tells the result.
    __device__ void verify_arrivals() {
        const int lane = static_cast<int>(threadIdx.x) - (static_cast<int>(blockDim.x) - 32);
        if (lane < 0 || !going_) return;
        for (int peer = lane; peer < view_.size && going_; peer += 32) {
            if (peer != view_.rank) meet(peer);
        }
    }

    __device__ void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (!going_ || destination == source || bytes == 0) return;
        if (own_.bytes == bytes) {
            own_.bytes = 0;
            copy_two(destination, source, own_.destination, own_.source, bytes);
        } else {
            copy_to_one(destination, source, bytes);
        }
    }
    __device__ void copy_from(std::byte *destination, Remote source, std::uint64_t bytes) {
        copy(destination, source, bytes);
    }
    /// A small block at once, while arrivals fly; a large one beside the first copy of the same length.
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
    template <class T>
    __device__ void reduce(const Remote *destinations, int destination_count, const Remote *sources,
                           std::uint64_t count, int op) {
        if (!going_) return;
        reduce_block<T>(reinterpret_cast<T *const *>(destinations), destination_count,
                        reinterpret_cast<const T *const *>(sources), view_.size, count, op, view_.size);
    }

    template <class T>
    __device__ void accumulate(Remote destination, const std::byte *partial, const Remote *sources, int source_count,
                               std::uint64_t count, int op) {
        if (!going_) return;
        accumulate_block<T>(reinterpret_cast<Accumulator<T> *>(destination),
                            reinterpret_cast<const Accumulator<T> *>(partial),
                            reinterpret_cast<const T *const *>(sources), source_count, count, op);
    }
    template <class T>
    __device__ void complete(const Remote *destinations, int destination_count, const std::byte *partial,
                             const Remote *sources, int source_count, std::uint64_t count, int op) {
        if (!going_) return;
        complete_block<T>(reinterpret_cast<T *const *>(destinations), destination_count,
                          reinterpret_cast<const Accumulator<T> *>(partial),
                          reinterpret_cast<const T *const *>(sources), source_count, count, op, view_.size);
    }

    __device__ void copy_after_reduce() { __syncthreads(); }

    __device__ void signal_all(std::uint64_t step) {
        copy_what_waits();
        agree();
        for_each_peer(
            [&](int peer) { store_release(view_.arena(peer).done(channel_, view_.rank), step_value(epoch_, step)); });
    }
    __device__ void signal(int peer, std::uint64_t step) {
        copy_what_waits();
        post(peer, &Arena::done, step);
    }
    __device__ bool wait_all(std::uint64_t step) {
        for_each_peer(
            [&](int peer) { poll(view_.own().done(channel_, peer), step_value(epoch_, step), WaitFor::done, peer); });
        return agree();
    }
    __device__ bool wait(int peer, std::uint64_t step) { return poll_one(peer, &Arena::done, step, WaitFor::done); }

    __device__ void credit_all(std::uint64_t step) {
        agree();
        for_each_peer(
            [&](int peer) { store_release(view_.arena(peer).credit(channel_, view_.rank), step_value(epoch_, step)); });
    }
    __device__ void credit(int peer, std::uint64_t step) { post(peer, &Arena::credit, step); }
    __device__ bool wait_credit(int peer, std::uint64_t step) {
        return poll_one(peer, &Arena::credit, step, WaitFor::credit);
    }
    __device__ bool wait_credits(std::uint64_t step) {
        for_each_peer([&](int peer) {
            poll(view_.own().credit(channel_, peer), step_value(epoch_, step), WaitFor::credit, peer);
        });
        return agree();
    }

    __device__ std::uint64_t segment_bytes() const { return view_.layout.segment_bytes; }
    __device__ Remote staging_at(int peer, int slot) const { return view_.arena(peer).staging(slot, view_.rank); }
    __device__ std::byte *staging_from(int peer, int slot) const { return view_.own().staging(slot, peer); }

    __device__ void take_packets_from_each(std::byte *destination, std::uint64_t stride, std::uint64_t bytes) {
        if (bytes == 0 || !going_) return;
        Spin spin(view_, at(WaitFor::data, any_peer));
        const bool taken = core::take_packets_from_each(
            view_.size - 1, [&](int part) { return view_.own().packets(epoch_, channel_, peer_at(part + 1)); },
            [&](int part) { return reinterpret_cast<char *>(destination + peer_at(part + 1) * stride); }, bytes, epoch_,
            takers(), spin);
        if (!taken) going_ = false;
    }
    __device__ void take_packets_from(int peer, std::byte *destination, std::uint64_t bytes) {
        if (!going_) return;
        Spin spin(view_, at(WaitFor::data, peer));
        if (!take_packets(destination, view_.own().packets(epoch_, channel_, peer), bytes, epoch_, takers(), spin)) {
            going_ = false;
        }
    }
    template <class T>
    __device__ void reduce_packets_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        if (!going_) return;
        const auto packets_of = [&](int peer) {
            return peer == view_.rank ? nullptr : view_.own().packets(epoch_, channel_, peer);
        };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_packets<T>(reinterpret_cast<T *>(destination), packets_of, reinterpret_cast<const T *>(own),
                               view_.size, count, op, epoch_, takers(), spin)) {
            going_ = false;
        }
    }

    template <class PartOf>
    __device__ void take_lines(int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        if (!going_) return;
        Spin spin(view_, at(WaitFor::data, any_peer));
        const auto lines_of = [&](int peer) { return view_.own().lines(epoch_, channel_, peer); };
        if (!core::take_lines(parts, most_bytes, part_of, lines_of, epoch_, takers(), spin)) going_ = false;
    }
    __device__ void relay_lines(int from, std::byte *to, std::uint64_t bytes) {
        if (!going_) return;
        Spin spin(view_, at(WaitFor::data, from));
        // The others in the order of peer_at(), without `from`.
        const int step_of_from = (from - view_.rank + view_.size) % view_.size;
        const auto destination = [&](int index) {
            const int step = index + 1 < step_of_from ? index + 1 : index + 2;
            return view_.arena(peer_at(step)).lines(epoch_, channel_, view_.rank);
        };
        if (!core::relay_lines(view_.own().lines(epoch_, channel_, from), to, bytes, view_.size - 2, destination,
                               epoch_, takers(), spin)) {
            going_ = false;
        }
    }
    template <class T>
    __device__ void reduce_lines_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        combine_lines<T>(destination, own, count, op, 0, 0);
    }
    template <class T>
    __device__ void reduce_and_relay_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op,
                                           std::uint64_t behind) {
        combine_lines<T>(destination, own, count, op, view_.size - 1, behind);
    }

    __device__ bool finish() {
        agree();
        let_kernel_after_launch();
        if (!going_) return false;
        if (threadIdx.x == 0) *view_.own().epoch(channel_) = epoch_;
        return true;
    }

private:
    using Words = std::uint64_t *(Arena::*)(int, int) const;

    /// The result goes on to so many peers.
    template <class T>
    __device__ void combine_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op, int peers,
                                  std::uint64_t behind) {
        if (!going_) return;
        const auto lines_of = [&](int peer) {
            return peer == view_.rank ? nullptr : view_.own().lines(epoch_, channel_, peer);
        };
        const auto destination_of = [&](int index) {
            return view_.arena(peer_at(index + 1)).lines(epoch_, channel_, view_.rank) + lines_for(behind);
        };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_lines<T>(destination, lines_of, own, view_.size, count, op, peers, destination_of, epoch_, takers(),
                             spin)) {
            going_ = false;
        }
    }

    /// `all` packets, so many for each peer; `at_once` of them by a thread between two looks.
    template <int at_once>
    __device__ void post_with_packets(const Arrival &mine, const std::byte *source, std::uint64_t stride,
                                      std::uint64_t bytes, std::byte *own, unsigned packets, unsigned all) {
        struct Place {
            int peer;
            unsigned index;
        };
        const auto from = [&](int peer) { return source + static_cast<std::uint64_t>(peer) * stride; };
        unsigned next = threadIdx.x;
        Place places[at_once];
        std::uint64_t words[at_once];
        const auto load = [&] {
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
                const unsigned i = next + static_cast<unsigned>(k) * blockDim.x;
                if (i >= all) continue;
                const unsigned part = i / packets;
                places[k] = {peer_at(static_cast<int>(part) + 1), i - part * packets};
                words[k] = load_bytes(from(places[k].peer) + places[k].index * packet_payload,
                                      payload_bytes(places[k].index, bytes));
            }
        };
        load();
        take_epoch(mine);
        post_arrivals(mine);
        while (next < all && going_) {
#pragma unroll
            for (int k = 0; k < at_once; ++k, next += blockDim.x) {
                if (next >= all) continue;
                const auto [peer, index] = places[k];
                if (peer != view_.rank) {
                    store_packet(packets_at(peer) + index, words[k], epoch_);
                } else if (own != from(peer)) {
                    store_bytes(own + index * packet_payload, words[k], payload_bytes(index, bytes));
                }
            }
            if constexpr (at_once > 1) load();
        }
    }

    __device__ void take_epoch(const Arrival &mine) {
        mine_ = mine.signature;
        ++epoch_;
        going_ = !told_to_give_up(view_, abort_);
    }

    /// A barrier: false on all threads once one of them has failed or has been told to give up.
    __device__ bool agree() {
        going_ = !__syncthreads_or(!going_);
        return going_;
    }

    __device__ void post_arrivals(const Arrival &mine) {
        if (!going_) return;
        for (int index = static_cast<int>(threadIdx.x); index < view_.size * 8; index += static_cast<int>(blockDim.x)) {
            const int peer = index / 8;
            const int word = index % 8;
            if (peer != view_.rank && word < Arrival::words) {
                store_arrival_word(view_.arena(peer).arrival(epoch_, channel_, view_.rank), mine, word, epoch_);
            }
        }
    }

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
        if (!going_) return;
        for (int peer = static_cast<int>(threadIdx.x); peer < view_.size; peer += static_cast<int>(blockDim.x)) {
            if (peer != view_.rank) act(peer);
        }
    }

    /// The threads that take packets: the last warp may be verifying arrivals.
    __device__ static unsigned takers() { return blockDim.x - 32; }

    __device__ Packet *packets_at(int peer) const { return view_.arena(peer).packets(epoch_, channel_, view_.rank); }

    __device__ void post(int peer, Words words, std::uint64_t step) {
        if (agree() && threadIdx.x == 0)
            store_release((view_.arena(peer).*words)(channel_, view_.rank), step_value(epoch_, step));
    }
    __device__ bool poll_one(int peer, Words words, std::uint64_t step, WaitFor wait_for) {
        if (threadIdx.x == 0 && going_)
            poll((view_.own().*words)(channel_, peer), step_value(epoch_, step), wait_for, peer);
        return agree();
    }

    __device__ void poll(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for, int peer) {
        if (going_) going_ = wait_until(view_, at(wait_for, peer), word, value);
    }

    /// One thread: waits for the peer's arrival and looks its buffers up.
    __device__ void meet(int peer) {
        const ArrivalLine *line = view_.own().arrival(epoch_, channel_, peer);
        Spin spin(view_, at(WaitFor::arrival, peer));
        Arrival theirs;
        while (!load_arrival(line, epoch_, &theirs)) {
            if (!spin()) {
                going_ = false;
                return;
            }
        }
        if (!(theirs.signature == mine_)) {
            report(BATON_ERR_MISMATCH, peer, theirs.signature);
            return;
        }
        const Packet send_line = cached_region(view_, peer, theirs.send);
        const Packet recv_line = cached_region(view_, peer, theirs.recv);
        shared_.send_of[peer] = address_of(peer, theirs.send, send_line);
        shared_.recv_of[peer] = address_of(peer, theirs.recv, recv_line);
    }

    __device__ Remote address_of(int owner, const BufferRef &buffer, const Packet &cached) {
        if (buffer.slot() == BufferRef::raw_slot) return nullptr;
        Remote address = region_address(view_, owner, buffer, cached);
        if (address == nullptr) report(BATON_ERR_INTERNAL, owner, mine_);
        return address;
    }

    __device__ OperationPoint at(WaitFor wait_for, int peer) const { return {peer, channel_, epoch_, wait_for, mine_}; }

    __device__ void report(baton_result code, int peer, const Signature &theirs) {
        give_up(view_, code, at(WaitFor::arrival, peer), theirs);
        going_ = false;
    }

    const CommView &view_;
    KernelShared &shared_;
    std::uint64_t abort_;  // as it was at the start
    std::uint64_t epoch_;  // from begin() on this operation's, before it the last one's
    Signature mine_;
    int channel_;
    int channels_;
    bool going_ = false;  // of this thread, until agree()
    struct OwnCopy {
        std::byte *destination = nullptr;
        const std::byte *source = nullptr;
        std::uint64_t bytes = 0;
    };
    OwnCopy own_;  // to be done beside another
};

}  // namespace baton::core
