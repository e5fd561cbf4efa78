#include "comm/single_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
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

/// Words that peers reach by their address. A slow peer may still write there when a wait of this rank has failed.
struct Words : Kept {
    std::uint64_t word[1 + max_ranks] = {};  // this rank's own; then, by rank, the same as that rank has read it
};

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

}  // namespace baton::core
