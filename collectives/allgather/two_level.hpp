#pragma once

#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Allgather for islands: GPUs with fast links within an island and slow ones between. A block goes into each other
/// island once.
/// In an island of m ranks, the one at place p receives from the ranks at places p, p + m, p + 2m, ... of the other
/// islands, so every partition of the ranks will do.
///   1. Tell every peer where my receive buffer is; copy my own block beside what follows. Wait for all.
///   2. Copy my block to my counterpart in every other island; signal it. Then to my island's ranks.
///   3. Copy the blocks that other islands send here to my island's ranks, as they come.
///   4. Signal my island's ranks; wait for them.
/// Steps: 2. Wire, k islands of m: (k-1) block bytes per rank between islands, k (m-1) within. Synchronisation:
/// arrival, then signals to counterparts and to the island. Scratch: none.
namespace baton::core {

template <class Engine>
class AllgatherTwoLevel {
public:
    BATON_HD AllgatherTwoLevel(Engine &engine, const RoutedArgs &args)
        : engine_(engine), args_(args), route_(args.route), part_(engine.share(args.bytes, copy_granule)) {}

    BATON_HD void run() {
        if (!engine_.begin(args_.arrival)) return;
        const std::byte *own = args_.send + part_.begin;
        engine_.copy_own(args_.recv + place(engine_.rank()), own, part_.bytes);
        if (!engine_.await_all()) return;
        send_to_other_islands(own);
        give_to_island(engine_.rank(), own);
        if (!pass_on_what_comes() || !agree_with_island()) return;
        engine_.finish();
    }

private:
    BATON_HD std::uint64_t place(int of) const { return static_cast<std::uint64_t>(of) * args_.bytes + part_.begin; }
    BATON_HD int island_size() const { return route_.size_of(route_.own_group); }
    /// Another rank of the island, for each step from 1 on.
    BATON_HD int mate(int step) const {
        return route_.rank_of(route_.own_group, (route_.own_place + step) % island_size());
    }

    BATON_HD void send_to_other_islands(const std::byte *own) {
        for (int step = 1; step < route_.groups; ++step) {
            const int island = (route_.own_group + step) % route_.groups;
            const int peer = route_.rank_of(island, route_.own_place % route_.size_of(island));
            engine_.copy(engine_.recv_of(peer) + place(engine_.rank()), own, part_.bytes);
            engine_.signal(peer, 1);
        }
    }
    BATON_HD void give_to_island(int of, const std::byte *block) {
        for (int step = 1; step < island_size(); ++step) {
            engine_.copy(engine_.recv_of(mate(step)) + place(of), block, part_.bytes);
        }
    }
    /// In the order in which the other islands send.
    BATON_HD bool pass_on_what_comes() {
        for (int step = 1; step < route_.groups; ++step) {
            const int island = (route_.own_group + route_.groups - step) % route_.groups;
            for (int at = route_.own_place; at < route_.size_of(island); at += island_size()) {
                const int of = route_.rank_of(island, at);
                if (!engine_.wait(of, 1)) return false;
                give_to_island(of, args_.recv + place(of));
            }
        }
        return true;
    }
    BATON_HD bool agree_with_island() {
        for (int step = 1; step < island_size(); ++step) engine_.signal(mate(step), 2);
        for (int step = 1; step < island_size(); ++step) {
            if (!engine_.wait(mate(step), 2)) return false;
        }
        return true;
    }

    Engine &engine_;
    const RoutedArgs &args_;
    const Route &route_;
    const Range part_;
};

}  // namespace baton::core
