#include <condition_variable>
#include <cstring>
#include <mutex>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// A barrier that sleeps, and the ranks' blocks: valid between the two barriers of an allgather.
struct ThreadBootstrap::Shared {
    explicit Shared(int ranks) : size(ranks), blocks(static_cast<std::size_t>(ranks)) {}

    void barrier() {
        std::unique_lock lock(mutex);
        const std::uint64_t mine = round;
        if (++arrived == size) {
            arrived = 0;
            ++round;
            all_here.notify_all();
        } else {
            all_here.wait(lock, [&] { return round != mine; });
        }
    }

    const int size;
    std::vector<const void *> blocks;  // element r: written by rank r before the first barrier, read after it
    std::mutex mutex;
    std::condition_variable all_here;
    int arrived = 0;
    std::uint64_t round = 0;
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

void ThreadBootstrap::barrier() { shared_->barrier(); }

void ThreadBootstrap::allgather(const void *mine, std::size_t bytes, void *all) {
    shared_->blocks[static_cast<std::size_t>(rank_)] = mine;
    shared_->barrier();
    for (std::size_t r = 0; r < shared_->blocks.size(); ++r) {
        if (bytes != 0) std::memcpy(static_cast<std::byte *>(all) + r * bytes, shared_->blocks[r], bytes);
    }
    shared_->barrier();  // nobody reads `mine` any more
}

}  // namespace baton::core
