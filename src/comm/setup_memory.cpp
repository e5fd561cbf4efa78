// Creation of a communicator: what memory its ranks meet in.
#include <algorithm>
#include <bit>

#include "collectives/gpu_setup.hpp"
#include "comm/gpu_share.hpp"
#include "comm/setup.hpp"
#include "comm/single_copy.hpp"
#include "memory/reclaimer.hpp"
#include "sync/platform.hpp"
#include "util/log.hpp"

namespace baton::core {

/// Asks CUDA about the pairs of GPUs that the ranks see. A pair that it refuses is not tried.
std::string Setup::ask_for_access() {
    const std::vector<std::string> uuids = uuids_of(gpus_);
    std::string refused;
    meetings_.together([&] {
        const int other = first_out_of_reach(parts_.device, uuids);
        if (other < 0) return;
        refused = fmt::format("the GPU of rank {} does not access that of rank {} (cudaDeviceCanAccessPeer)",
                              view_.rank, other);
    });
    return meetings_.first_said(refused);
}

/// GPUs meet in device memory if every pair of them reaches each other's, which is tried; else in host memory that all
/// of them reach.
void Setup::settle_memory(std::string no_p2p) {
    meetings_.together([&] {
        parts_.control = capabilities_.on_gpu
                             ? CommParts::ControlPointer(allocate_control(), release_control)
                             : CommParts::ControlPointer(new Control{}, [](Control *it) { delete it; });
        view_.control = parts_.control.get();
    });
    if (!capabilities_.on_gpu) {
        const bool oversubscribed = view_.ranks_share_processors();
        set_up_memory([&] { return make_host_domain(bootstrap_.same_process(), view_.size, oversubscribed); });
        map_arenas();
        settle_single_copy(no_p2p);
    } else {
        if (no_p2p.empty()) {
            no_p2p = meet_in_device_memory();
            if (!no_p2p.empty()) settle_capabilities(false);
        }
        if (!no_p2p.empty()) meet_in_host_memory(no_p2p);
    }
    if (view_.rank == 0 && !capabilities_.reaches_buffers)
        log(LogLevel::info, view_.rank, "{}", capabilities_.reach_reason);
}

void Setup::set_up_memory(const std::function<std::unique_ptr<MemoryDomain>()> &make_domain) {
    meetings_.together([&] { parts_.domain = make_domain(); });
    PeerCallbacks callbacks;
    callbacks.peer_dead = [&breakage = breakage_](const Failure &dead) { breakage.break_with(dead); };
    callbacks.tick = [&breakage = breakage_] { breakage.tick(); };
    parts_.peers =
        std::make_unique<PeerMemory>(bootstrap_, *parts_.domain, std::move(callbacks), parts_.placement.processors);
    meetings_.use_board(parts_.peers.get());
    RegionRegistry::Issued issued;  // there is no executor early in creation and late in destruction
    issued.mark = [&parts = parts_] {
        if (parts.executor) parts.executor->mark();
    };
    issued.is_done = [&parts = parts_] { return !parts.executor || parts.executor->mark_is_done(); };
    parts_.registry = std::make_unique<RegionRegistry>(
        *parts_.domain, *parts_.peers,
        std::chrono::ceil<std::chrono::milliseconds>(creation_patience(breakage_.timeout())), std::move(issued),
        [](const PointerInfo &freed) { Reclaimer::of_process().forget(freed); });
    parts_.buffers = std::make_unique<Buffers>(*parts_.domain, *parts_.registry, parts_.device);
    view_.regions = parts_.peers->table();
}

/// Undoes set_up_memory() before anything has run in it.
void Setup::give_up_memory() {
    parts_.peers->leave();
    parts_.peers->stop();
    parts_.buffers.reset();
    meetings_.together([this] { parts_.peers->unmap_peers(); });  // importers close before owners free
    meetings_.use_board(nullptr);
    parts_.registry.reset();
    parts_.peers.reset();
    parts_.domain.reset();
}

/// If it does not work between all pairs of ranks, gives the memory up.
std::string Setup::meet_in_device_memory() {
    const bool no_kernels = config_.transport == BATON_TRANSPORT_ZERO_SM;
    set_up_memory([&] { return make_cuda_domain(no_kernels ? Movers::copies_alone : Movers::kernels_and_copies); });
    RegionRegistry::Allocation arena;
    std::string not_mapped;
    meetings_.together([&] {
        try {
            arena = parts_.registry->allocate_published(view_.layout.total_bytes);
        } catch (const NotMapped &refused) {
            not_mapped = fmt::format("GPU memory of rank {}: {}", view_.rank, refused.what());
        }
    });
    std::string why_not = meetings_.first_said(not_mapped);
    if (why_not.empty()) {
        share_arenas(arena);
        why_not = meetings_.first_said(probe_arenas());
    }
    if (why_not.empty()) {
        capabilities_.reach_reason = "peers' buffers are mapped over CUDA IPC";
        capabilities_.reaches_buffers = true;
        return "";
    }
    // CUDA has said that it should work, so this may be a fault of the machine that costs most of its speed.
    if (view_.rank == 0) log(LogLevel::warn, view_.rank, "{}", why_not);
    give_up_memory();
    return why_not;
}

void Setup::meet_in_host_memory(const std::string &no_p2p) {
    capabilities_.reach_reason = no_p2p + ": data goes through host memory";
    capabilities_.links = {};
    capabilities_.links.why = "data goes through host memory between all ranks alike";
    view_.arenas_on_host = true;
    set_up_memory([&] { return make_mapped_domain(no_p2p); });
    map_arenas();
    meetings_.together([&] {
        view_.own_memory = static_cast<std::byte *>(parts_.registry->allocate_scratch(view_.layout.own_bytes));
    });
    const std::string failed = meetings_.first_said(probe_arenas());
    if (!failed.empty()) fail_alike(BATON_ERR_UNSUPPORTED, "{}, and through host memory {}", no_p2p, failed);
}

void Setup::map_arenas() {
    RegionRegistry::Allocation arena;
    meetings_.together([&] { arena = parts_.registry->allocate_published(view_.layout.total_bytes); });
    share_arenas(arena);
}

void Setup::share_arenas(const RegionRegistry::Allocation &arena) {
    const std::vector<PublishedRegion> all = bootstrap_.allgather(arena.published);
    meetings_.together([&] {
        const std::vector<std::byte *> addresses = parts_.addresses_of(all, arena.pointer);
        std::copy(addresses.begin(), addresses.end(), view_.arenas);
        view_.own_memory = view_.own().base;
    });
}

/// Tries what really works between each pair. If one of this rank's pairs does not work, returns which.
std::string Setup::probe_arenas() {
    std::uint64_t unreached = 0;
    meetings_.together([&] { unreached = probe_peers(view_, parts_.device, [&] { bootstrap_.barrier(); }); });
    if (unreached == 0) return "";
    return fmt::format("the GPU of rank {} does not reach the memory of rank {} (written and verified words)",
                       view_.rank, std::countr_zero(unreached));
}

/// Finds out whether host ranks can copy to and from each other directly.
void Setup::settle_single_copy(const std::string &no_p2p) {
    const bool wanted = no_p2p.empty();
    const bool same_process = bootstrap_.same_process();
    parts_.stages_mapped = !wanted;
    parts_.single_copy = wanted && (same_process || single_copies_work(view_, bootstrap_));
    const std::string why_not = wanted ? "the system refuses process_vm_readv between the ranks" : no_p2p;
    capabilities_.reach_reason =
        parts_.single_copy ? "peers' buffers are reached by a single copy" : why_not + ": data is staged";
    capabilities_.reaches_buffers = parts_.single_copy;
    capabilities_.single_copies_share_cpus = parts_.single_copy && !same_process && view_.ranks_share_processors();
}

}  // namespace baton::core
