#include "memory/region_registry.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "util/containing.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

std::uint64_t address_of(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Whether an allocation has a handle to export. If not, asking for one only tells the reason.
bool has_handle(const PointerInfo &info) { return info.base != 0 && (info.legacy_ipc || info.posix_fd); }

}  // namespace

struct RegionRegistry::Impl {
    /// What is known about one allocation: its slot, or why it has none.
    struct Region {
        std::uint64_t size = 0;
        std::uint64_t buffer_id = 0;
        bool published = false;
        PublishedRegion place;
        std::string reason;  // not published: why
        baton_result code = BATON_ERR_UNSUPPORTED;
        int registered = 0;      // add() less remove()
        bool for_peers = false;  // from allocate_published(): memory of the kind that all ranks reach
        bool owned = false;      // from allocate(): freed by release() or the destructor
        std::size_t asked = 0;   // owned: bytes the caller asked for
    };
    using Regions = std::map<std::uint64_t, Region>;  // by base; no two overlap

    Impl(MemoryDomain &the_domain, PeerMemory &the_peers, std::chrono::milliseconds the_timeout, Issued the_issued,
         Freed the_freed)
        : domain(the_domain),
          peers(the_peers),
          timeout(the_timeout),
          issued(std::move(the_issued)),
          freed(std::move(the_freed)) {
        leaving.reserve(region_slots);  // so that giving memory up takes none
        dropped.reserve(region_slots);
    }

    /// Why a range has no region whatever is tried; empty if it may have one. Keeps nothing: a program may have any
    /// number of such buffers, each of them new.
    std::optional<Location> never_direct(const PointerInfo &info, const void *pointer, std::size_t bytes) const {
        if (!has_handle(info)) return Location{.reason = domain.export_region(info).reason};
        if (bytes > info.base + info.size - address_of(pointer))
            return Location{.reason = "it spans several mappings of reserved address space, which are exported singly"};
        return std::nullopt;
    }

    // All of these REQUIRE the mutex.

    void drop(Regions::iterator region) {
        if (region->second.published) {
            dropped.push_back(region->second.place.slot);
            has_dropped = true;
        }
        regions.erase(region);
    }

    /// Retires dropped slots once all that was issued before is done. Memory freed in a stream's order (cudaFreeAsync)
    /// is gone for this process while operations before the free have not run yet, and peers that have not come to them
    /// still get the region's name.
    void retire_dropped() {
        if (look_for_freed.exchange(false)) {
            try {
                drop_freed();
            } catch (...) {
                look_for_freed = true;
                throw;
            }
        }
        while (has_dropped) {
            if (leaving.empty()) {
                if (issued.mark) issued.mark();
                leaving.swap(dropped);
            }
            if (issued.is_done && !issued.is_done()) return;
            for (const std::uint32_t slot : leaving) peers.retire(slot);
            leaving.clear();
            has_dropped = !dropped.empty();
        }
    }

    /// Drops regions that overlap [base, base + size): their memory has been freed since.
    void drop_overlapping(std::uint64_t base, std::uint64_t size) {
        auto it = containing(regions, base);
        if (it == regions.end()) it = regions.upper_bound(base);
        while (it != regions.end() && it->first < base + size) {
            const auto next = std::next(it);
            // Memory that allocate() gave is alive until release(), so whatever claims its place is mistaken.
            if (it->second.owned) fail(BATON_ERR_INTERNAL, "memory at {:#x} overlaps memory of baton_malloc", base);
            drop(it);
            it = next;
        }
    }

    /// Drops regions whose memory has been freed without anybody telling.
    void drop_freed() {
        for (auto it = regions.begin(); it != regions.end();) {
            const auto next = std::next(it);
            const PointerInfo now = domain.classify(reinterpret_cast<const void *>(it->first));
            const bool same =
                now.base == it->first && now.size == it->second.size && now.buffer_id == it->second.buffer_id;
            if (!same && !it->second.owned) drop(it);
            it = next;
        }
    }

    Regions::iterator find_current(const PointerInfo &info) {
        const auto found = regions.find(info.base);
        const bool current =
            found != regions.end() && found->second.size == info.size && found->second.buffer_id == info.buffer_id;
        return current ? found : regions.end();
    }

    void publish(const PointerInfo &info, RegionSlots slots, Region &region) {
        try {
            region.place = peers.publish(domain.export_region(info), timeout, slots);
            region.published = true;
            region.reason.clear();
        } catch (const NotMapped &refused) {
            // If the communicator is broken, that is the reason, or what the caller would hear from its next call.
            if (const auto broken = peers.interruption()) throw Failure(*broken);
            region.reason = refused.what();
            region.code = refused.code();
        }
    }

    /// Returns the allocation's region, published now if it is new and to have a slot. If it finds none
    /// (BATON_ERR_MEMORY), nothing is kept of it: it may find one the next time. REQUIRES: info.base != 0.
    Region &region_of(const PointerInfo &info, std::optional<RegionSlots> slots) {
        const auto found = find_current(info);
        if (found != regions.end()) return found->second;
        drop_overlapping(info.base, info.size);
        // Peers keep freed memory alive as long as they have it mapped, and slots may be short. Publishing is slow
        // anyway, so this is a good time to look.
        drop_freed();
        retire_dropped();
        Region region;
        region.size = info.size;
        region.buffer_id = info.buffer_id;
        region.reason = "it is for this rank alone";
        // Its entry first: nothing may fail once the peers have it.
        const auto place = regions.emplace(info.base, std::move(region)).first;
        try {
            if (slots) publish(info, *slots, place->second);
        } catch (...) {
            regions.erase(place);
            throw;
        }
        return place->second;
    }

    void publish_again_if_refused(const PointerInfo &info) {
        const auto refused = [&] {
            const auto found = find_current(info);
            return found != regions.end() && !found->second.published ? &found->second : nullptr;
        };
        if (refused() == nullptr) return;
        drop_freed();
        retire_dropped();
        if (Region *const region = refused()) publish(info, RegionSlots::callers, *region);
    }

    /// Whether the caller's next region would find no slot.
    bool is_full() const {
        const auto callers = [](std::uint32_t slot) { return slot < caller_slots; };
        const auto has_slot = [&](const auto &entry) {
            return entry.second.published && callers(entry.second.place.slot);
        };
        return std::count_if(regions.begin(), regions.end(), has_slot) +
                   std::count_if(dropped.begin(), dropped.end(), callers) +
                   std::count_if(leaving.begin(), leaving.end(), callers) ==
               caller_slots;
    }

    static Location locate(const Region &region, std::uint64_t base, const void *pointer) {
        Location location;
        location.direct = region.published;
        location.reason = region.reason;
        if (region.published) {
            location.place = region.place;
            location.offset = address_of(pointer) - base;
        }
        return location;
    }

    /// Memory from the domain with its region; nothing stays behind on failure.
    std::pair<void *, Region *> allocate(std::size_t bytes, std::optional<RegionSlots> slots) {
        const bool for_peers = slots == RegionSlots::own;
        void *const pointer = for_peers ? domain.allocate(bytes) : domain.allocate_own(bytes);
        try {
            const PointerInfo info = domain.classify(pointer);
            if (info.base != address_of(pointer))
                fail(BATON_ERR_INTERNAL, "allocated memory at {} is not known", pointer);
            Region &region = region_of(info, slots);
            region.owned = true;
            region.for_peers = for_peers;
            region.asked = bytes;
            return {pointer, &region};
        } catch (...) {
            domain.release(pointer);
            throw;
        }
    }

    void release(Regions::iterator region) {
        void *const pointer = reinterpret_cast<void *>(region->first);
        const bool published = region->second.published;
        const std::uint32_t slot = region->second.place.slot;
        regions.erase(region);
        domain.release(pointer);
        // At once: whoever gives memory back has no operation under way that names it.
        if (published) peers.retire(slot);
    }

    /// What is known about an allocation that is gone.
    static PointerInfo gone(std::uint64_t base, const Region &region) {
        PointerInfo info;
        info.base = base;
        info.size = region.size;
        info.buffer_id = region.buffer_id;
        return info;
    }
    /// release(), then tells of it without the lock.
    void release_and_tell(Regions::iterator region, std::unique_lock<std::mutex> lock) {
        const PointerInfo info = gone(region->first, region->second);
        release(region);
        lock.unlock();
        tell_freed(info);
    }
    void tell_freed(const PointerInfo &info) const {
        if (freed) freed(info);
    }

    /// Sum of the bytes asked for, over those regions from allocate() that are `wanted`.
    template <class Wanted>
    std::size_t allocated(const Wanted &wanted) const {
        std::size_t bytes = 0;
        for (const auto &[base, region] : regions) bytes += region.owned && wanted(region) ? region.asked : 0;
        return bytes;
    }

    MemoryDomain &domain;
    PeerMemory &peers;
    std::chrono::milliseconds timeout;
    const Issued issued;
    const Freed freed;

    mutable std::mutex mutex;  // held while publishing: peers' service threads, which answer, do not need it
    Regions regions;
    // The slots of regions that are gone, until they are retired. `leaving` waits for what `issued` has marked;
    // `dropped` has come since.
    std::vector<std::uint32_t> leaving;
    std::vector<std::uint32_t> dropped;
    std::atomic<bool> has_dropped{false};     // either has some; written with the lock held
    std::atomic<bool> look_for_freed{false};  // forget() has come while the lock was held
};

RegionRegistry::RegionRegistry(MemoryDomain &domain, PeerMemory &peers, std::chrono::milliseconds timeout,
                               Issued issued, Freed freed)
    : impl_(std::make_unique<Impl>(domain, peers, timeout, std::move(issued), std::move(freed))) {}

void RegionRegistry::set_timeout(std::chrono::milliseconds timeout) {
    const std::lock_guard lock(impl_->mutex);
    impl_->timeout = timeout;
}

RegionRegistry::~RegionRegistry() {
    for (const auto &[base, region] : impl_->regions) {
        if (!region.owned) continue;
        try {
            impl_->domain.release(reinterpret_cast<void *>(base));
            impl_->tell_freed(Impl::gone(base, region));
        } catch (const std::exception &error) {
            log(LogLevel::warn, -1, "memory of baton_malloc was not freed: {}", error.what());
        }
    }
}

RegionRegistry::Location RegionRegistry::locate(const PointerInfo &info, const void *pointer, std::size_t bytes) {
    if (auto never = impl_->never_direct(info, pointer, bytes)) return *std::move(never);
    const std::lock_guard lock(impl_->mutex);
    try {
        return Impl::locate(impl_->region_of(info, RegionSlots::callers), info.base, pointer);
    } catch (const Failure &failure) {
        if (failure.code() != BATON_ERR_MEMORY || impl_->peers.interruption()) throw;
        return {.reason = failure.what()};
    }
}

std::optional<RegionRegistry::Location> RegionRegistry::peek(const PointerInfo &info, const void *pointer,
                                                             std::size_t bytes) const {
    if (auto never = impl_->never_direct(info, pointer, bytes)) return never;
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->find_current(info);
    if (found != impl_->regions.end()) return Impl::locate(found->second, info.base, pointer);
    if (impl_->is_full())
        return Location{.reason = fmt::format("all {} regions of this rank are in use", caller_slots)};
    return std::nullopt;
}

void RegionRegistry::add(const PointerInfo &info, const void *pointer, std::size_t bytes) {
    if (const auto never = impl_->never_direct(info, pointer, bytes))
        throw Failure(BATON_ERR_UNSUPPORTED, never->reason);
    const std::lock_guard lock(impl_->mutex);
    impl_->publish_again_if_refused(info);
    Impl::Region &region = impl_->region_of(info, RegionSlots::callers);
    if (!region.published) throw NotMapped(region.code, region.reason);
    ++region.registered;
}

void RegionRegistry::remove(const void *pointer) {
    const std::lock_guard lock(impl_->mutex);
    const auto found = containing(impl_->regions, address_of(pointer));
    if (found == impl_->regions.end() || found->second.registered == 0) {
        fail(BATON_ERR_ARGUMENT, "pointer {} is not registered by baton_register", pointer);
    }
    // The region stays: calls in flight may name it, and the next one may use it again.
    --found->second.registered;
}

void *RegionRegistry::allocate(std::size_t bytes) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->allocate(bytes, RegionSlots::callers).first;
}

void *RegionRegistry::allocate_scratch(std::size_t bytes) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->allocate(bytes, std::nullopt).first;
}

void RegionRegistry::release(void *pointer) {
    std::unique_lock lock(impl_->mutex);
    const auto found = impl_->regions.find(address_of(pointer));
    if (found == impl_->regions.end() || !found->second.owned) {
        fail(BATON_ERR_ARGUMENT, "pointer {} was not given by baton_malloc of this communicator", pointer);
    }
    if (found->second.for_peers) {
        fail(BATON_ERR_ARGUMENT, "pointer {} is the base of a window; baton_window_destroy gives it back", pointer);
    }
    impl_->release_and_tell(found, std::move(lock));
}

RegionRegistry::Allocation RegionRegistry::allocate_published(std::size_t bytes) {
    const std::lock_guard lock(impl_->mutex);
    const auto [pointer, region] = impl_->allocate(bytes, RegionSlots::own);
    if (!region->published) {
        const NotMapped refused(region->code, region->reason);
        impl_->release(impl_->regions.find(address_of(pointer)));
        throw refused;
    }
    return {pointer, region->place};
}

void RegionRegistry::release_published(void *pointer) {
    std::unique_lock lock(impl_->mutex);
    const auto found = impl_->regions.find(address_of(pointer));
    if (found == impl_->regions.end() || !found->second.for_peers)
        fail(BATON_ERR_INTERNAL, "{} was not given by allocate_published", pointer);
    impl_->release_and_tell(found, std::move(lock));
}

void RegionRegistry::forget(const PointerInfo &freed) noexcept {
    const std::unique_lock lock(impl_->mutex, std::try_to_lock);
    if (!lock) {
        impl_->look_for_freed = true;
        return;
    }
    const auto found = impl_->find_current(freed);
    if (found != impl_->regions.end()) impl_->drop(found);
}

void RegionRegistry::retire_dropped() {
    if (!impl_->has_dropped.load(std::memory_order_relaxed) && !impl_->look_for_freed.load(std::memory_order_relaxed))
        return;
    const std::lock_guard lock(impl_->mutex);
    impl_->retire_dropped();
}

std::optional<std::uint64_t> RegionRegistry::asked_bytes(const PointerInfo &info) const {
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->find_current(info);
    if (found == impl_->regions.end() || !found->second.owned) return std::nullopt;
    return found->second.asked;
}

std::size_t RegionRegistry::count() const {
    const std::lock_guard lock(impl_->mutex);
    std::size_t published = 0;
    for (const auto &[base, region] : impl_->regions) published += region.published ? 1 : 0;
    return published;
}

std::size_t RegionRegistry::own_bytes() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->allocated([](const Impl::Region &region) { return !region.for_peers; });
}

std::size_t RegionRegistry::allocated_bytes() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->allocated([](const Impl::Region &) { return true; });
}

}  // namespace baton::core
