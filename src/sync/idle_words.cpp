#include "sync/idle_words.hpp"

#include <sched.h>

#include <atomic>

namespace baton::core {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic_ref<std::uint64_t> shared(std::uint64_t *word) { return std::atomic_ref<std::uint64_t>(*word); }

}  // namespace

IdleWords::IdleWords(Bootstrap &bootstrap)
    : rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      segment_(bootstrap, phases * static_cast<std::size_t>(bootstrap.size()) * sizeof(Line)) {}

std::uint64_t *IdleWords::word(int phase, int at, int from) const {
    return &reinterpret_cast<Line *>(segment_.slice(at))[phase * size_ + from].word;
}

std::vector<IdleWords::Operation> IdleWords::operations(int phase) const {
    using Kind = Operation::Kind;
    std::vector<Operation> list{{Kind::write, word(phase, rank_, rank_), 1}};
    const auto for_each_peer = [&](auto make) {
        for (int step = 1; step < size_; ++step) list.push_back(make((rank_ + step) % size_));
    };
    for_each_peer([&](int peer) { return Operation{Kind::write, word(phase, peer, rank_), 1}; });
    for_each_peer([&](int peer) { return Operation{Kind::wait_until_equal, word(phase, rank_, peer), 1}; });
    for_each_peer([&](int peer) { return Operation{Kind::write, word(phase, rank_, peer), 0}; });
    list.push_back({Kind::write, word(phase, rank_, rank_), 0});
    return list;
}

std::optional<IdleWords::Overdue> IdleWords::overdue(Clock::time_point now, std::chrono::nanoseconds timeout) {
    for (int phase = 0; phase < phases; ++phase) {
        Clock::time_point &since = since_[static_cast<std::size_t>(phase)];
        std::uint64_t state = 1;
        if (shared(word(phase, rank_, rank_)).compare_exchange_strong(state, seen)) since = now;
        if (state != seen || now - since < timeout) continue;
        for (int step = 1; step < size_; ++step) {
            const int peer = (rank_ + step) % size_;
            if (shared(word(phase, rank_, peer)).load(std::memory_order_acquire) == 0) return Overdue{phase, peer};
        }
    }
    return std::nullopt;
}

void IdleWords::release() {
    // What is queued behind waits again within microseconds, so this stays a little; never long, for the caller's sake.
    constexpr auto longest = std::chrono::milliseconds(20), quiet = std::chrono::milliseconds(1);
    const auto start = Clock::now();
    for (auto last = start, now = start; now - start < longest && now - last < quiet; now = Clock::now()) {
        for (int phase = 0; phase < phases; ++phase) {
            if (shared(word(phase, rank_, rank_)).load(std::memory_order_acquire) == 0) continue;
            for (int peer = 0; peer < size_; ++peer) {
                if (peer != rank_) shared(word(phase, rank_, peer)).store(1, std::memory_order_release);
            }
            last = now;
        }
        ::sched_yield();
    }
}

}  // namespace baton::core
