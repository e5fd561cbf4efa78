#include "comm/windows.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "collectives/gpu_setup.hpp"
#include "memory/reclaimer.hpp"

namespace baton::core {

int Windows::free_index() const {
    const auto free = std::find(windows_.begin(), windows_.end(), nullptr);
    const auto index = static_cast<int>(free - windows_.begin());
    if (index >= max_windows)
        fail(BATON_ERR_UNSUPPORTED, "{} windows are alive already, the most there can be", max_windows);
    return index;
}

/// If the ranks agree that it has failed, none keeps its memory. After any other failure a peer may have its window and
/// use it: the memory stays until the communicator, which is broken, is destroyed.
void Windows::give_memory(Window &window) {
    RegionRegistry::Allocation allocation;
    const NumaNodeGuard near(parts_.placement.numa_node);
    try {
        meetings_.together(
            [&] { issuer_.run_local([&] { allocation = parts_.registry->allocate_published(window.bytes); }); });
        window.places = bootstrap_.allgather(allocation.published);
        meetings_.together([&] {
            window.pointers = parts_.addresses_of(window.places, allocation.pointer);
            for (const std::byte *address : window.pointers) parts_.domain->hand_out(address);
            clear_signals(window.index);
        });
    } catch (const Agreed &) {
        if (allocation.pointer != nullptr) parts_.registry->release_published(allocation.pointer);
        throw;
    }
}

std::shared_ptr<Window> Windows::create(std::size_t bytes, const std::function<void()> &check) try {
    meetings_.enter(Meetings::Call::window_create);
    auto window = std::make_shared<Window>();
    const std::vector<std::uint64_t> sizes = meetings_.together(
        [&] {
            check();
            window->index = free_index();
        },
        bytes);
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
        if (sizes[rank] != sizes[0])
            fail_alike(BATON_ERR_MISMATCH, "bytes differ: {} on rank 0, {} on rank {}", sizes[0], sizes[rank], rank);
    }
    window->bytes = bytes;
    give_memory(*window);
    // What fails from here on, on this rank alone, breaks the communicator (below): the others have their window.
    if (window->index == static_cast<int>(windows_.size())) windows_.emplace_back();
    windows_[static_cast<std::size_t>(window->index)] = window;
    meetings_.together([] {});  // no rank signals before all have cleared
    return window;
} catch (const Agreed &) {
    throw;
} catch (const std::exception &failure) {
    breakage_.break_with(as_failure(failure));
    throw;
}

/// Clears what an earlier window of this number has left.
void Windows::clear_signals(int index) {
    const OwnWords own = parts_.view.own_words();
    const auto n = static_cast<std::size_t>(parts_.view.size);
    const auto clear = [&](void *memory, std::size_t bytes) {
        parts_.capabilities.on_gpu ? clear_device(parts_.device, memory, bytes)
                                   : static_cast<void>(std::memset(memory, 0, bytes));
    };
    clear(own.signals_given(index, 0), n * sizeof(std::uint64_t));
    clear(own.signals_taken(index, 0), n * sizeof(std::uint64_t));
    clear(parts_.view.own().signal_word(index, 0), n * sizeof(SemaphoreWord));
}

/// What error messages call a window: its user knows it by its size. The number may come from another rank, as all
/// ranks have the same windows.
std::string Windows::described(std::uint64_t index) const {
    return fmt::format("window {} ({} bytes)", index, windows_[index]->bytes);
}

/// Unless the communicator is broken, waits until all ranks come to destroy it.
void Windows::meet_to_destroy(const Window &window) {
    parts_.executor->drain();
    breakage_.catch_up(Breakage::Caller::call_or_operation);
    if (breakage_.broken()) return;
    meetings_.enter(Meetings::Call::window_destroy);
    const std::vector<std::uint64_t> all = meetings_.together([] {}, static_cast<std::uint64_t>(window.index));
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all[0]) continue;
        meetings_.disagree(fmt::format("baton_window_destroy got {} on rank 0, {} on rank {}", described(all[0]),
                                       described(all[rank]), rank));
    }
}

/// On GPUs unmapping waits for kernels. While some may run, those of graphs included, the peers' memory stays mapped,
/// and so does not come back.
void Windows::unmap_peers(const Window &window) {
    const auto unmap = [&] {
        for (int rank = 0; rank < parts_.view.size; ++rank)
            parts_.peers->unmap(rank, window.places[static_cast<std::size_t>(rank)]);
    };
    parts_.capabilities.on_gpu ? Reclaimer::of_process().if_idle(unmap) : unmap();
}

void Windows::destroy(const std::shared_ptr<Window> &window) {
    std::exception_ptr broken_here = breakage_.break_if_it_fails([&] { meet_to_destroy(*window); });
    // Its number becomes free even if its memory cannot be freed: the next window has to get the same one on all ranks.
    windows_[static_cast<std::size_t>(window->index)].reset();
    for (const std::byte *address : window->pointers) parts_.domain->take_back(address);
    // Importers close before owners free: else the memory would come back later, and could be missing in the next call.
    if (!breakage_.broken())
        broken_here = breakage_.break_if_it_fails([&] { meetings_.together([&] { unmap_peers(*window); }); });
    // If the communicator is broken, peers may still load and store there: the registry frees the memory at its end.
    if (!breakage_.broken())
        parts_.registry->release_published(window->pointers[static_cast<std::size_t>(parts_.view.rank)]);
    if (broken_here) std::rethrow_exception(broken_here);
}

}  // namespace baton::core
