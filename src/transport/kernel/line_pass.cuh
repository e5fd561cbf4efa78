#pragma once

#include <cstdint>

#include "sync/arena.hpp"
#include "transport/kernel/line_run.cuh"
#include "transport/transport.hpp"

namespace baton::core {
inline namespace on_device {

/// Where a block's lines lie that go from rank to rank, and the words, one for each warp, that say how many runs of
/// them have been taken. Pointers are null if there is no rank before, or after.
struct LineRing {
    const DataLine *own = nullptr;
    DataLine *next = nullptr;
    std::uint64_t *taken = nullptr;             // at the rank before: raised by this one
    const std::uint64_t *next_taken = nullptr;  // here: raised by the rank after
    unsigned lines = 0;                         // lines_of_run at least
};

/// How the warps share a ring. Each passes lines through `places` runs of it, and tells after every `places_told` of
/// them that they are taken.
struct RingShare {
    unsigned warps;
    unsigned places;
    unsigned places_told;

    __device__ RingShare(unsigned runs, unsigned takers) {
        if (runs == 0) __trap();
        const unsigned most_warps =
            takers / warp_threads < SemaphoreWords::count ? takers / warp_threads : SemaphoreWords::count;
        warps = most_warps < runs ? most_warps : runs;
        places = runs / warps;
        places_told = places > 1 ? places / 2 : 1;
    }
};

/// Waits until the rank after has a place for the warp's run `step`. `room`: how many of the warp's runs it is known to
/// have had places for so far. False if the wait was ended.
template <class RoomSpin>
__device__ inline bool wait_for_room(const std::uint64_t *taken_words, unsigned places, std::uint64_t epoch,
                                     unsigned step, unsigned &room, const RoomSpin &room_spin) {
    auto spin = room_spin();
    for (;;) {
        const std::uint64_t taken = load_before_writes(taken_words);
        // A value that an earlier operation has left there says nothing of this one.
        if (taken >> step_bits == epoch) room = step_of(taken) + places;
        // Threads may have loaded different values, but a warp stores lines together or not at all.
        if (__all_sync(full_mask, step < room)) return true;
        if (__any_sync(full_mask, !spin())) return false;
    }
}

/// See transport.hpp. Each of n warps passes every n-th run by itself, through its own part of the ring, and never
/// waits for another warp. It reports what it has taken half its part at a time, since a word costs the link as much as
/// a quarter of a line. False, for the calling warp, if a wait was ended. data_spin() and room_spin() each make a Spin
/// for one wait.
template <class DataSpin, class RoomSpin>
__device__ inline bool pass_lines(const LinePass &pass, const LineRing &ring, std::uint64_t epoch, unsigned takers,
                                  const DataSpin &data_spin, const RoomSpin &room_spin) {
    using Run = LineRun<lines_of_run / LineRun<1>::all_lines>;
    constexpr std::uint64_t run_bytes = Run::all_lines * DataLine::payload;
    const RingShare share(ring.lines / Run::all_lines, takers);
    const unsigned warp = threadIdx.x / warp_threads;
    if (warp >= share.warps) return true;
    const bool takes = ring.own != nullptr;
    const bool sends = ring.next != nullptr;
    const bool keeps = takes || pass.to != pass.from;
    const bool unaligned = is_unaligned(pass.to, pass.bytes) || (!takes && is_unaligned(pass.from, 0));
    unsigned room = share.places;
    unsigned step = 0;
    unsigned place = 0;
    std::uint64_t flag = epoch;
    for (std::uint64_t at = warp * run_bytes; at < pass.bytes; at += share.warps * run_bytes) {
        if (sends && __any_sync(full_mask, step >= room) &&
            !wait_for_room(ring.next_taken + warp, share.places, epoch, step, room, room_spin))
            return false;
        const std::uint64_t left = pass.bytes - at;
        const Run run(0, left < run_bytes ? left : run_bytes);
        const unsigned first = (warp * share.places + place) * Run::all_lines;
        LineWords words[1][Run::all_lines / Run::lines_apart];
        if (takes) {
            const DataLine *const sources[1] = {ring.own + first};
            auto spin = data_spin();
            if (!poll_lines(sources, run, words, flag, spin)) return false;
        } else {
            load_run(words[0], pass.from + at, run, unaligned);
        }
        if (sends) {
            stamp(words[0], flag);
            store_lines(ring.next + first, run, words[0]);
        }
        if (keeps) store_run(pass.to + at, run, words[0], unaligned);
        ++step;
        // All threads' loads are over: poll_lines() has voted on what they have loaded.
        if (takes && step % share.places_told == 0 && threadIdx.x % warp_threads == 0)
            store_after_reads(ring.taken + warp, step_value(epoch, step));
        if (++place == share.places) {
            place = 0;
            flag += epoch_of_round(0, 1);
        }
    }
    return true;
}

}  // namespace on_device
}  // namespace baton::core
