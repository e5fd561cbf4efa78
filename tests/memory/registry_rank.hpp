#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

#include "fake_domain.hpp"
#include "memory/region_registry.hpp"
#include "ranks.hpp"

namespace baton::core::testing {

/// What a rank needs to publish pretended memory.
struct RegistryRank {
    explicit RegistryRank(Bootstrap &bootstrap)
        : domain(true),
          peers(bootstrap, domain, {}),
          registry(domain, peers, std::chrono::milliseconds(30000),
                   {[this] { marked = issued; }, [this] { return done >= marked; }},
                   [this](const PointerInfo &info) { freed.push_back(info); }) {}

    int issued = 0, done = 0, marked = 0;  // numbers of operations
    std::vector<PointerInfo> freed;
    FakeDomain domain;
    PeerMemory peers;
    RegionRegistry registry;
};

/// Rank 0 runs `body`; rank 1, its peer, is there to answer.
template <class Rank>
void with_a_peer(const std::function<void(Rank &, Rank &peer)> &body) {
    std::atomic<Rank *> peer{nullptr};
    run_threads(2, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        if (bootstrap.rank() == 1) peer = &rank;
        bootstrap.barrier();
        if (bootstrap.rank() == 0) body(rank, *peer);
        bootstrap.barrier();
    });
}

}  // namespace baton::core::testing
