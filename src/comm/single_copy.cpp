#include "comm/single_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "transport/host/remote_memory.hpp"
#include "util/kept.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

/// Where a rank's memory lies, for the others.
struct Offer {
    std::uint64_t address = 0;
    std::int32_t pid = 0;
};

std::vector<HostRemote> exchange(const void *mine, Bootstrap &bootstrap) {
    std::vector<HostRemote> remotes;
    for (const Offer &offer :
         bootstrap.allgather(Offer{reinterpret_cast<std::uint64_t>(mine), static_cast<std::int32_t>(getpid())})) {
        remotes.push_back({reinterpret_cast<std::byte *>(offer.address), offer.pid});
    }
    return remotes;
}

/// What the peers reach by its address. One that is slow may still write when a wait of this rank has failed.
struct Words : Kept {
    std::uint64_t word[1 + max_ranks] = {};  // this rank's own; behind it, by rank, the same as that rank has read it
};

template <class Work>
double microseconds(const Work &work) {
    const auto before = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count();
}

/// Each rank reads every peer's word and writes it back to it, beside the others' answers.
bool try_single_copies(const CommView &view, Bootstrap &bootstrap, Words &words) {
    constexpr std::uint64_t value = 0x4261746F6E;
    words.word[0] = value + static_cast<std::uint64_t>(view.rank);
    const std::vector<HostRemote> remotes = exchange(words.word, bootstrap);
    bool works = true;
    for (int peer = 0; peer < view.size; ++peer) {
        if (peer == view.rank) continue;
        const HostRemote &remote = remotes[static_cast<std::size_t>(peer)];
        std::uint64_t word = 0;
        works = works && host_read(reinterpret_cast<std::byte *>(&word), remote, sizeof(word)) &&
                word == value + static_cast<std::uint64_t>(peer) &&
                host_write(remote + sizeof(word) * (1 + static_cast<std::uint64_t>(view.rank)),
                           reinterpret_cast<const std::byte *>(&word), sizeof(word));
    }
    bootstrap.barrier();
    for (int peer = 0; peer < view.size; ++peer)
        works = works && (peer == view.rank || words.word[1 + peer] == words.word[0]);
    const std::vector<std::int32_t> all = bootstrap.allgather(static_cast<std::int32_t>(works));
    return std::all_of(all.begin(), all.end(), [](std::int32_t one) { return one != 0; });
}

/// Words of a rank for the others, each on a line of its own.
struct RingWords {
    alignas(128) std::uint64_t given;  // written by the previous rank: pieces that it has put, or lets this one read
    alignas(128) std::uint64_t taken;  // written by the next rank: of this one's pieces those that it has taken
};

/// Each rank gives measured_bytes to the next one, all at once, as often as asked. Nothing else may use staging
/// meanwhile: the buffers of slot 0 hold pieces, a rank's own buffer of slot 1 its words.
class Ring {
public:
    static void prepare(const CommView &view) { new (words_of(view, view.rank)) RingWords{}; }
    /// REQUIRES: all ranks have called prepare().
    Ring(const CommView &view, const std::vector<HostRemote> &sources)
        : view_(view),
          next_((view.rank + 1) % view.size),
          previous_((view.rank + view.size - 1) % view.size),
          source_of_previous_(sources[static_cast<std::size_t>(previous_)]),
          own_(words_of(view, view.rank)),
          at_next_(words_of(view, next_)),
          at_previous_(words_of(view, previous_)) {}

    void pass_staged(const std::byte *source, std::byte *destination) {
        std::byte *const there = view_.arena(next_).staging(0, view_.rank);
        const std::byte *const here = view_.own().staging(0, previous_);
        for (std::uint64_t piece = 0; piece < measured_bytes / piece_bytes; ++piece) {
            const std::uint64_t place = piece % 2 * piece_bytes;
            if (piece >= 2) wait(&own_->taken, pieces_ - 1);
            std::memcpy(there + place, source + piece * piece_bytes, piece_bytes);
            store_release(&at_next_->given, ++pieces_);
            wait(&own_->given, pieces_);
            std::memcpy(destination + piece * piece_bytes, here + place, piece_bytes);
            store_release(&at_previous_->taken, pieces_);
        }
        wait(&own_->taken, pieces_);
    }
    void pass_by_single_copies(std::byte *destination) {
        store_release(&at_next_->given, ++pieces_);
        wait(&own_->given, pieces_);
        host_read(destination, source_of_previous_, measured_bytes);
        store_release(&at_previous_->taken, pieces_);
        wait(&own_->taken, pieces_);
    }
    /// No wait has been given up. Behind one nothing that was measured means anything.
    bool in_time() const { return in_time_; }

private:
    static constexpr std::uint64_t piece_bytes = measured_segment / 2;
    static constexpr std::chrono::milliseconds most{50};  // for all passes

    static RingWords *words_of(const CommView &view, int rank) {
        return reinterpret_cast<RingWords *>(view.arena(rank).staging(1, rank));
    }
    void wait(const std::uint64_t *word, std::uint64_t value) {
        for (std::uint32_t polls = 1; in_time_ && load_acquire(word) < value; ++polls) {
            relax_between_polls(polls, view_.polls_between_yields);
            if (polls % 256 == 0) in_time_ = std::chrono::steady_clock::now() < deadline_;
        }
    }

    const CommView &view_;
    const int next_, previous_;
    const HostRemote source_of_previous_;
    RingWords *const own_, *const at_next_, *const at_previous_;
    std::uint64_t pieces_ = 0;  // that each rank has given, or is about to take
    const std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + most;
    bool in_time_ = true;
};

}  // namespace

bool single_copies_work(const CommView &view, Bootstrap &bootstrap) {
    auto words = std::make_unique<Words>();
    try {
        return try_single_copies(view, bootstrap, *words);
    } catch (const std::exception &) {
        Kept::keep(std::move(words));
        throw;
    }
}

CopyTimes time_copies(const CommView &view, Bootstrap &bootstrap) {
    constexpr int rounds = 6;
    std::vector<std::byte> source(measured_bytes, std::byte{1}), destination(measured_bytes, std::byte{0});
    Ring::prepare(view);
    Ring ring(view, exchange(source.data(), bootstrap));
    constexpr double endless = std::numeric_limits<double>::infinity();
    CopyTimes mine{.single_us = endless, .staged_us = endless};
    for (int round = 0; round < rounds && ring.in_time(); ++round) {
        const double staged = microseconds([&] { ring.pass_staged(source.data(), destination.data()); });
        const double single = microseconds([&] { ring.pass_by_single_copies(destination.data()); });
        mine = {.single_us = std::min(mine.single_us, single), .staged_us = std::min(mine.staged_us, staged)};
    }
    if (!ring.in_time()) mine.staged_us = endless;
    CopyTimes slowest{.single_us = 0, .staged_us = 0};
    for (const CopyTimes &one : bootstrap.allgather(mine)) {
        slowest.single_us = std::max(slowest.single_us, one.single_us);
        slowest.staged_us = std::max(slowest.staged_us, one.staged_us);
    }
    return slowest;
}

}  // namespace baton::core
