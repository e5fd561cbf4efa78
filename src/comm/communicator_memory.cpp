// What memory the ranks of a communicator meet in, settled at its creation.
#include <algorithm>
#include <bit>

#include "comm/communicator.hpp"
#include "comm/single_copy.hpp"
#include "util/log.hpp"

namespace baton::core {

/// What CUDA says about the pairs of GPUs that the ranks see. A pair that it refuses is not tried.
void Communicator::ask_for_access(const std::vector<DeviceIdentity> &gpus) {
    std::vector<std::string> uuids;
    for (const DeviceIdentity &gpu : gpus) uuids.push_back(gpu.uuid);
    std::string refused;
    together([&] {
        const int other = first_out_of_reach(device_, uuids);
        if (other < 0) return;
        refused = fmt::format("the GPU of rank {} does not access that of rank {} (cudaDeviceCanAccessPeer)",
                              view_.rank, other);
    });
    no_p2p_ = first_said(refused);
}

/// The text of the first rank that has one, on every rank.
std::string Communicator::first_said(const std::string &mine) {
    for (const std::string &text : bootstrap_->allgather_strings(mine)) {
        if (!text.empty()) return text;
    }
    return "";
}

/// GPUs meet in device memory if every pair of them reaches the other's, which is tried; else in host memory that all
/// of them reach.
void Communicator::settle_memory(const baton_config &config, const std::vector<DeviceIdentity> &gpus) {
    if (!capabilities_.on_gpu) {
        set_up_memory();
        map_arenas();
        settle_single_copy();
    } else if (!no_p2p_.empty()) {
        meet_in_host_memory();
    } else if (meet_in_device_memory()) {
        reach_text_ = "peers' buffers are mapped over CUDA IPC";
        capabilities_.reaches_buffers = true;
    } else {
        settle_tuning(config, gpus);
        settle_capabilities(config, gpus);
        meet_in_host_memory();
    }
    capabilities_.reach_reason = reach_text_.c_str();
    if (view_.rank == 0 && !capabilities_.reaches_buffers) log(LogLevel::info, view_.rank, "{}", reach_text_);
}

void Communicator::set_up_memory() {
    together([&] {
        domain_ = !capabilities_.on_gpu ? make_host_domain(bootstrap_->same_process())
                  : no_p2p_.empty()     ? make_cuda_domain()
                                        : make_mapped_domain(no_p2p_);
    });
    PeerMemory::Callbacks callbacks;
    callbacks.peer_dead = [this](int peer, const std::string &how) {
        break_with(BATON_ERR_PEER_DEAD, fmt::format("rank {} has died: {}", peer, how), true);
    };
    callbacks.tick = [this] { on_tick(); };
    peers_ = std::make_unique<PeerMemory>(*bootstrap_, *domain_, std::move(callbacks), placement_.processors);
    registry_ = std::make_unique<RegionRegistry>(*domain_, *peers_, timeout_);
    buffers_ = std::make_unique<Buffers>(*domain_, *registry_, device_);
    view_.regions = peers_->table();
}

/// Undoes set_up_memory() before anything has run in it.
void Communicator::give_up_memory() {
    peers_->leave();
    peers_->stop();
    buffers_.reset();
    together([this] { peers_->unmap_peers(); });  // importers close before owners free
    registry_.reset();
    peers_.reset();
    domain_.reset();
}

/// True if it works between all pairs of ranks. Otherwise no_p2p_ says why, and the memory is given up.
bool Communicator::meet_in_device_memory() {
    set_up_memory();
    RegionRegistry::Allocation arena;
    std::string why;
    together([&] {
        try {
            arena = registry_->allocate_published(view_.layout.total_bytes);
        } catch (const NotMapped &refused) {
            why = fmt::format("GPU memory of rank {}: {}", view_.rank, refused.what());
        }
    });
    no_p2p_ = first_said(why);
    if (no_p2p_.empty()) {
        share_arenas(arena);
        no_p2p_ = first_said(probe_arenas());
    }
    if (no_p2p_.empty()) return true;
    // CUDA has said that it should work, so this may be a fault of the machine that costs most of its speed.
    if (view_.rank == 0) log(LogLevel::warn, view_.rank, "{}", no_p2p_);
    give_up_memory();
    return false;
}

void Communicator::meet_in_host_memory() {
    reach_text_ = no_p2p_ + ": data goes through host memory";
    capabilities_.links = {};
    capabilities_.links.why = "data goes through host memory between all ranks alike";
    view_.arenas_on_host = true;
    set_up_memory();
    map_arenas();
    together([&] { view_.own_memory = static_cast<std::byte *>(registry_->allocate_scratch(view_.layout.own_bytes)); });
    const std::string failed = first_said(probe_arenas());
    if (!failed.empty()) fail(BATON_ERR_UNSUPPORTED, "{}, and through host memory {}", no_p2p_, failed);
}

void Communicator::map_arenas() {
    RegionRegistry::Allocation arena;
    together([&] { arena = registry_->allocate_published(view_.layout.total_bytes); });
    share_arenas(arena);
}

void Communicator::share_arenas(const RegionRegistry::Allocation &arena) {
    const std::vector<PeerMemory::Published> all = bootstrap_->allgather(arena.published);
    together([&] {
        const std::vector<std::byte *> addresses = addresses_of(all, arena.pointer);
        std::copy(addresses.begin(), addresses.end(), view_.arenas);
        view_.own_memory = view_.own().base;
    });
}

/// Where this process sees what each rank has allocated and published; `own` is what this rank has.
std::vector<std::byte *> Communicator::addresses_of(const std::vector<PeerMemory::Published> &all, void *own) const {
    std::vector<std::byte *> addresses;
    for (int peer = 0; peer < view_.size; ++peer) {
        const PeerMemory::Published &published = all[static_cast<std::size_t>(peer)];
        void *address = peer == view_.rank ? own : peers_->address(peer, published.slot, published.generation);
        if (address == nullptr) fail(BATON_ERR_INTERNAL, "memory that rank {} has published is not mapped", peer);
        addresses.push_back(static_cast<std::byte *>(address));
    }
    return addresses;
}

/// What really works between each pair is tried (decision 10). Which pair does not, if one of this rank's does not.
std::string Communicator::probe_arenas() {
    std::uint64_t unreached = 0;
    together([&] { unreached = probe_peers(view_, device_, [&] { bootstrap_->barrier(); }); });
    if (unreached == 0) return "";
    return fmt::format("the GPU of rank {} does not reach the memory of rank {} (written and verified words)",
                       view_.rank, std::countr_zero(unreached));
}

/// The host's direct way into other processes.
void Communicator::settle_single_copy() {
    const bool wanted = no_p2p_.empty();
    const bool same_process = bootstrap_->same_process();
    stages_mapped_ = !wanted;
    single_copy_ = wanted && (same_process || single_copies_work(view_, *bootstrap_));
    if (wanted && !single_copy_) no_p2p_ = "the system refuses process_vm_readv between the ranks";
    reach_text_ = single_copy_ ? "peers' buffers are reached by a single copy" : no_p2p_ + ": data is staged";
    capabilities_.reaches_buffers = single_copy_;
    if (single_copy_ && !same_process && view_.size > 1) settle_staging();
}

/// Whether to stage data although it could be reached. Segments that the user wants smaller are not measured.
void Communicator::settle_staging() {
    if (view_.layout.segment_bytes < measured_copy) return;
    const CopyTimes times = time_copies(view_, *bootstrap_);
    const std::string text =
        fmt::format("a single copy of {} KiB takes {:.1f} us here, two through shared memory {:.1f}",
                    measured_copy / 1024, times.single_us, times.staged_us);
    if (view_.rank == 0) log(LogLevel::debug, view_.rank, "{}", text);
    if (!times.staging_pays()) return;
    staging_text_ = text;
    capabilities_.staging_reason = staging_text_.c_str();
}

}  // namespace baton::core
