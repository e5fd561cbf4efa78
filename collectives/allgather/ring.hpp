#pragma once

#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Allgather round a ring, for GPUs that only their neighbours reach over fast links. Half of a block goes round one
/// way, half the other, because links carry both ways at once.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Step s: copy half of the block of the rank s - 1 places before me to its place in the next rank's receive
///      buffer, and half of the block of the rank s - 1 places after me into the receive buffer of the rank before:
///      first my own block, then what the step before has brought. Signal both; copy my own block to its place while
///      the first step flies; wait for both.
/// All links of the ring carry half a block each way in every step, so cutting blocks further would only add signals.
/// Steps: n - 1. Wire: (n-1) block bytes per rank, to its neighbours only. Synchronisation: arrival, then a signal to
/// either neighbour per step. Scratch: none.
namespace baton::core {

template <class Engine>
class AllgatherRing {
public:
    BATON_HD AllgatherRing(Engine &engine, const RoutedArgs &args)
        : engine_(engine), args_(args), part_(engine.share(args.bytes, copy_granule)) {}

    BATON_HD void run() {
        if (!engine_.begin(args_.arrival) || !engine_.await_all()) return;
        const int last = engine_.size() - 1;
        for (int step = 1; step <= last; ++step) {
            if (step > 1 && !wait_for_both(step - 1)) return;
            pass_on(step, 1);
            pass_on(step, -1);
            // After both copies: with two ranks both neighbours are one.
            engine_.signal(rank_at(1), static_cast<std::uint64_t>(step));
            engine_.signal(rank_at(-1), static_cast<std::uint64_t>(step));
            if (step == 1) engine_.copy(engine_.local(args_.recv + place(engine_.rank())), own(), part_.bytes);
        }
        if (!wait_for_both(last)) return;
        engine_.finish();
    }

private:
    /// The rank so many places on from this one, -size() .. size().
    BATON_HD int rank_at(int places) const {
        const int n = engine_.size();
        return args_.route.rank_of((args_.route.own_group + n + places) % n, 0);
    }
    BATON_HD std::uint64_t place(int of) const { return static_cast<std::uint64_t>(of) * args_.bytes + part_.begin; }
    BATON_HD const std::byte *own() const { return args_.send + part_.begin; }

    /// Copies half of a block one place on in a direction, 1 or -1.
    BATON_HD void pass_on(int step, int direction) {
        const Range half = split(part_.bytes, copy_granule, 2, direction == 1 ? 0 : 1);
        const int of = rank_at(-direction * (step - 1));
        const std::byte *block = step == 1 ? own() : args_.recv + place(of);
        engine_.copy(engine_.recv_of(rank_at(direction)) + place(of) + half.begin, block + half.begin, half.bytes);
    }
    BATON_HD bool wait_for_both(int step) {
        return engine_.wait(rank_at(1), static_cast<std::uint64_t>(step)) &&
               engine_.wait(rank_at(-1), static_cast<std::uint64_t>(step));
    }

    Engine &engine_;
    const RoutedArgs &args_;
    const Range part_;
};

}  // namespace baton::core
