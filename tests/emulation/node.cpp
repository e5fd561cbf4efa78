#include "emulation/node.hpp"

#include <cstring>

#include "emulation/block.hpp"
#include "emulation/forbid.hpp"
#include "sync/wait.hpp"

namespace baton::emulation {
namespace {

template <class Line>
std::vector<Line> lines(std::size_t bytes) {
    return std::vector<Line>(bytes / sizeof(Line) + 1);
}

}  // namespace

Node::Node(int size, const Settings &settings)
    : size_(static_cast<std::size_t>(size)),
      memory_bytes_(settings.memory_bytes),
      regions_(size_ * core::region_slots),
      controls_(size_),
      views_(size_) {
    const auto layout = core::ArenaLayout::make(size, settings.channels, settings.limits);
    for (std::size_t rank = 0; rank < size_; ++rank) {
        arenas_.push_back(lines<Line>(layout.total_bytes));
        own_.push_back(lines<Line>(layout.own_bytes));
        memories_.push_back({lines<Line>(memory_bytes_), lines<Line>(settings.moves ? memory_bytes_ : 0)});
        for (const auto *const memory : {&arenas_[rank], &own_[rank], &memories_[rank][0], &memories_[rank][1]})
            owned_.push_back(
                std::make_unique<Owned>(static_cast<int>(rank), memory->front().bytes, memory->size() * sizeof(Line)));
        regions_[rank * core::region_slots] = {reinterpret_cast<std::uint64_t>(memories_[rank][0][0].bytes), 1};
        if (settings.moves) forbid(memories_[rank][1][0].bytes, memory_bytes_);
    }
    for (std::size_t rank = 0; rank < size_; ++rank) {
        core::CommView &view = views_[rank];
        view.rank = static_cast<std::int32_t>(rank);
        view.size = size;
        view.arenas_on_host = settings.through_host;
        view.polls_between_yields = 1;  // every poll that fails yields
        view.timeout_ns = static_cast<std::uint64_t>(settings.timeout_seconds * 1e9);
        view.control = &controls_[rank];
        view.regions = regions_.data();
        view.layout = layout;
        for (std::size_t of = 0; of < size_; ++of) view.arenas[of] = arenas_[of][0].bytes;
        view.own_memory = settings.through_host ? own_[rank][0].bytes : view.arenas[rank];
    }
}

std::vector<core::ErrorRecord> Node::errors() const {
    std::vector<core::ErrorRecord> found;
    for (const core::Control &control : controls_) {
        if (core::load_acquire(&control.recorded) != 0) found.push_back(control.record);
    }
    return found;
}

void Node::move(int rank) {
    std::byte *const before = memory(rank);
    auto &memories = memories_[static_cast<std::size_t>(rank)];
    std::byte *const now = memories[before == memories[0][0].bytes ? 1 : 0][0].bytes;
    allow(now, memory_bytes_);
    std::memset(before, 0xDD, memory_bytes_);
    forbid(before, memory_bytes_);
    core::RegionEntry &entry = region(rank);
    core::store_relaxed(&entry.address, reinterpret_cast<std::uint64_t>(now));
    core::store_release(&entry.generation, core::load_relaxed(&entry.generation) + 1);
}

void Node::abort() {
    for (const core::CommView &view : views_)
        core::store_abort(view.own(), core::AbortWord::make(BATON_ERR_ABORTED, 0, 0));
}

void Node::with_ranks(const std::function<void(const core::CommView &view)> &body) {
    std::vector<std::thread> threads;
    for (const core::CommView &view : views_) {
        threads.emplace_back([&] {
            be_rank(view.rank);
            body(view);
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace baton::emulation
