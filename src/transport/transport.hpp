#pragma once

#include <cstdint>

#include "sync/comm_view.hpp"

/// The contract of a transport. An algorithm is written once, as a template over an Engine, and runs as one block of a
/// GPU kernel (kernel/engine.cuh), as one thread on shared host memory (host/engine.hpp), or as a sequence of
/// copy-engine transfers enqueued on a stream (copy_engine/engine.hpp). tests/contract checks all of them against this
/// text.
///
/// An engine is one channel of one operation on one rank. All ranks run the same algorithm with the same channels.
///
/// begin(arrival)        Starts the operation: takes the channel's next epoch and tells every peer what this rank does
/// and where
///                       its buffers are. False if the communicator is broken.
/// await(peer)           True once `peer` has arrived with the same signature; its buffers are known and its recv
/// buffer may
///   await_all()         be written, its send buffer read, its staging written. False ends the operation.
/// verify_arrivals()     For algorithms that need no address: compares signatures, possibly while the operation goes
/// on. What
///                       put_packets_* were given has been read when it returns.
/// send_of/recv_of(peer) The peer's buffers, after await(peer). Remote + bytes is a Remote.
/// local(pointer)        A Remote that is this rank's own memory.
/// share(bytes, granule) The part of [0, bytes) that belongs to this channel; parts start at multiples of granule.
/// copy(dst, src, n)     Copies n bytes of local memory to a Remote. Zero bytes: nothing. Source and destination must
/// not
///                       overlap unless equal.
/// reduce<T>(...)        Every destination gets, element by element, the sources combined in the order given. A
/// destination
///                       may equal a source.
/// signal_all(step)      Everything that this channel has copied or reduced to peers before is visible to a peer that
/// has
///                       seen this signal. Steps of an operation count up from 1.
/// wait_all(step)        True once every peer's signal of `step` has come.
/// credit_all/wait_credits(step)  The same pair in the other direction: "I have read what you stored in step".
/// segment_bytes(), staging_at(peer, slot), staging_from(peer, slot)
///                       Staging of this channel: at the peer for this rank's data; here, for the peer's. Two slots.
///                       Free at the peer once it has arrived; again once it has credited the step that filled the
///                       slot.
/// put_packets, take_packets, reduce_packets
///                       Data that carries its epoch: through the peers' packet buffers, without waiting for anybody.
/// finish()              Ends the operation on this channel; nothing of the peers' memory may be touched after. True if
///                       the operation completed.
///
/// After a method returned false the others may still be called; they do nothing or return false.
/// Ordering: an engine's methods take effect in program order for this rank; between ranks only signals, credits,
/// packets and arrivals order anything.
namespace baton::core {

/// Shares of large copies start at multiples of this: a line that two channels write halves of crosses the links twice.
inline constexpr std::uint64_t line_bytes = 128;

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};

/// Splits [0, bytes) into `parts` ranges that start at multiples of `granule`; the last ones may be short or empty.
BATON_HD inline Range split(std::uint64_t bytes, std::uint64_t granule, int parts, int index) {
    const auto count = static_cast<std::uint64_t>(parts);
    const std::uint64_t per = ((bytes + count - 1) / count + granule - 1) / granule * granule;
    const std::uint64_t begin =
        per * static_cast<std::uint64_t>(index) < bytes ? per * static_cast<std::uint64_t>(index) : bytes;
    const std::uint64_t end = begin + per < bytes ? begin + per : bytes;
    return {begin, end - begin};
}

/// Semaphore value of a step: grows with the epoch, then with the step.
BATON_HD inline std::uint64_t step_value(std::uint64_t epoch, std::uint64_t step) { return epoch << step_bits | step; }

}  // namespace baton::core
