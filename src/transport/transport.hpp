#pragma once

#include <cstdint>

#include "sync/comm_view.hpp"
#include "util/divide.hpp"

/// The contract of a transport. An algorithm is written once, as a template over an Engine, and runs as one block of a
/// GPU kernel (kernel/engine.cuh), as one thread on shared host memory (host/engine.hpp), or as a sequence of
/// copy-engine transfers enqueued on a stream (copy_engine/engine.hpp). tests/contract checks all of them against this
/// text; docs/memory_model.md argues why the words behind it suffice.
///
/// An engine is one channel of one operation on one rank, or half of one. A host engine is the only channel; a copy
/// engine stands for all of them. All ranks run the same operations in the same order, with the same algorithm and the
/// same channels. On a GPU all threads of the block call every method together.
///
/// ## Who and where
///
/// rank(), size()
/// channel()
///     Which of the operation's channels this is, from 0 on. Both halves of a channel return the same.
/// peer_at(step)
///     Every peer once, for step = 1 .. size() - 1, in an order in which the ranks do not all aim at the same one.
/// spread_peer_at(step)
///     Likewise, in an order in which the channels of a rank do not all aim at the same peer. For a rank that sends
///     more than others.
/// share(bytes, granule)
///     The part of [0, bytes) that belongs to this engine. The parts of all engines cover it exactly once, and start at
///     multiples of granule.
/// local(pointer)
///     A Remote that is this rank's own memory. A Remote plus bytes is a Remote.
///
/// ## An operation
///
/// begin(arrival)
///     Starts it: takes the channel's next epoch and tells every peer what this rank does and where its buffers are.
///     False if the communicator is broken: a waiter of any rank, or this rank's host, has given up. Kernels learn that
///     their host has given up only while they wait, since its word lies in host memory.
/// begin_with_packets(arrival, source, stride, bytes, own)
///     begin(), and puts data that carries its epoch into the peers' packet buffers, without waiting for anybody: to
///     peer p the bytes at source + p * stride, at most packets_per_channel * 8. This rank's own part goes to `own`,
///     unless that is null; it may lie there already. All input has been read when the call returns.
/// begin_with_lines(arrival, parts, most_bytes, part_of)
///     begin(), and puts data that carries its epoch into the peers' line buffers, without waiting for anybody.
///     part_of(0) ... part_of(parts - 1) are LineParts of at most most_bytes, at most one for each peer. Each goes from
///     `from` to its peer, and also to `to`, if that is neither null nor `from`. A part for this rank itself goes to
///     `to` only. A part's lines and those it lies behind must fit a channel's lines. All of `from` has been read when
///     the call returns.
/// await_all(), await_all(finds)
///     True once every peer has arrived with the same signature, and the buffers of all peers, or of those for which
///     finds(peer) is true, have been found. From then on the staging at every peer may be written; of a peer that has
///     been found the recv buffer may be written, and the send buffer and its own slots be read. False also if one of
///     the buffers names a region that is gone. finds(peer) must be false for a peer that waits for nothing from this
///     engine but its arrival: that peer may have ended the operation, and have freed its memory.
/// verify_arrivals()
///     For algorithms that need no address: compares signatures, possibly while the operation goes on; finish() has the
///     result.
/// send_of(peer), recv_of(peer)
///     The peer's buffers, after an await_all() that has found them. Before that, the result may be anything.
/// finish()
///     Ends the operation on this engine, which must not touch the peers' memory afterwards. True if the operation has
///     completed; otherwise the epoch stays as it was.
///
/// Every operation awaits every peer or verifies the arrivals before it finishes. That tells the next ones that arrival
/// lines, packets, data lines and all staging are free again.
///
/// ## Data
///
/// copy(destination, source, bytes)
///     From local memory to a Remote. The two must not overlap, but may be equal. Does nothing if they are equal, or if
///     there are zero bytes.
/// copy_from(destination, source, bytes)
///     The same from a Remote to local memory.
/// copy_own(destination, source, bytes)
///     Within this rank, where nothing else of the operation reads or writes. Done when signal_all(), signal(), or the
///     next copy() that moves as many bytes returns: it runs beside other copies if that is faster. At most one may be
///     under way.
/// sources(count, remote_of), destinations(count, remote_of)
///     Lists of the Remotes remote_of(0) ... remote_of(count - 1), at most max_ranks, for reduce(), accumulate() and
///     complete(). There is one list of each kind. It may be read as soon as it has been returned. Before it is made
///     again, one of the methods that order (below) must follow its last reading.
/// reduce<T>(destinations, number of destinations, sources, count, op)
///     Every destination gets, element by element, the size() sources combined in the order given, with the arithmetic
///     of element/reduce.hpp. A destination may equal a source. Any alignment will do.
/// accumulate<T>(destination, partial, sources, number of sources, count, op)
///     A part of a reduction, which other ranks may have begun and may continue. The sources, at least one, join what
///     `partial` holds, in the order given; if `partial` is null, they begin the reduction. `partial` and the
///     destination hold Accumulators of element/reduce.hpp, aligned to 16 bytes; `partial` is this rank's memory.
/// complete<T>(destinations, number of destinations, partial, sources, number of sources, count, op)
///     The last part of such a reduction: every destination gets what reduce() would make of the sources of all parts
///     together. A destination may equal a source.
/// order_here()
///     What comes after may read what reduce() has written before, and make lists again.
///
/// ## Order between ranks
///
/// signal_all(step)
///     Tells every peer. To a peer that has seen this signal, everything that this engine has copied or reduced before,
///     to peers or into its own slots, is visible; and what this engine has read before may be written again. The steps
///     of an operation count up from 1.
/// wait_all(step)
///     True once the signal of `step`, or of a later one, has come from every peer.
/// wait(peer, step)
///     The same for one peer. What it has stored here, or in its own slots, may then be read, and passed on to others.
/// signal(peer, step)
///     signal_all() for one peer. Each peer sees its own steps count up.
/// credit_all(step), wait_credits(step), credit(peer, step), wait_credit(peer, step)
///     The same in the other direction, for where no signal goes that way in time: "I have read what you stored in
///     step".
/// segment_bytes(), staging_at(peer, slot), staging_from(peer, slot)
///     Staging, two slots per peer: at the peer for this rank's data, and here for the peer's. All channels have the
///     same slots, and each uses its part of them. A slot is free at the peer once that has arrived; it is free again
///     once the peer has read the step that filled it, and has said so by a credit or a later signal.
/// staging_of(rank, slot)
///     Every rank's own slots, for what it has for all: a rank fills its own, the peers read them after its signal.
///     Free once all have arrived; again once all have read the step that filled the slot, and have said so.
/// early_bytes(places), early_of(rank)
///     Every rank's own early staging, this channel's, for the beginning of what the rank has for others. It may be
///     divided into places, which begin at multiples of copy_granule. Each place holds this channel's part,
///     share(bytes, copy_granule), of at most early_bytes(places) bytes, which may be 0. Free after begin(), whoever
///     has arrived; the peers read it after its rank's signal.
/// take_packets_from_each(destination, stride, bytes)
///     Takes what each peer has put here, as many bytes as it has put, to destination + peer * stride. A failed wait
///     shows at finish().
/// take_packets_from(peer, destination, bytes)
///     Takes what one peer has put here; the others may have put nothing.
/// reduce_packets_to<T>(destination, own, count, op)
///     Combines what all peers have put and this rank's own elements, in the order of ranks. destination may equal own.
/// take_lines(parts, most_bytes, part_of)
///     Takes LineParts that peers have put here with begin_with_lines() or relay_lines(), as many bytes as they have
///     put, to `to`. A failed wait shows at finish().
/// relay_lines(from, to, bytes)
///     Takes what `from` has put here to `to`, and puts it to every other peer as it comes.
/// pass_lines(pass)
///     Does a LinePass: any number of bytes that go in lines from rank to rank. The line buffers for all peers are one
///     ring for it. A place of the ring is used again when the next rank has taken what lay there, which it says in the
///     words of signals and credits. So an operation has one pass, no other lines, and no credits. Signals may go only
///     to the rank after, which then must not be the rank before as well. A failed wait shows at finish().
/// reduce_lines_to<T>(destination, own, count, op)
///     Like reduce_packets_to(), but of lines. Each peer's lines of an operation are taken once.
/// reduce_and_relay_lines<T>(destination, own, count, op, behind)
///     The same, and puts the result to every peer as it comes, in lines behind those of a part of `behind` bytes.
///
/// Between ranks only arrivals, signals, credits, packets and lines order anything. Within a rank, what one method has
/// written or read is ordered before a later method only if a begin, await_all, signal, credit, wait or order_here lies
/// between them: there, and after a list has been made, a block's threads come together, and nowhere else. The host
/// engine happens to keep program order.
///
/// ## Failure
///
/// Every wait ends: by its condition, by the communicator's deadline, or because a peer's waiter or this rank's host
/// has given up. A wait whose condition is met by then may still succeed. A waiter that finds the cause itself records
/// it (Control::record; only the first of a rank does), and tells all ranks. One that is told passes that on to its
/// host (Control::seen). After a method has returned false the others may still be called: they change nothing at peers
/// or here, and return false. A kernel's block learns of a failure at a barrier, all of its threads together.
///
/// ## What an engine leaves out
///
/// Kernel and host engine: nothing. The kernel engine adds, for what copy engines push (collectives/pushed.hpp):
///   - attach(arrival), in place of begin(): joins an operation that has not finished. An earlier kernel of the stream,
///     or the other block of the channel, begins it.
///   - channels(): how many engines the operation has.
///   - pushes(peer), after an await_all() that has found the peer: whether its copy engines push to this rank.
///   - await_pushed(pieces): true once that many pieces have come from every peer that pushes.
/// The engine of half a channel (kernel/half_engine.cuh) has only rank, size, channel, begin, await_all,
/// verify_arrivals, share, copy, copy_own, local, recv_of, signal, wait, pass_lines and finish; tests/contract leaves
/// it out. The host engine adds meet(arrival), which may come before begin(), arrival_of(peer) after that, and what
/// broadcast/pull.hpp asks it. The copy engine leaves out begin_with_packets, begin_with_lines, verify_arrivals,
/// packets, lines, channel, staging_of, early staging, signals and credits to one peer, waits for one peer's credit,
/// copy_from, accumulate, complete and order_here; its reduce() has one destination, local, and the constructor's type.
/// It enqueues, which makes its contract narrower:
///   - begin() waits, on the stream, for all arrivals. Addresses come from the host (set_peer) or are staging, so
///     await_all() neither finds buffers nor notices that one is gone.
///   - Methods that return bool return true. A failure shows once the stream gets there: in Control, and in epochs that
///     stay. Copies that have been enqueued run all the same.
///   - A copy, other than copy_own(), happens between its call and the next signal_all() or wait(); if none follows, it
///     may never happen. Copies have no order among each other. They wait for begin() and for the wait() and
///     wait_credits() before them, and for nothing else: not for wait_all(), nor for reduce().
///   - signal_all() does not wait for reduce() either: what that reads is free only after credits.
///   - copy_own() is done, in the stream's order, by the next signal_all() or finish(). Several may be under way.
namespace baton::core {

/// Shares of large copies start at multiples of this: a line that two channels write halves of crosses the links twice.
inline constexpr std::uint64_t copy_granule = 128;

/// What a channel can put into each place if its early staging of `bytes` is divided into that many places, one or
/// more.
BATON_HD constexpr std::uint64_t early_place_bytes(std::uint64_t bytes, int places) {
    return bytes / static_cast<std::uint64_t>(places) / copy_granule * copy_granule;
}

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};

/// Bytes that go in lines to or from one peer. What is sent lies at `from`; what is taken goes to `to`. The lines begin
/// at the first one of the buffer, or behind those of a part of `behind` bytes.
struct LinePart {
    int peer = 0;
    std::uint64_t bytes = 0;
    const std::byte *from = nullptr;
    std::byte *to = nullptr;
    std::uint64_t behind = 0;
};

inline constexpr int no_rank = -1;

/// Bytes that come in lines from the rank before, or lie at `from` if there is none. They go to `to`, which may be
/// `from`, and on to the rank after, if there is one. Those two ranks have matching passes of as many bytes, which name
/// this rank.
struct LinePass {
    int before = no_rank;
    int after = no_rank;
    const std::byte *from = nullptr;
    std::byte *to = nullptr;
    std::uint64_t bytes = 0;
};

/// A pass moves runs of this many lines. The kernels' rings hold at least one run for each block.
inline constexpr unsigned lines_of_run = 16;

/// Splits [0, bytes) into `parts` ranges that start at multiples of `granule`; the last ones may be short or empty.
BATON_HD inline Range split(std::uint64_t bytes, std::uint64_t granule, int parts, int index) {
    const std::uint64_t per = round_up(ceil_divide(bytes, static_cast<std::uint64_t>(parts)), granule);
    const std::uint64_t begin =
        per * static_cast<std::uint64_t>(index) < bytes ? per * static_cast<std::uint64_t>(index) : bytes;
    const std::uint64_t end = begin + per < bytes ? begin + per : bytes;
    return {begin, end - begin};
}

/// How many of split()'s ranges are not empty; 1 if there are no bytes.
BATON_HD inline int shares_of(std::uint64_t bytes, std::uint64_t granule, int parts) {
    const std::uint64_t share = split(bytes, granule, parts, 0).bytes;
    return share == 0 ? 1 : static_cast<int>(ceil_divide(bytes, share));
}

/// Semaphore value of a step. Grows with the epoch, then with the step, for epochs below 2^(64 - step_bits).
BATON_HD inline std::uint64_t step_value(std::uint64_t epoch, std::uint64_t step) { return epoch << step_bits | step; }
BATON_HD inline unsigned step_of(std::uint64_t value) { return static_cast<unsigned>(value) % (1u << step_bits); }

/// What the lines of a ring carry as their epoch, once the operation has gone round it `rounds` times; for epochs as
/// above. With 0 rounds it is the epoch itself, which lines outside a ring carry.
BATON_HD inline std::uint64_t epoch_of_round(std::uint64_t epoch, std::uint64_t rounds) {
    return epoch | rounds << (64 - step_bits);
}

}  // namespace baton::core
