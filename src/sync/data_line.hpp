#pragma once

#include <cstddef>
#include <cstdint>

#include "util/hd.hpp"

namespace baton::core {

/// 120 bytes of data and the epoch that says which operation they belong to: a packet (packet.hpp) whose flag is a
/// sixteenth of it instead of a half.
///
/// Written by eight threads of the sender, read by eight threads of the receiver, in the receiver's memory.
/// GPU: the eight threads store the line with one instruction of their warp, 16 bytes each, and load it with one. It
/// crosses NVLink and the L2 as one piece then, so a reader that sees the epoch sees the data. PTX does not promise
/// that, but the machine does it: NCCL's LL128 protocol rests on the same. It does not hold over PCIe, nor in host
/// memory, nor where the eight threads have diverged; docs/memory_model.md says where lines are used.
/// Host: data, then epoch with release; the reader takes the epoch with acquire, then the data.
/// A line may be written again when its reader has taken it:
/// - a collective's line by two parities, as its packets;
/// - a line of a ring when the reader has said so (transport.hpp, pass_lines);
/// - a message's line when its slot has been handed back (arena.hpp).
struct alignas(128) DataLine {
    static constexpr std::size_t payload = 120;
    std::byte data[payload];
    std::uint64_t epoch;
};

constexpr BATON_HD std::uint64_t lines_for(std::uint64_t bytes) {
    return (bytes + DataLine::payload - 1) / DataLine::payload;
}

}  // namespace baton::core
