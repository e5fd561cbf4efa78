#pragma once

#include <cstdint>

#include "memory/region.hpp"
#include "sync/arena.hpp"
#include "sync/control.hpp"

namespace baton::core {

/// What an operation sees of its communicator: plain data, passed to kernels by value and to host workers by reference.
/// Constant from creation to destruction.
struct CommView {
    std::int32_t rank = 0;
    std::int32_t size = 0;
    std::uint64_t timeout_ns = 0;
    Control *control = nullptr;
    const RegionEntry *regions = nullptr;  // [size][region_slots], in host memory; use region_address()
    ArenaLayout layout;
    std::byte *arenas[max_ranks] = {};

    BATON_HD Arena arena(int owner) const { return {arenas[owner], &layout}; }
    BATON_HD Arena own() const { return arena(rank); }
    BATON_HD const RegionEntry *region(int owner, std::uint64_t slot) const {
        return regions + static_cast<std::uint64_t>(owner) * region_slots + slot;
    }
};

/// Ends this rank's waits, and its peers', with an error. Several threads may fail at once: the first writes the
/// record, all store the abort word (any of them will do). `theirs`: what the peer does, where that is the error.
BATON_HD inline void give_up(const CommView &view, baton_result code, const OperationPoint &point,
                             const Signature &theirs = Signature{}) {
    const std::uint64_t word = AbortWord::make(code, view.rank, point.peer);
    if (claim_once(&view.own().header()->claim)) {
        view.control->record = {static_cast<std::uint64_t>(code), point, theirs};
        store_release(&view.control->recorded, 1);
    }
    for (int peer = 0; peer < view.size; ++peer) store_relaxed(&view.arena(peer).header()->abort, word);
}

/// True if a peer has told this rank to give up; passes the word on to the host.
BATON_HD inline bool told_to_give_up(const CommView &view) {
    const std::uint64_t word = load_relaxed(&view.own().header()->abort);
    if (word == 0) return false;
    store_relaxed(&view.control->seen, word);
    return true;
}

/// The peer of a wait for the data of all peers at once.
inline constexpr std::int32_t any_peer = -1;

/// Passed to every polling loop. Called after a poll that failed; false means that the wait must end. Looks at the
/// clock and the abort words once in `interval` polls: a look costs as much as some polls.
class Spin {
public:
    BATON_HD Spin(const CommView &view, const OperationPoint &point) : view_(view), point_(point) {}

    BATON_HD bool operator()() {
        relax_between_polls(polls_ + 1);
        return keep_waiting();
    }
    /// The same without giving up the processor: for a loop over several waits, which does that itself.
    BATON_HD bool keep_waiting() { return ++polls_ % interval != 0 || look(); }

private:
#if defined(__CUDA_ARCH__)
    static constexpr std::uint32_t interval = 2048;
#else
    static constexpr std::uint32_t interval = 256;
#endif

    BATON_HD bool look() {
        if (told_to_give_up(view_)) return false;
        if (const std::uint64_t word = load_relaxed(&view_.control->abort); word != 0) {
            // For the operation's later kernels and the next ones, which look only at the arena before they begin.
            store_relaxed(&view_.own().header()->abort, word);
            return false;
        }
        const std::uint64_t now = clock_ns();
        if (deadline_ == 0) {
            deadline_ = now + view_.timeout_ns;
        } else if (now > deadline_) {
            if (point_.peer == any_peer) point_.peer = missing_peer();
            give_up(view_, BATON_ERR_TIMEOUT, point_);
            return false;
        }
        return true;
    }

    /// A rank stores its arrival before its data: who has not arrived is who is waited for. If all have, one is stuck
    /// in between, and this rank does not know which.
    BATON_HD std::int32_t missing_peer() const {
        Arrival theirs;
        for (std::int32_t peer = 0; peer < view_.size; ++peer) {
            const ArrivalLine *line = view_.own().arrival(point_.epoch, point_.channel, peer);
            if (peer != view_.rank && !load_arrival(line, point_.epoch, &theirs)) return peer;
        }
        return view_.rank;
    }

    const CommView &view_;
    std::uint64_t deadline_ = 0;
    OperationPoint point_;
    std::uint32_t polls_ = 0;
};

}  // namespace baton::core
