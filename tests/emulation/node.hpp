#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "emulation/owners.hpp"
#include "sync/comm_view.hpp"

namespace baton::emulation {

/// Ranks of one GPU each that run kernels on threads of the host (block.hpp). They have arenas and a region of buffers
/// each, and nothing of the layers above.
class Node {
public:
    struct Settings {
        int channels = 2;
        std::size_t memory_bytes = 1 << 20;
        bool moves = false;         // whether move() is called
        bool through_host = false;  // the ranks meet in host memory
        core::ArenaLayout::Limits limits;
        double timeout_seconds = 60;
    };
    Node(int size, const Settings &settings);
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    int size() const { return static_cast<int>(size_); }
    const core::CommView &view(int rank) const { return views_[static_cast<std::size_t>(rank)]; }
    /// The memory that a rank's buffers are in.
    std::byte *memory(int rank) { return reinterpret_cast<std::byte *>(core::load_relaxed(&region(rank).address)); }
    /// The name of a place in it, as arrivals have it.
    core::BufferRef name(int rank, const std::byte *place) {
        return core::BufferRef::in_region({0, core::load_relaxed(&region(rank).generation)},
                                          static_cast<std::uint64_t>(place - memory(rank)));
    }
    /// Moves a rank's buffers elsewhere; from now on nobody may touch where they were. REQUIRES: the rank runs nothing.
    void move(int rank);
    /// Empty if no rank has found anything wrong.
    std::vector<core::ErrorRecord> errors() const;

    /// Runs `body` with one thread for each rank. What a run leaves behind stays for the next.
    void with_ranks(const std::function<void(const core::CommView &view)> &body);
    /// Ends all waits of all ranks: for a test that has failed, whose other ranks would wait for their timeout.
    void abort();

private:
    struct alignas(256) Line {
        std::byte bytes[256];
    };
    core::RegionEntry &region(int rank) { return regions_[static_cast<std::size_t>(rank) * core::region_slots]; }

    const std::size_t size_;
    const std::size_t memory_bytes_;
    std::vector<std::vector<Line>> arenas_, own_;
    std::vector<std::array<std::vector<Line>, 2>> memories_;  // the region is one of them
    std::vector<std::unique_ptr<Owned>> owned_;
    std::vector<core::RegionEntry> regions_;
    std::vector<core::Control> controls_;
    std::vector<core::CommView> views_;
};

}  // namespace baton::emulation
