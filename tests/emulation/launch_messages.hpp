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

/// The most threads of a block. The last of the three warps compares headers while the others take. A GPU's eight warps
/// would do nothing more.
inline constexpr unsigned message_block_threads = 96;

/// The most blocks of a launch if all of `ranks` launch at once. A launch has no more than it has channels or calls.
constexpr std::size_t most_message_blocks(int ranks) {
    return most_threads / message_block_threads / static_cast<unsigned>(ranks);
}

/// Runs sends and recvs as GpuMessages launches them, and returns when they have ended. `channels` is the
/// communicator's; `seed` and `resident` are those of run_grid(). `direct` is a send whose head is among `calls`, if it
/// has one; its copy runs beside the kernel, as on a stream of its own.
void launch_messages(const core::CommView &view, int channels, const std::vector<core::MessageCall> &calls,
                     std::uint64_t seed, unsigned resident = UINT_MAX,
                     std::optional<core::DirectSend> direct = std::nullopt);

}  // namespace baton::emulation
