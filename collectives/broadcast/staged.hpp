#pragma once

#include "collectives/args.hpp"
#include "collectives/broadcast/share.hpp"
#include "collectives/segments.hpp"

/// Broadcast through the peers' staging, for memory that peers cannot reach: push.hpp's scatter and relays.
///   Shares are cut into segments, those into a part for each channel; step s moves segment s of every share, two in
///   flight.
///   Root:   1. Copy the segment of share p into rank p's staging, for every p; signal.
///           2. Credit at once: nothing is stored here. After the last step, copy its own result.
///   Others: 1. Wait for the root's signal; copy the segment of my share into the other ranks' staging; signal.
///           2. Wait for all; copy the segments of all shares from my staging to my receive buffer; credit.
/// Steps: share / segment, + 1 flight. Wire: buffer bytes from the root, (n-2)/(n-1) of that from the others, copied
/// twice. Synchronisation: arrival, then signal and credit per pair and step. Scratch: two segments per peer.
namespace baton::core {

template <class Engine>
class BroadcastStaged {
public:
    BATON_HD BroadcastStaged(Engine &engine, const CollectiveArgs &args)
        : engine_(engine),
          args_(args),
          largest_(largest_broadcast_share(args.chunk, engine.size())),
          segments_(engine, largest_) {}

    BATON_HD void run() {
        if (!engine_.begin(args_.arrival) || !engine_.await_all()) return;
        const bool root = engine_.rank() == args_.root;
        std::uint64_t step = 0;
        for (std::uint64_t offset = 0; offset < largest_; offset += segments_.bytes()) {
            ++step;
            if (step > 2 && !engine_.wait_credits(step - 2)) return;
            if (root) {
                scatter(step, offset);
            } else if (!relay(step, offset) || !take(step, offset)) {
                return;
            }
            engine_.credit_all(step);
        }
        if (root) {
            const Range own = engine_.share(args_.chunk, copy_granule);
            engine_.copy(engine_.local(args_.recv + own.begin), args_.send + own.begin, own.bytes);
        }
        engine_.finish();
    }

private:
    static BATON_HD int slot_of(std::uint64_t step) { return static_cast<int>(step & 1); }

    /// This channel's part of the segment at `offset` of rank `of`'s share: where in the buffer, and where in staging.
    /// The last shares may be short or empty.
    struct Part {
        std::uint64_t begin;
        std::uint64_t staged;
        std::uint64_t bytes;
    };
    BATON_HD Part part_of(int of, std::uint64_t offset) const {
        const Range share = broadcast_share(args_.chunk, engine_.size(), args_.root, of);
        const std::uint64_t begin = offset < share.bytes ? offset : share.bytes;
        const Range part = segments_.part(share.bytes - begin);
        return {share.begin + begin + part.begin, part.begin, part.bytes};
    }

    BATON_HD void scatter(std::uint64_t step, std::uint64_t offset) {
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            const Part part = part_of(peer, offset);
            engine_.copy(engine_.staging_at(peer, slot_of(step)) + part.staged, args_.send + part.begin, part.bytes);
        }
        engine_.signal_all(step);
    }

    BATON_HD bool relay(std::uint64_t step, std::uint64_t offset) {
        if (!engine_.wait(args_.root, step)) return false;
        const Part part = part_of(engine_.rank(), offset);
        const std::byte *const from = engine_.staging_from(args_.root, slot_of(step)) + part.staged;
        for (int at = 1; at < engine_.size(); ++at) {
            const int peer = engine_.peer_at(at);
            if (peer == args_.root) continue;
            engine_.copy(engine_.staging_at(peer, slot_of(step)) + part.staged, from, part.bytes);
        }
        engine_.signal_all(step);
        return true;
    }

    /// My own share came from the root, every other one from the rank whose it is.
    BATON_HD bool take(std::uint64_t step, std::uint64_t offset) {
        if (!engine_.wait_all(step)) return false;
        for (int of = 0; of < engine_.size(); ++of) {
            if (of == args_.root) continue;
            const int from = of == engine_.rank() ? args_.root : of;
            const Part part = part_of(of, offset);
            engine_.copy(engine_.local(args_.recv + part.begin),
                         engine_.staging_from(from, slot_of(step)) + part.staged, part.bytes);
        }
        return true;
    }

    Engine &engine_;
    const CollectiveArgs &args_;
    const std::uint64_t largest_;  // share
    const Segments segments_;
};

}  // namespace baton::core
