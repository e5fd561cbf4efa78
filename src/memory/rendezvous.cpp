#include "memory/rendezvous.hpp"

#include <sched.h>

#include <atomic>

namespace baton::core {
namespace {

std::atomic_ref<std::uint64_t> shared(std::uint64_t &word) { return std::atomic_ref<std::uint64_t>(word); }

}  // namespace

Rendezvous::Rendezvous(Bootstrap &bootstrap, int rank, int size)
    : segment_(bootstrap, sizeof(Slice)), rank_(rank), size_(size) {}

std::uint64_t Rendezvous::post(const Entry &entry) {
    const std::uint64_t number = ++posted_;
    Slot &slot = slice(rank_)->slots[number % ring];
    shared(slot.number).store(0, std::memory_order_relaxed);
    for (std::size_t index = 0; index < entry.size(); ++index) {
        shared(slot.words[index]).store(entry[index], std::memory_order_release);
    }
    shared(slot.number).store(number, std::memory_order_release);
    return number;
}

int Rendezvous::collect(std::uint64_t number, std::chrono::nanoseconds patience, std::vector<Entry> &all) const {
    const auto until = std::chrono::steady_clock::now() + patience;
    all.assign(static_cast<std::size_t>(size_), Entry{});
    for (int peer = 0; peer < size_; ++peer) {
        Slot &slot = slice(peer)->slots[number % ring];
        for (std::uint32_t polls = 1;; ++polls) {
            if (shared(slot.number).load(std::memory_order_acquire) == number) {
                Entry &entry = all[static_cast<std::size_t>(peer)];
                for (std::size_t index = 0; index < entry.size(); ++index) {
                    entry[index] = shared(slot.words[index]).load(std::memory_order_acquire);
                }
                if (shared(slot.number).load(std::memory_order_relaxed) == number) break;
            }
            if (polls % 64 == 0) {
                if (std::chrono::steady_clock::now() > until) return peer;
                sched_yield();
            }
        }
    }
    return -1;
}

void Rendezvous::close() { shared(slice(rank_)->closed).store(1, std::memory_order_release); }

bool Rendezvous::closed() const {
    for (int peer = 0; peer < size_; ++peer) {
        if (shared(slice(peer)->closed).load(std::memory_order_acquire) != 0) return true;
    }
    return false;
}

}  // namespace baton::core
