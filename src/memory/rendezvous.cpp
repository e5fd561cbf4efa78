#include "memory/rendezvous.hpp"

#include <sched.h>

#include <atomic>
#include <utility>

namespace baton::core {
namespace {

std::atomic_ref<std::uint64_t> shared(std::uint64_t &word) { return std::atomic_ref<std::uint64_t>(word); }

}  // namespace

Rendezvous::Rendezvous(Bootstrap &bootstrap, std::function<bool()> stop)
    : segment_(bootstrap, sizeof(Slice) + static_cast<std::size_t>(bootstrap.size()) * pair_entries * sizeof(Slot)),
      rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      stop_(std::move(stop)),
      posted_to_(static_cast<std::size_t>(bootstrap.size())),
      looked_for_(static_cast<std::size_t>(bootstrap.size())) {}

void Rendezvous::write(Slot &slot, std::uint64_t number, const Entry &entry) {
    shared(slot.number).store(0, std::memory_order_relaxed);
    for (std::size_t index = 0; index < entry.size(); ++index) {
        shared(slot.words[index]).store(entry[index], std::memory_order_release);
    }
    shared(slot.number).store(number, std::memory_order_release);
}

bool Rendezvous::read(Slot &slot, std::uint64_t number, std::chrono::steady_clock::time_point until,
                      Entry &entry) const {
    for (std::uint32_t polls = 1;; ++polls) {
        const std::uint64_t seen = shared(slot.number).load(std::memory_order_acquire);
        if (seen > number) return false;
        if (seen == number) {
            for (std::size_t index = 0; index < entry.size(); ++index) {
                entry[index] = shared(slot.words[index]).load(std::memory_order_acquire);
            }
            if (shared(slot.number).load(std::memory_order_relaxed) == number) return true;
        }
        if (polls % 64 == 0) {
            if (std::chrono::steady_clock::now() > until || stop_()) return false;
            sched_yield();
        }
    }
}

std::uint64_t Rendezvous::post(const Entry &entry) {
    const std::uint64_t number = ++posted_;
    write(slice(rank_)->slots[number % call_entries], number, entry);
    return number;
}

int Rendezvous::collect(std::uint64_t number, std::chrono::nanoseconds patience, std::vector<Entry> &all) const {
    const auto until = std::chrono::steady_clock::now() + patience;
    all.assign(static_cast<std::size_t>(size_), Entry{});
    for (int peer = 0; peer < size_; ++peer) {
        if (!read(slice(peer)->slots[number % call_entries], number, until, all[static_cast<std::size_t>(peer)]))
            return peer;
    }
    return -1;
}

void Rendezvous::post_to(int peer, const Entry &entry) {
    const std::uint64_t number = ++posted_to_[static_cast<std::size_t>(peer)];
    write(pair_slot(rank_, peer, number), number, entry);
}

bool Rendezvous::await_post(int peer, std::uint64_t number, std::chrono::steady_clock::time_point until,
                            Entry &entry) const {
    return read(pair_slot(peer, rank_, number), number, until, entry);
}

void Rendezvous::close() { shared(slice(rank_)->closed).store(1, std::memory_order_release); }

bool Rendezvous::closed() const {
    for (int peer = 0; peer < size_; ++peer) {
        if (shared(slice(peer)->closed).load(std::memory_order_acquire) != 0) return true;
    }
    return false;
}

}  // namespace baton::core
