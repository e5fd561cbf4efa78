#pragma once

#include "collectives/args.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"

/// Reduce-scatter by pulling: every rank reads its block from all peers and combines as it reads.
///   1. Tell every peer where my input is; wait for all.
///   2. Read block `rank` of every rank's input in rank order, combine, store the result.
///   3. Signal all: your input is free. Wait for all.
/// Steps: 1. Wire: (n-1) block bytes per rank, read. Synchronisation: arrival and signal per pair. Scratch: none;
/// in place as in MPI (send == recv) a block for the result on all ranks but 0, since peers still read what the result
/// would be stored over.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const std::uint64_t place = static_cast<std::uint64_t>(engine.rank()) * args.bytes + part.begin;
    reduce_inputs<T>(engine, args, place, args.recv + part.begin, part.bytes);
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
