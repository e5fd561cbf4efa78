#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allreduce through staging, for memory that peers cannot reach: a reduce-scatter step and an allgather step in turn.
///   The vector is cut into n-ths; segment by segment of an n-th, each channel with its part of a segment:
///   1. Odd step: copy the segment of n-th p into peer p's staging; signal; wait; combine mine in rank order into recv;
///   credit.
///   2. Even step: copy the combined segment into every peer's staging; signal; wait; copy the peers' out; credit.
/// Odd steps use staging slot 1, even steps slot 0, so a step waits for the credit of the step two before.
/// Steps: 2 (vector / n) / segment. Wire: 2 (n-1)/n vector bytes per rank, copied twice.
/// Synchronisation: arrival per pair, signal and credit per pair and step. Scratch: two segments per peer.
namespace baton::core {

template <class Engine>
class AllreduceStaged {
public:
    BATON_HD AllreduceStaged(Engine &engine, const CollectiveArgs &args)
        : engine_(engine),
          args_(args),
          largest_(split(args.chunk, 16, engine.size(), 0).bytes),
          segments_(engine, largest_) {}

    template <class T>
    BATON_HD void run() {
        if (!engine_.begin(args_.arrival) || !engine_.await_all()) return;
        std::uint64_t step = 0;
        for (std::uint64_t offset = 0; offset < largest_; offset += segments_.bytes()) {
            if (!scatter_and_combine<T>(++step, offset) || !gather(++step, offset)) return;
        }
        engine_.finish();
    }

private:
    /// This channel's part of the segment at `offset` of rank `of`'s n-th: where in the vector, and where in staging.
    /// The last n-ths may be short or empty.
    struct Part {
        std::uint64_t begin;
        std::uint64_t staged;
        std::uint64_t bytes;
    };
    BATON_HD Part part_of(int of, std::uint64_t offset) const {
        const Range owned = split(args_.chunk, 16, engine_.size(), of);
        const std::uint64_t begin = offset < owned.bytes ? offset : owned.bytes;
        const Range part = segments_.part(owned.bytes - begin);
        return {owned.begin + begin + part.begin, part.begin, part.bytes};
    }

    template <class T>
    BATON_HD bool scatter_and_combine(std::uint64_t step, std::uint64_t offset) {
        const int slot = static_cast<int>(step & 1);
        if (step > 2 && !engine_.wait_credits(step - 2)) return false;
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            const Part part = part_of(peer, offset);
            engine_.copy(engine_.staging_at(peer, slot) + part.staged, args_.send + part.begin, part.bytes);
        }
        engine_.signal_all(step);
        if (!engine_.wait_all(step)) return false;
        const Part mine = part_of(engine_.rank(), offset);
        const auto *const sources = engine_.sources(engine_.size(), [&](int of) {
            return engine_.local(of == engine_.rank() ? args_.send + mine.begin
                                                      : engine_.staging_from(of, slot) + mine.staged);
        });
        const typename Engine::Remote destination[1] = {engine_.local(args_.recv + mine.begin)};
        engine_.template reduce<T>(destination, 1, sources, mine.bytes / sizeof(T), args_.op);
        engine_.credit_all(step);
        return true;
    }

    BATON_HD bool gather(std::uint64_t step, std::uint64_t offset) {
        const int slot = static_cast<int>(step & 1);
        if (step > 2 && !engine_.wait_credits(step - 2)) return false;
        const Part mine = part_of(engine_.rank(), offset);
        for (int at = 1; at < engine_.size(); ++at) {
            engine_.copy(engine_.staging_at(engine_.peer_at(at), slot) + mine.staged, args_.recv + mine.begin,
                         mine.bytes);
        }
        engine_.signal_all(step);
        if (!engine_.wait_all(step)) return false;
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            const Part part = part_of(peer, offset);
            engine_.copy(engine_.local(args_.recv + part.begin), engine_.staging_from(peer, slot) + part.staged,
                         part.bytes);
        }
        engine_.credit_all(step);
        return true;
    }

    Engine &engine_;
    const CollectiveArgs &args_;
    const std::uint64_t largest_;  // n-th
    const Segments segments_;
};

}  // namespace baton::core
