#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/message_launch.hpp"
#include "emulation/block.hpp"
#include "sync/comm_view.hpp"

namespace baton::emulation {

/// Threads of a block at most. The last of the three warps compares headers while the others take; of the GPU's eight
/// the others would do no more.
inline constexpr unsigned message_block_threads = 96;

/// Blocks of a launch at most where all of `ranks` launch at once. A launch has no more than it has channels or calls.
constexpr std::size_t most_message_blocks(int ranks) {
    return most_threads / message_block_threads / static_cast<unsigned>(ranks);
}

/// Runs sends and recvs as GpuMessages launches them, and returns when they have ended. `channels`: of the
/// communicator; `seed`, `resident`: of run_grid(). `direct`: a send whose head is among `calls`, if it has one; its
/// copy runs beside the kernel, as on a stream of its own.
void launch_messages(const core::CommView &view, int channels, const std::vector<core::MessageCall> &calls,
                     std::uint64_t seed, unsigned resident = UINT_MAX,
                     std::optional<core::DirectSend> direct = std::nullopt);

}  // namespace baton::emulation
