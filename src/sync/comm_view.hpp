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
/// record, all store the abort word (any of them will do).
BATON_HD inline void give_up(const CommView &view, const ErrorRecord &record) {
    const std::uint64_t word = AbortWord::make(static_cast<int>(record.code), view.rank, static_cast<int>(record.peer));
    if (claim_once(&view.own().header()->claim)) {
        view.control->record = record;
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

/// Passed to every polling loop. Called after a poll that failed; false means that the wait must end. Looks at the
/// clock and the abort words once in `interval` polls: a look costs as much as some polls.
class Spin {
public:
    BATON_HD Spin(const CommView &view, WaitFor wait_for, int peer, int channel, std::uint64_t epoch, Signature mine)
        : view_(view), epoch_(epoch), mine_(mine), wait_for_(wait_for), peer_(peer), channel_(channel) {}

    BATON_HD bool operator()() {
        ++polls_;
        relax_between_polls(polls_);
        return polls_ % interval != 0 || look();
    }

    /// The peer that the next polls wait for, where one loop waits for several.
    BATON_HD void waiting_for(int peer) { peer_ = peer; }

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
            ErrorRecord record{};
            record.code = BATON_ERR_TIMEOUT;
            record.peer = static_cast<std::uint64_t>(peer_);
            record.epoch = epoch_;
            record.channel = static_cast<std::uint64_t>(channel_);
            record.wait_for = static_cast<std::uint64_t>(wait_for_);
            record.mine = mine_;
            give_up(view_, record);
            return false;
        }
        return true;
    }

    const CommView &view_;
    std::uint64_t deadline_ = 0;
    std::uint64_t epoch_ = 0;
    Signature mine_;
    WaitFor wait_for_;
    std::int32_t peer_;
    std::int32_t channel_;
    std::uint32_t polls_ = 0;
};

}  // namespace baton::core
