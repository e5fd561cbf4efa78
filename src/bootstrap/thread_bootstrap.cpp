#include "bootstrap/thread_bootstrap.hpp"

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "bootstrap/told_failure.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// A barrier that sleeps, and the ranks' blocks. A block is written before the barrier of its round and read after it.
/// The block of the round after next takes its place: a rank gets there only when all have read this one.
struct ThreadBootstrap::Shared {
    explicit Shared(int ranks) : size(ranks) {
        for (auto &set : blocks) set.resize(static_cast<std::size_t>(ranks));
    }

    const int size;
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::vector<std::vector<std::byte>> blocks[2];  // by round % 2, then by rank
    int arrived = 0;
    std::uint64_t round = 0;
    int abandoned = 0;
    ToldFailure last_words;  // of the first rank that has given up
};

ThreadBootstrap::ThreadBootstrap(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

ThreadBootstrap::~ThreadBootstrap() = default;

std::vector<std::unique_ptr<ThreadBootstrap>> ThreadBootstrap::make(int size) {
    auto shared = std::make_shared<Shared>(size);
    std::vector<std::unique_ptr<ThreadBootstrap>> ends;
    for (int rank = 0; rank < size; ++rank) {
        ends.push_back(std::unique_ptr<ThreadBootstrap>(new ThreadBootstrap(shared, rank)));
    }
    return ends;
}

int ThreadBootstrap::size() const { return shared_->size; }

void ThreadBootstrap::barrier() { allgather(nullptr, 0, nullptr); }

void ThreadBootstrap::allgather(const void *mine, std::size_t bytes, void *all) {
    constexpr auto between_looks = std::chrono::milliseconds(10);
    const auto start = Clock::now();
    call_watch(start);
    std::unique_lock lock(shared_->mutex);
    const std::uint64_t round = shared_->round;
    auto &blocks = shared_->blocks[round % 2];
    const auto *block = static_cast<const std::byte *>(mine);
    blocks[static_cast<std::size_t>(rank_)].assign(block, block + bytes);
    const auto all_here = [&] { return shared_->round != round; };
    const auto throw_if_heard = [&] {
        const std::lock_guard again(shared_->mutex);
        if (shared_->last_words.any()) throw failure_of(shared_->last_words);
    };
    if (++shared_->arrived == shared_->size) {
        shared_->arrived = 0;
        ++shared_->round;
        shared_->changed.notify_all();
    }
    while (!shared_->changed.wait_for(lock, between_looks, all_here)) {
        lock.unlock();
        try {
            call_watch(start);
            throw_if_heard();
            lock.lock();
        } catch (...) {
            lock.lock();
            if (all_here()) break;
            --shared_->arrived;
            throw;
        }
    }
    for (std::size_t r = 0; r < blocks.size(); ++r) {
        if (blocks[r].size() != bytes)
            fail(BATON_ERR_INTERNAL, "rank {} gives {} bytes, rank {} gives {}", rank_, bytes, r, blocks[r].size());
        if (bytes != 0) std::memcpy(static_cast<std::byte *>(all) + r * bytes, blocks[r].data(), bytes);
    }
}

void ThreadBootstrap::give_up(const Failure &failure) noexcept {
    const std::lock_guard lock(shared_->mutex);
    if (!shared_->last_words.any()) shared_->last_words.set(rank_, failure);
}

bool ThreadBootstrap::abandon(std::chrono::nanoseconds patience) {
    std::unique_lock lock(shared_->mutex);
    ++shared_->abandoned;
    shared_->changed.notify_all();
    return shared_->changed.wait_for(lock, patience, [&] { return shared_->abandoned == shared_->size; });
}

}  // namespace baton::core
