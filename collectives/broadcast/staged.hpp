#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Broadcast through the root's staging, for memory that peers cannot reach, or only by a copy that costs more than
/// two.
///   First the early part, then segment by segment of the rest, two in flight, each channel with its part of each:
///   Root:   1. Copy it into its own staging, once for all, the early part before anybody has arrived; signal. Copy its
///              own result.
///   Others: 1. Wait for the root's signal; copy it from the root's staging to my receive buffer; credit.
/// So a short buffer is staged while peers still read the one of the operation before.
/// Steps: 1 + rest / segment. Wire: the buffer's bytes to each rank, read; the root copies them once more.
/// Synchronisation: per step a signal to each rank, and a credit from it if a step refills the slot; arrivals, which
/// the root waits for behind the early part. Scratch: early staging, two segments.
namespace baton::core {

template <class Engine>
class BroadcastStaged {
public:
    BATON_HD BroadcastStaged(Engine &engine, const CollectiveArgs &args)
        : engine_(engine), args_(args), early_(engine, args.bytes) {}

    BATON_HD void run() {
        if (!engine_.begin(args_.arrival)) return;
        if (engine_.rank() == args_.root ? send() : take()) engine_.finish();
    }

private:
    BATON_HD bool send() {
        if (early_.bytes() > 0) stage(engine_.early_of(args_.root), early_.part(), 1);
        if (!engine_.await_all()) return false;
        for (SegmentSteps at(engine_, args_.bytes, early_); at.more(); at.next()) {
            if (at.refills() && !engine_.wait_credits(at.step() - 2)) return false;
            stage(engine_.staging_of(args_.root, at.slot()) + at.staged(), at.part(), at.step());
        }
        return true;
    }

    BATON_HD bool take() {
        engine_.verify_arrivals();
        if (early_.bytes() > 0 && !fetch(engine_.early_of(args_.root), early_.part(), 1)) return false;
        for (SegmentSteps at(engine_, args_.bytes, early_); at.more(); at.next()) {
            if (!fetch(engine_.staging_of(args_.root, at.slot()) + at.staged(), at.part(), at.step())) return false;
            if (at.is_refilled()) engine_.credit(args_.root, at.step());
        }
        return true;
    }

    BATON_HD void stage(typename Engine::Remote to, const Range &part, std::uint64_t step) {
        engine_.copy(to, args_.send + part.begin, part.bytes);
        engine_.signal_all(step);
        engine_.copy(engine_.local(args_.recv + part.begin), args_.send + part.begin, part.bytes);
    }

    BATON_HD bool fetch(typename Engine::Remote from, const Range &part, std::uint64_t step) {
        if (!engine_.wait(args_.root, step)) return false;
        engine_.copy_from(args_.recv + part.begin, from, part.bytes);
        return true;
    }

    Engine &engine_;
    const CollectiveArgs &args_;
    const EarlyPart early_;
};

}  // namespace baton::core
