#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allreduce through staging, for memory that peers cannot reach, or only by a copy that costs more than two: a
/// reduce-scatter step and an allgather step in turn.
///   The vector is cut into n-ths; segment by segment of an n-th, each channel with its part of a segment:
///   1. Odd step: copy the segment of n-th p into peer p's staging; signal; wait; combine mine in rank order into recv
///   and, once for all peers, into my own staging; credit.
///   2. Even step: signal; wait; copy the peers' combined segments from their staging to recv; credit.
/// Odd steps use slot 1 of staging at peers, even steps slot 0 of their own, so a step waits for the credit of the step
/// two before (for form: a peer gives it before it signals the step that has been awaited).
/// Steps: 2 (vector / n) / segment. Wire: 2 (n-1)/n vector bytes per rank, half of them copied twice.
/// Synchronisation: arrival per pair, signal and credit per pair and step. Scratch: one segment per peer, and one.
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
            if (!scatter(++step, offset) || !combine<T>(step, offset) || !gather(++step, offset)) return;
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

    static BATON_HD int slot_of(std::uint64_t step) { return static_cast<int>(step & 1); }

    BATON_HD bool scatter(std::uint64_t step, std::uint64_t offset) {
        if (step > 2 && !engine_.wait_credits(step - 2)) return false;
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            const Part part = part_of(peer, offset);
            engine_.copy(engine_.staging_at(peer, slot_of(step)) + part.staged, args_.send + part.begin, part.bytes);
        }
        engine_.signal_all(step);
        return engine_.wait_all(step);
    }

    template <class T>
    BATON_HD bool combine(std::uint64_t step, std::uint64_t offset) {
        if (step > 1 && !engine_.wait_credits(step - 1)) return false;
        const Part mine = part_of(engine_.rank(), offset);
        const auto *const sources = engine_.sources(engine_.size(), [&](int of) {
            return engine_.local(of == engine_.rank() ? args_.send + mine.begin
                                                      : engine_.staging_from(of, slot_of(step)) + mine.staged);
        });
        const auto *const destinations = engine_.destinations(2, [&](int at) {
            return at == 0 ? engine_.local(args_.recv + mine.begin)
                           : engine_.staging_of(engine_.rank(), slot_of(step + 1)) + mine.staged;
        });
        engine_.template reduce<T>(destinations, 2, sources, mine.bytes / sizeof(T), args_.op);
        engine_.credit_all(step);
        return true;
    }

    BATON_HD bool gather(std::uint64_t step, std::uint64_t offset) {
        engine_.signal_all(step);
        if (!engine_.wait_all(step)) return false;
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            const Part part = part_of(peer, offset);
            engine_.copy_from(args_.recv + part.begin, engine_.staging_of(peer, slot_of(step)) + part.staged,
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
