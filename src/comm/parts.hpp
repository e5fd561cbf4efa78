#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/capabilities.hpp"
#include "collectives/executor.hpp"
#include "collectives/gpu_setup.hpp"
#include "comm/buffers.hpp"
#include "memory/memory_domain.hpp"
#include "memory/peer_memory.hpp"
#include "memory/placement.hpp"
#include "memory/region_registry.hpp"
#include "memory/rendezvous.hpp"
#include "sync/comm_view.hpp"
#include "sync/idle_words.hpp"

namespace baton::core {

/// What a rank's communicator is made of. Setup fills it at creation; shut_down() takes the layers away again.
struct CommParts {
    CommParts() = default;
    /// Tidies up after a creation that failed half-way, before any operation on any rank.
    ~CommParts();
    CommParts(const CommParts &) = delete;  // what it holds points at its members
    CommParts &operator=(const CommParts &) = delete;

    /// Returns, by rank, where this process sees what each has allocated and published. `own` is this rank's address.
    std::vector<std::byte *> addresses_of(const std::vector<PublishedRegion> &all, void *own) const;
    /// Bytes of this rank's in memory that all ranks of the communicator map.
    std::size_t shared_bytes() const;

    int device = -1;  // -1: on the host
    DeviceIdentity identity;
    int ranks_on_device = 1;
    Capabilities capabilities;
    bool stages_mapped = false;  // host: memory that all ranks have mapped is staged too (BATON_P2P=off)
    bool single_copy = false;
    Placement placement;
    CommView view;

    // Each is used by those after it, which are destroyed before it.
    using ControlPointer = std::unique_ptr<Control, void (*)(Control *)>;
    ControlPointer control{nullptr, nullptr};
    std::unique_ptr<MemoryDomain> domain;
    std::unique_ptr<PeerMemory> peers;
    std::unique_ptr<RegionRegistry> registry;
    std::unique_ptr<Buffers> buffers;
    std::unique_ptr<Rendezvous> rendezvous;
    std::unique_ptr<IdleWords> idle_words;
    std::unique_ptr<Executor> executor;
};

}  // namespace baton::core
