#include "memory/publisher.hpp"

#include <sched.h>

#include <algorithm>

#include "memory/service_thread.hpp"

namespace baton::core {

Publisher::Publisher(const Board &board, Doorbell &doorbell, MappedRegions &mapped)
    : board_(board),
      doorbell_(doorbell),
      mapped_(mapped),
      gone_(static_cast<std::size_t>(board.size())),
      slots_(region_slots) {}

PublishedRegion Publisher::publish(RegionPost post, int fd, std::chrono::milliseconds timeout, RegionSlots slots) {
    const std::lock_guard one_at_a_time(publishing_);
    throw_if_interrupted();
    const auto deadline = Clock::now() + timeout;
    const PublishedRegion published = take_slot(slots);
    post.slot = published.slot;
    post.generation = published.generation;
    try {
        mapped_.set_own(post);
    } catch (...) {
        give_back(published);
        throw;
    }
    board_.mine().post = post;
    std::atomic_ref(board_.mine().posted).store(++posts_, std::memory_order_release);
    try {
        ring_peers(fd, deadline);
        await_acks(deadline, timeout);
    } catch (const std::exception &exception) {
        // A peer may still be reading the post: its place on the board cannot be used again.
        interrupt(as_failure(exception));
        throw;
    }
    try {
        throw_if_refused();
    } catch (...) {
        give_back(published);
        throw;
    }
    return published;
}

void Publisher::retire(std::uint32_t slot) noexcept {
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        generation = slots_[slot].generation;
    }
    give_back({slot, generation});
}

void Publisher::interrupt(const Failure &reason) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!interruption_) interruption_ = reason;
    }
    board_.ring_bell(board_.rank());
}

void Publisher::peer_gone(int peer) {
    gone_[static_cast<std::size_t>(peer)].store(true, std::memory_order_release);
    board_.ring_bell(board_.rank());
}

std::optional<Failure> Publisher::interruption() {
    const std::lock_guard lock(mutex_);
    return interruption_;
}

void Publisher::throw_if_interrupted() {
    if (const std::optional<Failure> reason = interruption()) throw Failure(*reason);
}

void Publisher::ring_peers(int fd, Clock::time_point deadline) {
    const auto keep_trying = [&] { return !interruption() && Clock::now() < deadline; };
    for (int r = 0; r < board_.size(); ++r) {
        if (r == board_.rank()) continue;
        const Doorbell::Rung rung = doorbell_.ring(board_.identity(r).doorbell, board_.rank(), posts_, fd, keep_trying);
        if (rung == Doorbell::Rung::gone) fail_gone(r);
        if (rung == Doorbell::Rung::given_up) return;  // await_acks() says why
    }
}

int Publisher::unacknowledged() const {
    for (int r = 0; r < board_.size(); ++r) {
        if (r != board_.rank() &&
            std::atomic_ref(board_.mine().acks[r].number).load(std::memory_order_acquire) != posts_)
            return r;
    }
    return -1;
}

bool Publisher::is_gone(int peer) const {
    return gone_[static_cast<std::size_t>(peer)].load(std::memory_order_acquire) ||
           std::atomic_ref(board_.record(peer).closed).load(std::memory_order_acquire) != 0;
}

void Publisher::fail_gone(int peer) {
    // The service thread may know more. Or the peer has gone because of what another rank has found.
    throw_if_interrupted();
    if (const auto reason = board_.error_of_any()) throw Failure(*reason);
    const bool left = std::atomic_ref(board_.record(peer).left).load(std::memory_order_acquire) != 0;
    fail(BATON_ERR_PEER_DEAD, "rank {} (pid {}) {}", peer, board_.identity(peer).process.pid,
         left ? "has destroyed its communicator" : "has ended");
}

void Publisher::await_acks(Clock::time_point deadline, std::chrono::milliseconds timeout) {
    // Peers answer within microseconds on the host, a millisecond on GPUs: worth a few yields before sleeping.
    constexpr int yields = 64;
    for (int round = 0;; ++round) {
        const std::uint32_t bell = std::atomic_ref(board_.mine().bell).load(std::memory_order_acquire);
        const int peer = unacknowledged();
        if (peer < 0) return;
        throw_if_interrupted();
        // The peer's last act may have been the acknowledgement, so look again after its end was seen.
        if (is_gone(peer) && unacknowledged() == peer) fail_gone(peer);
        const auto left = deadline - Clock::now();
        if (left <= left.zero()) {
            fail(BATON_ERR_TIMEOUT, "rank {} (pid {}) has not mapped a region of rank {} within {} ms; is it stopped?",
                 peer, board_.identity(peer).process.pid, board_.rank(), timeout.count());
        }
        if (round < yields) {
            ::sched_yield();
        } else {
            // Bounded: a peer may end between its acknowledgement and the bell.
            board_.sleep_on_bell(board_.rank(), bell, std::min<Clock::duration>(left, ServiceThread::tick_interval));
        }
    }
}

void Publisher::throw_if_refused() {
    for (int r = 0; r < board_.size(); ++r) {
        const Ack &ack = board_.mine().acks[r];
        if (r == board_.rank() || ack.code == BATON_SUCCESS) continue;
        throw NotMapped(failure_of(static_cast<baton_result>(ack.code), "rank {} could not map it: {}", r, ack.text));
    }
}

PublishedRegion Publisher::take_slot(RegionSlots slots) {
    const std::lock_guard lock(mutex_);
    const bool own = slots == RegionSlots::own;
    const auto first = slots_.begin() + (own ? caller_slots : 0);
    const int count = own ? own_slots : caller_slots;
    // The slot that has been free longest: a late look at its old entry finds it unchanged for as long as possible.
    const auto slot =
        std::min_element(first, first + count, [](const Slot &a, const Slot &b) { return a.freed < b.freed; });
    if (slot->freed == Slot::taken) {
        fail(BATON_ERR_MEMORY, "all {} regions{} of rank {} are in use", count, own ? " for windows and staging" : "",
             board_.rank());
    }
    slot->freed = Slot::taken;
    return {static_cast<std::uint32_t>(slot - slots_.begin()), ++slot->generation};
}

void Publisher::give_back(const PublishedRegion &published) noexcept {
    mapped_.forget_own(published.slot);
    std::atomic_ref(board_.mine().retired[published.slot]).store(published.generation, std::memory_order_release);
    std::atomic_ref(board_.mine().retirements).fetch_add(1, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    slots_[published.slot].freed = ++frees_;
}

}  // namespace baton::core
