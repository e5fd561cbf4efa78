#include "memory/peer_memory.hpp"

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "bootstrap/agree.hpp"
#include "memory/board.hpp"
#include "memory/doorbell.hpp"
#include "memory/mapped_regions.hpp"
#include "memory/peer_service.hpp"
#include "memory/publisher.hpp"
#include "util/failure.hpp"
#include "util/fixed_text.hpp"

namespace baton::core {

struct PeerMemory::Impl {
    Impl(Bootstrap &bootstrap, MemoryDomain &domain, PeerCallbacks callbacks, const std::vector<int> &processors)
        : doorbell(make_doorbell(bootstrap)), board(bootstrap, doorbell->name()) {
        // One rank's failure is everybody's: nobody may go on to publish to a rank that is not there.
        agree(bootstrap, [&] {
            mapped.emplace(domain, board.rank(), board.size());
            publisher.emplace(board, *doorbell, *mapped);
            service.emplace(board, *doorbell, *mapped, *publisher, std::move(callbacks));
            service->start(!bootstrap.same_process(), processors);
        });
    }

    static std::unique_ptr<Doorbell> make_doorbell(Bootstrap &bootstrap) {
        std::unique_ptr<Doorbell> made;
        agree(bootstrap, [&] { made = std::make_unique<Doorbell>(); });
        return made;
    }

    ~Impl() { stop(); }

    void stop() {
        if (service) service->stop();
        if (std::atomic_ref(board.mine().closed).exchange(1, std::memory_order_release) != 0) return;
        for (int r = 0; r < board.size(); ++r) {
            if (r != board.rank()) board.ring_bell(r);  // a publish() there may be waiting for this rank
        }
    }

    std::atomic<std::uint64_t> reclaimed{0};  // the board's retirements at the last reclaim()
    std::unique_ptr<Doorbell> doorbell;
    Board board;
    std::optional<MappedRegions> mapped;
    std::optional<Publisher> publisher;
    std::optional<PeerService> service;
};

PeerMemory::PeerMemory(Bootstrap &bootstrap, MemoryDomain &domain, PeerCallbacks callbacks,
                       const std::vector<int> &processors)
    : impl_(std::make_unique<Impl>(bootstrap, domain, std::move(callbacks), processors)) {}

PeerMemory::~PeerMemory() = default;

PublishedRegion PeerMemory::publish(const Export &exported, std::chrono::milliseconds timeout, RegionSlots slots) {
    if (exported.post.kind == HandleKind::none) throw NotMapped(exported.code, exported.reason);
    return impl_->publisher->publish(exported.post, exported.fd.get(), timeout, slots);
}

void PeerMemory::retire(std::uint32_t slot) noexcept { impl_->publisher->retire(slot); }

bool PeerMemory::has_retired() const {
    return impl_->board.retirements() != impl_->reclaimed.load(std::memory_order_relaxed) ||
           impl_->mapped->has_left_for_reclaim();
}

void PeerMemory::reclaim() noexcept {
    const std::uint64_t retirements = impl_->board.retirements();
    impl_->mapped->reclaim([&](int owner, std::uint32_t slot) { return impl_->board.retired_generation(owner, slot); });
    impl_->reclaimed.store(retirements, std::memory_order_relaxed);
}

void PeerMemory::unmap(int owner, const PublishedRegion &region) noexcept {
    impl_->mapped->unmap_region(owner, region);
}

void PeerMemory::stop() { impl_->stop(); }

void PeerMemory::unmap_peers() {
    impl_->mapped->reclaim([](int, std::uint32_t) { return std::numeric_limits<std::uint64_t>::max(); });
}

void *PeerMemory::address(int owner, const PublishedRegion &region) const {
    return impl_->mapped->address(owner, region);
}

void *PeerMemory::address_for_copies(int owner, const PublishedRegion &region, Copies which) const {
    return impl_->mapped->address_for_copies(owner, region, which);
}

const RegionEntry *PeerMemory::table() const { return impl_->mapped->table(); }

void PeerMemory::come_to_meeting() {
    std::atomic_ref(impl_->board.mine().meetings).fetch_add(1, std::memory_order_release);
}

std::vector<int> PeerMemory::missing() const {
    const Board &board = impl_->board;
    const auto meetings = [&](int rank) {
        return std::atomic_ref(board.record(rank).meetings).load(std::memory_order_acquire);
    };
    std::vector<int> ranks;
    for (int r = 0; r < board.size(); ++r) {
        if (meetings(r) < meetings(board.rank())) ranks.push_back(r);
    }
    return ranks;
}

void PeerMemory::leave() { std::atomic_ref(impl_->board.mine().left).store(1, std::memory_order_release); }

void PeerMemory::interrupt(const Failure &reason) noexcept { impl_->publisher->interrupt(reason); }
std::optional<Failure> PeerMemory::interruption() const { return impl_->publisher->interruption(); }

void PeerMemory::post_error(const Failure &reason) noexcept {
    BoardRecord &mine = impl_->board.mine();
    std::uint32_t none = 0;
    if (!std::atomic_ref(mine.error_state).compare_exchange_strong(none, 1, std::memory_order_relaxed)) return;
    mine.error_code = static_cast<std::uint32_t>(reason.code());
    copy_text(mine.error_text, reason.what());
    std::atomic_ref(mine.error_state).store(2, std::memory_order_release);
}

std::optional<Failure> PeerMemory::error_of(int rank) const noexcept { return impl_->board.error_of(rank); }

std::size_t PeerMemory::shared_bytes() const { return impl_->board.bytes_per_rank() + impl_->mapped->table_bytes(); }

}  // namespace baton::core
