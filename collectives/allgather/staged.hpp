#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allgather through staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   First my block's early part, then segment by segment of the rest, two in flight, each channel with its part of
///   each:
///   1. Copy it into my own staging, once for all peers, the early part before anybody has arrived; signal.
///   2. Wait for all; copy the peers' from their staging to my receive buffer.
/// Steps: 1 + rest / segment. Wire: (n-1) block bytes per rank, read; the block is copied once more. Synchronisation: a
/// signal per pair and step; arrivals, which are waited for behind the early part. Scratch: early staging, two
/// segments.
namespace baton::core {

template <class Engine>
class AllgatherStaged {
public:
    BATON_HD AllgatherStaged(Engine &engine, const CollectiveArgs &args)
        : engine_(engine), args_(args), early_(engine, args.bytes) {}

    BATON_HD void run() {
        if (!engine_.begin(args_.arrival)) return;
        if (early_.bytes() > 0) stage(engine_.early_of(engine_.rank()), early_.part(), 1);
        const Range own = engine_.share(args_.bytes, copy_granule);
        engine_.copy(engine_.local(place(engine_.rank(), own)), args_.send + own.begin, own.bytes);
        if (early_.bytes() == args_.bytes) {
            engine_.verify_arrivals();
        } else if (!engine_.await_all()) {
            return;
        }
        if (early_.bytes() > 0 && !fetch(early_.part(), 1, [&](int peer) { return engine_.early_of(peer); })) return;
        for (SegmentSteps at(engine_, args_.bytes, early_); at.more(); at.next()) {
            const auto staged = [&](int of) { return engine_.staging_of(of, at.slot()) + at.staged(); };
            stage(staged(engine_.rank()), at.part(), at.step());
            if (!fetch(at.part(), at.step(), staged)) return;
        }
        engine_.finish();
    }

private:
    BATON_HD void stage(typename Engine::Remote to, const Range &part, std::uint64_t step) {
        engine_.copy(to, args_.send + part.begin, part.bytes);
        engine_.signal_all(step);
    }

    template <class StagedBy>
    BATON_HD bool fetch(const Range &part, std::uint64_t step, const StagedBy &staged_by) {
        if (!engine_.wait_all(step)) return false;
        for (int index = 1; index < engine_.size(); ++index) {
            const int peer = engine_.peer_at(index);
            engine_.copy_from(place(peer, part), staged_by(peer), part.bytes);
        }
        return true;
    }

    BATON_HD std::byte *place(int of, const Range &part) const {
        return args_.recv + static_cast<std::uint64_t>(of) * args_.bytes + part.begin;
    }

    Engine &engine_;
    const CollectiveArgs &args_;
    const EarlyPart early_;
};

}  // namespace baton::core
