#pragma once

#include <array>
#include <memory>
#include <vector>

#include "offers.hpp"
#include "programs.hpp"
#include "transport/host/remote_memory.hpp"

namespace baton::core::contract {

/// How one rank drives an engine.
class Runner {
public:
    using Addresses = std::array<std::byte *, max_ranks>;

    virtual ~Runner() = default;

    /// What this rank's engine offers: ranks may have different ones.
    virtual Offers offers() const = 0;

    /// How many engines, and so result blocks, a call takes on this rank: one per channel, or one for all channels.
    virtual int engines(const Call &call) const = 0;

    /// Runs the program once per call that this rank takes part in, as consecutive operations with nothing in between,
    /// and returns when all have ended. recv_of[k]: the peers' buffers of call k, for engines that must be told.
    virtual void run(Program program, const std::vector<Call> &calls, const std::vector<Addresses> &recv_of) = 0;

    /// To and from memory of the engine's kind.
    virtual void upload(void *to, const void *from, std::size_t bytes) = 0;
    virtual void download(void *to, const void *from, std::size_t bytes) = 0;
};

/// A way to run the programs: the engines of all ranks.
struct Transport {
    const char *name;
    bool on_gpu;
    int channels;   // at most, of an operation
    Offers offers;  // on every rank
    std::unique_ptr<Runner> (*make)(const CommView &view, const HostReach &reach);
    bool through_host = false;  // GPUs whose ranks meet in host memory
    bool emulated = false;      // on the host: slow, and peers know buffers by their regions only
};

Transport host_transport();
Transport kernel_transport();
Transport copy_engine_transport();
/// Kernels whose ranks meet in host memory.
Transport mapped_transport();
/// Kernels on even ranks, copy engines on odd ones: they speak one protocol.
Transport mixed_transport();

}  // namespace baton::core::contract
