#pragma once

#include "collectives/pushed.hpp"

/// Allreduce by copy engines, for the largest vectors: in two phases like two_phase.hpp, both carried by copies.
///   1. Tell every peer where my buffers are; wait for all.
///   2. Copy engines push each peer's n-th to it, into the n-th of its receive buffer that my result will come to
///      (pushed.hpp). A kernel combines mine in rank order, piece by piece, into my receive buffer.
///   3. Credit all, who may store their results now; wait for the credits of all.
///   4. Copy the result to every peer's receive buffer, by copy engines.
///   5. Signal all; wait for all.
/// This is the kernel of steps 2 and 3; on a rank that does not know the peers' buffers in time it does all steps
/// (push_inputs.hpp). In place is safe: nobody pushes to a rank that is in place, and another rank's n-th of its vector
/// is stored over by that rank alone, after it has been pushed or read.
/// Steps: 2. Wire: 2 (n-1)/n vector bytes per rank. Synchronisation: arrival, credit and signal per pair, and a word
/// for each piece. Scratch: none.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_push(Engine &engine, const CollectiveArgs &args) {
    if (!begin_or_join(engine, args)) return;
    const PushedInputs inputs(true, args.bytes, engine.size());
    if (!combine_pushed<T>(engine, args, inputs)) return;
    engine.credit_all(1);
    if (!engine.wait_credits(1) || args.ended_behind) return;
    const Range owned = inputs.part_of(engine.rank());
    for (int at = 1; at < engine.size(); ++at) {
        std::byte *const to = engine.recv_of(engine.peer_at(at)) + owned.begin;
        for (HeadAndPieces pieces(owned.bytes, inputs.ranks()); pieces.more(); pieces.next()) {
            const Range share = own_share(engine, pieces);
            engine.copy(to + share.begin, args.recv + owned.begin + share.begin, share.bytes);
        }
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
