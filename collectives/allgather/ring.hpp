#pragma once

#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Allgather round a ring, for GPUs that only their neighbours reach over fast links.
///   1. Tell every peer where my receive buffer is; copy my own chunk beside what follows. Wait for all.
///   2. Step s: copy the chunk of the rank s - 1 places before me to its place in the next one's receive buffer: first
///   my own, then what has come in the step before. Signal the next one; wait for the one before.
/// All links of the ring carry a chunk in every step, so cutting chunks into segments would only add signals.
/// Steps: n - 1. Wire: (n-1) chunk bytes per rank, to the next one only. Synchronisation: arrival, then a signal to the
/// next one per step. Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD void allgather_ring(Engine &engine, const RoutedArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.chunk, line_bytes);
    const int n = engine.size();
    const auto before = [&](int steps) { return args.route.rank_of((args.route.own_group + n - steps) % n, 0); };
    const auto place = [&](int of) { return static_cast<std::uint64_t>(of) * args.chunk + part.begin; };
    engine.copy_own(args.recv + place(engine.rank()), args.send + part.begin, part.bytes);
    if (!engine.await_all()) return;
    const int next = before(n - 1);
    for (int step = 1; step < n; ++step) {
        const int of = before(step - 1);
        if (step > 1 && !engine.wait(before(1), static_cast<std::uint64_t>(step) - 1)) return;
        const std::byte *source = step == 1 ? args.send + part.begin : args.recv + place(of);
        engine.copy(engine.recv_of(next) + place(of), source, part.bytes);
        engine.signal(next, static_cast<std::uint64_t>(step));
    }
    if (!engine.wait(before(1), static_cast<std::uint64_t>(n) - 1)) return;
    engine.finish();
}

}  // namespace baton::core
