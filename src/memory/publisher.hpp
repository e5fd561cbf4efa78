#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "memory/board.hpp"
#include "memory/doorbell.hpp"
#include "memory/mapped_regions.hpp"
#include "memory/region.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// The owner's side of registration: this rank's slots, its posts on the board, and the wait for the peers' answers.
/// Thread-safe; publications of a rank go one after the other.
class Publisher {
public:
    Publisher(const Board &board, Doorbell &doorbell, MappedRegions &mapped);

    /// Takes a slot, posts, rings every peer with `fd` (-1: none; stays the caller's) and waits for all of them.
    PublishedRegion publish(RegionPost post, int fd, std::chrono::milliseconds timeout, RegionSlots slots);
    /// Retires the slot's region. Needs no memory, and no answer from peers.
    void retire(std::uint32_t slot) noexcept;

    /// Makes a publish() in progress and all later ones fail with `reason`; the first reason stays. Any thread.
    void interrupt(const Failure &reason) noexcept;
    std::optional<Failure> interruption();

    /// Says that a peer's process has ended, in order or not: nothing more is expected of it. Any thread.
    void peer_gone(int peer);

private:
    using Clock = std::chrono::steady_clock;

    void throw_if_interrupted();
    void ring_peers(int fd, Clock::time_point deadline);
    void await_acks(Clock::time_point deadline, std::chrono::milliseconds timeout);
    void throw_if_refused();
    int unacknowledged() const;
    bool is_gone(int peer) const;
    [[noreturn]] void fail_gone(int peer);
    PublishedRegion take_slot(RegionSlots slots);
    void give_back(const PublishedRegion &published) noexcept;

    const Board &board_;
    Doorbell &doorbell_;
    MappedRegions &mapped_;
    std::vector<std::atomic<bool>> gone_;

    std::mutex publishing_;  // held for the length of a publish(); guards posts_ and the ring side of doorbell_
    std::uint64_t posts_ = 0;

    std::mutex mutex_;  // guards what follows; held for moments only
    // Set by interrupt(): by callers once the communicator is broken, for whatever reason; by this layer when a peer
    // has ended or has not answered. Then publish() throws, and its caller breaks the communicator (Issuer::guard).
    std::optional<Failure> interruption_;
    struct Slot {
        static constexpr std::uint64_t taken = UINT64_MAX;
        std::uint64_t generation = 0;
        std::uint64_t freed = 0;  // the number of the give_back(), or `taken`
    };
    std::vector<Slot> slots_;  // by number
    std::uint64_t frees_ = 0;
};

}  // namespace baton::core
