#pragma once

#include <vector>

#include "collectives/peer_addresses.hpp"
#include "collectives/pushed.hpp"
#include "util/overlap.hpp"

/// What a rank enqueues for a reduction of what copy engines push (pushed.hpp): an allreduce, or a reduce_scatter of
/// two ranks. The queue is a GPU's streams (gpu_pushes.hpp).
///   1. A kernel begins the operation: it tells all that this rank pushes, and waits for all.
///   2. Behind it, beside the next kernel: piece by piece, the copies to all peers and their words.
///   3. The operation's kernel combines the pieces as they come. In a reduce_scatter it does all but the beginning.
///   4. allreduce: copies of the result to all peers, which have said by credits that their pieces are combined.
///   5. allreduce: a kernel that signals all, waits for all, and ends the operation.
/// A rank whose peers have no room for what it would push begins with the third. One that does not know where their
/// buffers are has a single kernel, which does all that (CollectiveArgs::ended_behind is false).
///
/// Each kernel waits only for what every rank enqueues before its own kernel of that step; for the signals of the end
/// it waits only once all credits have come. So none hangs where another thread's cudaFree, which waits for kernels and
/// keeps others from being enqueued, comes in between.
namespace baton::core {

/// Whether all peers have room that is apart from what they send: pushes come before others have read that.
inline bool may_push(const PushedInputs &inputs, const std::vector<PeerBuffers> &peers, int rank) {
    if (!inputs.have_room()) return false;
    for (int peer = 0; peer < inputs.ranks(); ++peer) {
        const PeerBuffers &buffers = peers[static_cast<std::size_t>(peer)];
        if (peer == rank) continue;
        if (buffers.send == nullptr || buffers.recv == nullptr) return false;
        if (overlap(buffers.send, inputs.send_bytes(), buffers.recv, inputs.recv_bytes())) return false;
    }
    return true;
}

/// Queue: copy(destination, source, bytes) and tell(peer, pieces) are collected until push(), which enqueues the copies
/// and the words behind them.
template <class Queue>
void push_inputs(Queue &queue, const PushedInputs &inputs, const CollectiveArgs &args,
                 const std::vector<PeerBuffers> &peers, int rank) {
    std::vector<HeadAndPieces> pieces;
    for (int of = 0; of < inputs.ranks(); ++of) pieces.emplace_back(inputs.part_of(of).bytes, inputs.ranks());
    for (bool more = true; more;) {
        more = false;
        for (int step = 1; step < inputs.ranks(); ++step) {
            const int peer = (rank + step) % inputs.ranks();
            HeadAndPieces &next = pieces[static_cast<std::size_t>(peer)];
            const Range part = inputs.part_of(peer);
            const std::uint64_t head = head_of(part.bytes);
            if (next.more()) next.next();  // at first past the head
            if (!next.more()) continue;
            const std::uint64_t at = next.range().begin;
            queue.copy(peers[static_cast<std::size_t>(peer)].recv + inputs.scratch_of(rank, head) + (at - head),
                       args.send + part.begin + at, next.range().bytes);
            queue.tell(peer, next.number());
            more = true;
        }
        if (more) queue.push();
    }
}

/// What Queue has besides: next_number(), the next Arrival::push_number; begin(arrival), combine(args) and
/// end(arrival), which enqueue the kernels, in this order; after_pushes(), which makes what comes behind wait for what
/// has been pushed; and copy_results(), which enqueues copies between the kernel before and the next.
template <class Queue>
void enqueue_pushed(Queue &queue, const PushedInputs &inputs, CollectiveArgs args,
                    const std::vector<PeerBuffers> &peers, int rank) {
    if (may_push(inputs, peers, rank)) {
        args.arrival.push_number = queue.next_number();
        queue.begin(args.arrival);
        push_inputs(queue, inputs, args, peers, rank);
        args.begun_before = true;
    }
    args.ended_behind = inputs.is_allreduce();
    queue.combine(args);
    if (args.begun_before) queue.after_pushes();
    if (!inputs.is_allreduce()) return;
    const Range part = inputs.part_of(rank);
    for (int step = 1; step < inputs.ranks(); ++step) {
        const int peer = (rank + step) % inputs.ranks();
        queue.copy(peers[static_cast<std::size_t>(peer)].recv + part.begin, args.recv + part.begin, part.bytes);
    }
    queue.copy_results();
    queue.end(args.arrival);
}

}  // namespace baton::core
