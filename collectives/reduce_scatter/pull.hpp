#pragma once

#include "collectives/args.hpp"
#include "collectives/fetch.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"
#include "util/overlap.hpp"

/// Reduce-scatter by pulling: every rank reads its block from all peers and combines as it reads.
///   1. Tell every peer where my input is; wait for all.
///   2. Read block `rank` of every rank's input in rank order, combine, store the result. Copy engines, of two
///      ranks only, where send and recv do not overlap, fetch the peer's block to where the result will be and combine
///      it there (fetch.hpp). With more ranks recv has no room for all blocks, and small pieces come later than what is
///      read (docs/experiments.md).
///   3. Signal all: your input is free. Wait for all.
/// Steps: 1. Wire: (n-1) block bytes per rank, read. Synchronisation: arrival and signal per pair. Scratch: none;
/// in place as MPI's (send == recv) a block for the result, on all ranks but 0, since peers still read what it goes
/// over.
namespace baton::core {

/// Whether there is room for what copy engines fetch; where not, a kernel does it.
inline bool has_room_for_block(const CollectiveArgs &args, int ranks) {
    return ranks == 2 && !overlap(args.send, 2 * args.bytes, args.recv, args.bytes);
}

template <class T, class Engine>
BATON_HD void reduce_scatter_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range part = engine.share(args.bytes, 16);
    const std::uint64_t place = static_cast<std::uint64_t>(engine.rank()) * args.bytes + part.begin;
    if constexpr (Engine::fetches) {  // REQUIRES: has_room_for_block()
        reduce_fetched<T>(engine, args, place, args.recv, args.bytes,
                          [&](int /*peer*/) { return args.recv + head_of(args.bytes); });
        engine.copy_after_reduce();  // a signal does not wait for what has been read
    } else {
        reduce_inputs<T>(engine, args, place, args.recv + part.begin, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
