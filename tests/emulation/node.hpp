#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "sync/comm_view.hpp"

namespace baton::emulation {

/// Ranks of one GPU each that run kernels on threads of the host (block.hpp): arenas, a region of buffers for each
/// rank, and nothing of the layers above.
class Node {
public:
    struct Settings {
        int channels = 2;
        std::size_t memory_bytes = 1 << 20;
        bool through_host = false;  // the ranks meet in host memory
        core::ArenaLayout::Limits limits;
        double timeout_seconds = 60;
    };
    Node(int size, const Settings &settings);

    int size() const { return static_cast<int>(size_); }
    const core::CommView &view(int rank) const { return views_[static_cast<std::size_t>(rank)]; }
    /// What the ranks' buffers are in.
    std::byte *memory(int rank) { return memories_[static_cast<std::size_t>(rank)][0].bytes; }
    /// As arrivals name a place in it.
    core::BufferRef name(int rank, const std::byte *place) {
        return core::BufferRef::in_region(0, 1, static_cast<std::uint64_t>(place - memory(rank)));
    }
    /// Empty if no rank has found anything wrong.
    std::vector<core::ErrorRecord> errors() const;

    /// One thread for each rank; what a run leaves behind stays for the next.
    void with_ranks(const std::function<void(const core::CommView &view)> &body);

private:
    struct alignas(256) Line {
        std::byte bytes[256];
    };
    const std::size_t size_;
    std::vector<std::vector<Line>> arenas_, own_, memories_;
    std::vector<core::RegionEntry> regions_;
    std::vector<core::Control> controls_;
    std::vector<core::CommView> views_;
};

}  // namespace baton::emulation
