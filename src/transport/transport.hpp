#pragma once

#include <cstdint>

#include "sync/comm_view.hpp"
#include "util/divide.hpp"

/// The contract of a transport. An algorithm is written once, as a template over an Engine, and runs as one block of a
/// GPU kernel (kernel/engine.cuh), as one thread on shared host memory (host/engine.hpp), or as a sequence of
/// copy-engine transfers enqueued on a stream (copy_engine/engine.hpp). tests/contract checks all of them against this
/// text; docs/memory_model.md argues why the words behind it suffice.
///
/// An engine is one channel of one operation on one rank, or half of one; a host engine is the only channel, a copy
/// engine stands for all. All ranks run the same operations in the same order, with the same algorithm and the same
/// channels. On a GPU all threads of the block call every method together.
///
/// ## Who and where
///
/// rank(), size()
/// channel()
///     Which of the operation's channels this is, from 0 on; of both halves the same.
/// peer_at(step)
///     For step = 1 .. size() - 1 every peer once, in an order that keeps the ranks from all aiming at one.
/// spread_peer_at(step)
///     The same in an order that keeps a rank's channels from all aiming at one, for a rank that sends more than
///     others.
/// share(bytes, granule)
///     The part of [0, bytes) that belongs to this engine. The engines' parts are all of it, once, and start at
///     multiples of granule.
/// local(pointer)
///     A Remote that is this rank's own memory. A Remote plus bytes is a Remote.
///
/// ## An operation
///
/// begin(arrival)
///     Starts it: takes the channel's next epoch and tells every peer what this rank does and where its buffers are.
///     False if the communicator is broken: a waiter of any rank has given up before, or this rank's host. Kernels
///     learn of the host's word only while they wait, since it lies in host memory.
/// begin_with_packets(arrival, source, stride, bytes, own)
///     begin(), and data that carries its epoch, into the peers' packet buffers, without waiting for anybody: for peer
///     p the bytes at source + p * stride, at most packets_per_channel * 8. This rank's own part goes to `own`, where
///     it may lie already, unless that is null. The whole input has been read when it returns.
/// begin_with_lines(arrival, parts, most_bytes, part_of)
///     begin(), and data that carries its epoch, into the peers' line buffers, without waiting for anybody:
///     part_of(0) ... part_of(parts - 1) are LineParts of at most most_bytes, one for a peer at most; each goes from
///     `from` to its peer, and to `to`, where that is neither null nor `from`. Of this rank itself to `to` only. A
///     part's lines, and those it lies behind, are no more than a channel has. All of `from` has been read when it
///     returns.
/// await_all(), await_all(finds)
///     True once every peer has arrived with the same signature: its staging may be written from then on. And the
///     buffers of all, or of the peers of which finds(peer) is true, are found: the recv buffer may be written, the
///     send buffer and slots of its own be read. False also where one of these names a region that is gone. A peer that
///     waits for nothing of this engine's but its arrival may have ended the operation, and have freed its memory:
///     finds(peer) is to be false.
/// verify_arrivals()
///     For algorithms that need no address: compares signatures, possibly while the operation goes on; finish() has the
///     result.
/// send_of(peer), recv_of(peer)
///     The peer's buffers, after an await_all() that has found them; before, anything.
/// finish()
///     Ends the operation on this engine; nothing of the peers' memory may be touched after. True if it has completed;
///     otherwise the epoch stays as it was.
///
/// Every operation awaits every peer or verifies the arrivals before it finishes: that is what tells the next ones that
/// arrival lines, packets, data lines and all staging are free again.
///
/// ## Data
///
/// copy(destination, source, bytes)
///     From local memory to a Remote. Zero bytes: nothing. They must not overlap unless equal: then nothing, too.
/// copy_from(destination, source, bytes)
///     The same from a Remote to local memory.
/// copy_own(destination, source, bytes)
///     Within this rank, where nothing else of the operation reads or writes: done when the next copy() of as many
///     bytes, signal_all() or signal() returns, beside other copies if that is faster. At most one is under way.
/// sources(count, remote_of), destinations(count, remote_of)
///     The Remotes remote_of(0) ... remote_of(count - 1), at most max_ranks, as reduce() and its parts take them: one
///     list of each kind. It may be read as soon as it has been returned; before it is made again, one of the methods
///     that order (below) has to come after its last reading.
/// reduce<T>(destinations, number of destinations, sources, count, op)
///     Every destination gets, element by element, the size() sources combined in the order given, with the arithmetic
///     of element/reduce.hpp. A destination may equal a source. Any alignment will do.
/// accumulate<T>(destination, partial, sources, number of sources, count, op)
///     A part of a reduction, which other ranks may have begun and may go on with: the sources, one at least, join what
///     `partial` holds in the order given, or begin, where it is null. `partial` and the destination hold Accumulators
///     of element/reduce.hpp and are aligned to 16 bytes; `partial` is this rank's memory.
/// complete<T>(destinations, number of destinations, partial, sources, number of sources, count, op)
///     Its last part: every destination gets what reduce() makes of the sources of all parts together. A destination
///     may equal a source.
/// order_here()
///     What comes after may read what reduce() has written before it, and make lists again.
///
/// ## Order between ranks
///
/// signal_all(step)
///     Everything that this engine has copied or reduced to peers, or into slots of its own, before is visible to a
///     peer that has seen this signal, and what it has read before may be written again. Steps of an operation count
///     up from 1.
/// wait_all(step)
///     True once every peer's signal of `step`, or of a later one, has come.
/// wait(peer, step)
///     The same of one peer: what it has stored here, or in slots of its own, may be read, and passed on to others.
/// signal(peer, step)
///     signal_all() for one peer. Each peer sees its own steps count up.
/// credit_all(step), wait_credits(step), credit(peer, step), wait_credit(peer, step)
///     The same in the other direction, where no signal goes there in time: "I have read what you stored in step".
/// segment_bytes(), staging_at(peer, slot), staging_from(peer, slot)
///     Staging, two slots per peer: at the peer for this rank's data; here, for the peer's. All channels have the same
///     slots, and use their parts of them. Free at the peer once it has arrived; again once it has read the step that
///     filled the slot, and said so by a credit or a later signal.
/// staging_of(rank, slot)
///     Every rank's slots for itself, for what it has for all: it fills its own, the peers read them after its signal.
///     Free once all have arrived; again once all have read the step that filled the slot, and said so.
/// early_bytes(places), early_of(rank)
///     Every rank's own early staging, for the beginning of what it has for others: this channel's. It may be divided
///     into places, which begin at multiples of copy_granule, each for this channel's part, share(bytes, copy_granule),
///     of early_bytes(places) at most, which may be 0. Free after begin(), whoever has arrived; the peers read it after
///     its signal.
/// take_packets_from_each(destination, stride, bytes)
///     What each peer has put here, as many bytes as it has put, to destination + peer * stride. A failed wait shows at
///     finish().
/// take_packets_from(peer, destination, bytes)
///     What one peer has put here; the others may have put nothing.
/// reduce_packets_to<T>(destination, own, count, op)
///     What all peers have put and this rank's own elements, combined in the order of ranks. destination may equal own.
/// take_lines(parts, most_bytes, part_of)
///     LineParts that peers have put here with begin_with_lines() or relay_lines(), as many bytes as they have put: to
///     `to`. A failed wait shows at finish().
/// relay_lines(from, to, bytes)
///     Takes what `from` has put here to `to`, and puts it to every other peer as it comes.
/// pass_lines(pass)
///     A LinePass: bytes that go in lines from rank to rank, any number of them. The lines of all peers' buffers are
///     one ring for it, whose places are used again when the next rank has taken what lay there; it says so in the
///     words of signals and credits. So an operation has one pass, and no other lines or credits; and signals only to
///     the rank after, which then must not be the one before as well. A failed wait shows at finish().
/// reduce_lines_to<T>(destination, own, count, op)
///     As reduce_packets_to(), of lines. Each peer's lines of an operation are taken once.
/// reduce_and_relay_lines<T>(destination, own, count, op, behind)
///     The same, and puts the result to every peer as it comes, in lines behind those of a part of `behind` bytes.
///
/// Between ranks only arrivals, signals, credits, packets and lines order anything. Within a rank, what one method has
/// written or read is ordered before a later method only where a begin, await_all, verify, signal, credit, wait or
/// order_here lies between them: a block's threads come together there, after the making of a list, and nowhere
/// else. The host engine happens to keep program order.
///
/// ## Failure
///
/// Every wait ends: by its condition, by the communicator's deadline, or because a peer's waiter or this rank's host
/// has given up; a wait whose condition is there may still succeed then. A waiter that finds the cause itself records
/// it, the first of its rank (Control::record), and tells all ranks; one that is told passes that on to its host
/// (Control::seen). After a method has returned false the others may still be called: they change nothing at peers or
/// here, and return false. A kernel's block learns of a failure at a barrier, all of its threads together.
///
/// ## What an engine leaves out
///
/// Kernel and host engine: nothing. The kernel engine has besides, for what copy engines push (collectives/pushed.hpp):
///   - attach(arrival), in place of begin(): joins the operation that a kernel before this one on the stream, or the
///     other block of the channel, has begun, and that is not finished.
///   - channels(): how many engines the operation has.
///   - pushes(peer), after an await_all() that has found the peer: whether its copy engines push to this rank.
///   - await_pushed(pieces): true once so many pieces have come from every peer that pushes.
/// Half a channel's (kernel/half_engine.cuh): all but rank, size, channel, begin, await_all, verify_arrivals, share,
/// copy, copy_own, local, recv_of, signal, wait, pass_lines and finish; tests/contract leaves it out. The host engine
/// has a meet(arrival) besides, which may come before begin(), arrival_of(peer) after it, and what broadcast/pull.hpp
/// asks it. Copy engine: begin_with_packets, begin_with_lines, verify_arrivals, packets, lines, channel, staging_of,
/// early_of, what signals or credits one peer or waits for its credit, copy_from, accumulate, complete and
/// order_here; reduce() has one destination, local, and the constructor's type. It enqueues, which makes it a
/// narrower contract:
///   - begin() waits, on the stream, for all arrivals; addresses come from the host (set_peer) or are staging, so
///     await_all() finds nothing, nor what is gone.
///   - Methods that return bool return true. Failures show in Control, and in epochs that stay, once the stream gets
///     there; copies that have been enqueued run all the same.
///   - Copies, but copy_own(), happen between their call and the next signal_all() or wait(), in no order among each
///     other; after the last one, perhaps never. They wait for begin() and for wait() and wait_credits() before them,
///     and for nothing else: not for wait_all(), nor for reduce(). Nor does signal_all() wait for reduce(): what it
///     reads is free after credits only. copy_own() is done, in the stream's order, by the next signal_all() or
///     finish(); there may be several.
namespace baton::core {

/// Shares of large copies start at multiples of this: a line that two channels write halves of crosses the links twice.
inline constexpr std::uint64_t copy_granule = 128;

/// What a channel can put into each of the places, one or more, that its early staging of so many bytes is divided
/// into.
BATON_HD constexpr std::uint64_t early_place_bytes(std::uint64_t bytes, int places) {
    return bytes / static_cast<std::uint64_t>(places) / copy_granule * copy_granule;
}

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};

/// Bytes of one peer's that go in lines. What is sent lies at `from`; what is taken comes to `to`. The lines begin at
/// the first one of the peer's buffer, or behind those of a part of `behind` bytes.
struct LinePart {
    int peer = 0;
    std::uint64_t bytes = 0;
    const std::byte *from = nullptr;
    std::byte *to = nullptr;
    std::uint64_t behind = 0;
};

inline constexpr int no_rank = -1;

/// Bytes that come from a rank in lines, or lie at `from` where there is none before; they go to `to`, which may be
/// `from`, and on to another rank, if there is one. The ranks before and after have passes of as many bytes that say
/// the same of this one.
struct LinePass {
    int before = no_rank;
    int after = no_rank;
    const std::byte *from = nullptr;
    std::byte *to = nullptr;
    std::uint64_t bytes = 0;
};

/// A pass goes by runs of so many lines; the kernels' rings hold one at least for each block.
inline constexpr unsigned lines_of_run = 16;

/// Splits [0, bytes) into `parts` ranges that start at multiples of `granule`; the last ones may be short or empty.
BATON_HD inline Range split(std::uint64_t bytes, std::uint64_t granule, int parts, int index) {
    const std::uint64_t per = round_up(ceil_divide(bytes, static_cast<std::uint64_t>(parts)), granule);
    const std::uint64_t begin =
        per * static_cast<std::uint64_t>(index) < bytes ? per * static_cast<std::uint64_t>(index) : bytes;
    const std::uint64_t end = begin + per < bytes ? begin + per : bytes;
    return {begin, end - begin};
}

/// How many of the `parts` are not empty; 1 if there are no bytes.
BATON_HD inline int shares_of(std::uint64_t bytes, std::uint64_t granule, int parts) {
    const std::uint64_t share = split(bytes, granule, parts, 0).bytes;
    return share == 0 ? 1 : static_cast<int>(ceil_divide(bytes, share));
}

/// Semaphore value of a step: grows with the epoch, then with the step, for epochs below 2^(64 - step_bits).
BATON_HD inline std::uint64_t step_value(std::uint64_t epoch, std::uint64_t step) { return epoch << step_bits | step; }
BATON_HD inline unsigned step_of(std::uint64_t value) { return static_cast<unsigned>(value) % (1u << step_bits); }

/// What a line carries that lies in a ring which has been gone round so many times in this operation, for epochs as
/// above. 0 rounds: the epoch, as lines carry it that are not in a ring.
BATON_HD inline std::uint64_t epoch_of_round(std::uint64_t epoch, std::uint64_t rounds) {
    return epoch | rounds << (64 - step_bits);
}

}  // namespace baton::core
