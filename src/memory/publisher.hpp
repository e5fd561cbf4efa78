#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "memory/board.hpp"
#include "memory/doorbell.hpp"
#include "memory/mapped_regions.hpp"
#include "memory/peer_memory.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// The owner's side of registration: this rank's slots, its posts on the board, and the wait for the peers' answers.
/// Thread-safe; publications of a rank go one after the other.
class Publisher {
public:
    Publisher(const Board &board, Doorbell &doorbell, MappedRegions &mapped, int rank, int size);

    /// Takes a slot, posts, rings every peer with `fd` (-1: none; stays the caller's) and waits for all of them.
    PeerMemory::Published publish(RegionPost post, int fd, std::chrono::milliseconds timeout, PeerMemory::Slots slots);
    void retire(std::uint32_t slot);

    /// Ends a publish() in progress and all later ones with this failure; the first one stays. Any thread.
    void break_with(baton_result code, const std::string &text);
    bool is_broken();
    std::optional<Failure> broken();

    /// A peer's process has ended, in order or not: nothing more is expected of it. Any thread.
    void peer_gone(int peer);

private:
    using Clock = std::chrono::steady_clock;

    void throw_if_broken();
    void ring_peers(int fd, Clock::time_point deadline);
    void await_acks(Clock::time_point deadline, std::chrono::milliseconds timeout);
    void throw_if_refused();
    int unacknowledged() const;
    bool is_gone(int peer) const;
    [[noreturn]] void fail_gone(int peer);
    PeerMemory::Published take_slot(PeerMemory::Slots slots);
    std::deque<std::uint32_t> &free_of(PeerMemory::Slots slots) {
        return slots == PeerMemory::Slots::own ? free_own_ : free_callers_;
    }
    void give_back(const PeerMemory::Published &published);

    const Board &board_;
    Doorbell &doorbell_;
    MappedRegions &mapped_;
    const int rank_;
    const int size_;
    BoardRecord &mine_;
    std::vector<std::atomic<bool>> gone_;

    std::mutex publishing_;  // held for the length of a publish(); guards posts_ and the ring side of doorbell_
    std::uint64_t posts_ = 0;

    std::mutex mutex_;  // guards what follows; held for moments only
    std::optional<Failure> broken_;
    std::deque<std::uint32_t> free_callers_;
    std::deque<std::uint32_t> free_own_;
    std::vector<std::uint64_t> generations_;
};

}  // namespace baton::core
