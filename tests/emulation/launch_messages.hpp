#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/message_launch.hpp"
#include "sync/comm_view.hpp"

namespace baton::emulation {

/// Runs sends and recvs as GpuMessages launches them, and returns when they have ended. `channels`: of the
/// communicator; `seed`, `resident`: of run_grid(). `direct`: a send whose head is among `calls`, if it has one; its
/// copy runs beside the kernel, as on a stream of its own.
void launch_messages(const core::CommView &view, int channels, const std::vector<core::MessageCall> &calls,
                     std::uint64_t seed, unsigned resident = UINT_MAX,
                     std::optional<core::DirectSend> direct = std::nullopt);

}  // namespace baton::emulation
