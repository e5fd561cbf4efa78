#pragma once

#include "collectives/pushed.hpp"

/// Reduce-scatter of two ranks by copy engines. With more, the receive buffer has no room for what is pushed, and small
/// pieces come later than what is read (docs/experiments.md).
///   1. Tell the peer where my buffers are; wait for it.
///   2. Copy engines push the peer's block to where its result will be (pushed.hpp). A kernel combines mine there,
///      piece by piece.
///   3. Signal: your input is free, and your block is in mine. Wait.
/// This kernel does all but the pushes; where there are any, a kernel before it does begin() (push_inputs.hpp).
/// Steps: 1. Wire: a block per rank. Synchronisation: arrival and signal, and a word for each piece. Scratch: none; in
/// place as in MPI (send == recv) a block for the result on rank 1, as in pull.hpp.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_push(Engine &engine, const CollectiveArgs &args) {
    if (!begin_or_join(engine, args)) return;
    if (!combine_pushed<T>(engine, args, PushedInputs(false, args.bytes, engine.size()))) return;
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
