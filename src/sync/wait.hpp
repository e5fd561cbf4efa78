#pragma once

#include <cstdint>

#include "sync/comm_view.hpp"

/// Waits for words of peers, by threads of kernels and of the host. A wait that has become pointless ends by a timeout,
/// by a mismatch, or because a rank has given up.
namespace baton::core {

/// Makes the arena's owner abort: its waits end, and its channels begin nothing more.
BATON_HD BATON_NOINLINE inline void store_abort(const Arena &arena, std::uint64_t word) {
    for (int channel = 0; channel < arena.layout->channels; ++channel) store_relaxed(arena.abort(channel), word);
}

/// Ends this rank's waits, and its peers', with an error. Several threads may fail at once: the first writes the
/// record, all store the abort word (any of them will do). `theirs`: what the peer does, if that is the error.
BATON_HD BATON_NOINLINE inline void give_up(const CommView &view, baton_result code, OperationPoint point,
                                            Signature theirs = Signature{}) {
    const std::uint64_t word = AbortWord::make(code, view.rank, point.peer);
    if (claim_once(&view.own().header()->claim)) {
        view.control->record = {static_cast<std::uint64_t>(code), point, theirs};
        store_release(&view.control->recorded, 1);
    }
    for (int peer = 0; peer < view.size; ++peer) store_abort(view.arena(peer), word);
}

/// True if a peer has told this rank to give up; passes the word on to the host. `word`: the abort word just loaded.
BATON_HD inline bool told_to_give_up(const CommView &view, std::uint64_t word) {
    if (word == 0) return false;
    store_relaxed(&view.control->seen, word);
    return true;
}

/// The abort word of a channel. store_abort() writes all of them, so a caller without a channel passes 0.
BATON_HD inline std::uint64_t abort_word(const CommView &view, int channel) {
    return load_relaxed(view.own().abort(channel));
}

/// Whether a host thread may begin something: no peer has told this rank to give up, and this process has not broken
/// the communicator.
inline bool may_begin(const CommView &view) {
    return !told_to_give_up(view, abort_word(view, 0)) && load_relaxed(&view.control->abort) == 0;
}

/// Stands for the peer in a wait for the data of all peers at once.
inline constexpr std::int32_t any_peer = -1;

/// Passed to every polling loop. Called after a poll that failed; false means that the wait must end. Looks at the
/// clock and the abort words once in `interval` polls: a look costs as much as some polls.
class Spin {
public:
    BATON_HD Spin(const CommView &view, const OperationPoint &point) : view_(view), point_(point) {}

    BATON_HD bool operator()() {
        relax_between_polls(polls_ + 1, view_.polls_between_yields);
        if (!keep_waiting()) return false;
        if (is_long() && polls_ % interval == 0) rest();
        return true;
    }
    /// The same for a wait that may last as long as a copy: on a GPU it pauses from polls_before_pauses on.
    BATON_HD bool with_pauses() {
        if (polls_ >= polls_before_pauses) pause_between_polls();
        return (*this)();
    }
    /// Whether the wait has lasted so long that the thread may sleep between polls. `waits`: how many the thread polls
    /// in turns.
    BATON_HD bool is_long(std::size_t waits = 1) const { return polls_ * waits >= polls_before_rests; }
    /// As operator(), but never gives up the processor: for a loop over several waits, which does that itself.
    BATON_HD bool keep_waiting() {
        if (++polls_ % interval != 0) return true;
        deadline_ = check_deadline(view_, point_, deadline_);
        return deadline_ != 0;
    }
    /// Sets the deadline anew, since the peer has made progress. The number of polls stays as it is, so the thread goes
    /// on looking at the abort words, and sleeping.
    BATON_HD void begin_anew() { deadline_ = 0; }

private:
#if defined(__CUDA_ARCH__)
    static constexpr std::uint32_t interval = 2048;
#else
    static constexpr std::uint32_t interval = 256;
#endif
    /// A host thread alone on its processor takes 5 ms for them with polls_between_yields_alone, 24 ms with the other
    /// (AMD EPYC, 2026-11-25).
    static constexpr std::uint32_t polls_before_rests = 1 << 21;

    /// Returns the deadline, which the first look sets; 0 if the wait must end. By value, so that a loop keeps its Spin
    /// in registers.
    BATON_HD BATON_NOINLINE static std::uint64_t check_deadline(const CommView &view, OperationPoint point,
                                                                std::uint64_t deadline) {
        if (told_to_give_up(view, abort_word(view, point.channel))) return 0;
        if (const std::uint64_t word = load_relaxed(&view.control->abort); word != 0) {
            // For later kernels of the operation and of the next ones, which look only at the arena before they begin.
            store_abort(view.own(), word);
            return 0;
        }
        const std::uint64_t now = clock_ns();
        constexpr std::uint64_t begun_anew = 1;  // the lowest bit of a deadline
        if (deadline == 0) return (now + view.timeout_ns) & ~begun_anew;
        if (now <= deadline) return deadline;
        // A thread that looks so late has been stopped itself (a suspended job) and knows nothing of its peers
        // meanwhile, so it waits once more. Only once: on a busy machine all looks may be late.
        constexpr std::uint64_t looks_lie_apart = 1'000'000'000;
        const bool stopped = now - deadline > looks_lie_apart + view.timeout_ns / 2;
        if (stopped && (deadline & begun_anew) == 0) return (now + view.timeout_ns) | begun_anew;
        if (point.peer == any_peer) point.peer = missing_peer(view, point);
        give_up(view, BATON_ERR_TIMEOUT, point);
        return 0;
    }

    /// Returns a peer that has not arrived: a rank stores its arrival before its data, so that peer is waited for. If
    /// all have arrived, one is stuck in between, and this rank does not know which: it returns itself.
    BATON_HD static std::int32_t missing_peer(const CommView &view, const OperationPoint &point) {
        Arrival theirs;
        for (std::int32_t peer = 0; peer < view.size; ++peer) {
            const ArrivalLine *line = view.own().arrival(point.epoch, point.channel, peer);
            if (peer != view.rank && !load_arrival(line, point.epoch, &theirs)) return peer;
        }
        return view.rank;
    }

    const CommView &view_;
    std::uint64_t deadline_ = 0;
    const OperationPoint point_;
    std::uint32_t polls_ = 0;
};

/// Polls a word that only grows until it has reached `value`, with acquire; false if the wait must end before.
BATON_HD inline bool wait_until(const CommView &view, const OperationPoint &point, const std::uint64_t *word,
                                std::uint64_t value) {
    Spin spin(view, point);
    while (load_acquire(word) < value) {
        if (!spin.with_pauses()) return false;
    }
    return true;
}

/// Waits for a peer's line of the operation at `point`. False if the wait must end before, or if the peer does
/// something other than point.mine; then all ranks give up.
BATON_HD inline bool wait_for_line(const CommView &view, const OperationPoint &point, const ArrivalLine *line,
                                   Arrival *theirs) {
    Spin spin(view, point);
    while (!load_arrival(line, point.epoch, theirs)) {
        if (!spin.with_pauses()) return false;
    }
    if (theirs->signature == point.mine) return true;
    give_up(view, BATON_ERR_MISMATCH, point, theirs->signature);
    return false;
}

}  // namespace baton::core
