#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "baton/baton.h"
#include "collectives/links.hpp"
#include "collectives/tuning.hpp"

namespace baton::core {

/// What a communicator can do and is to do; the same on all ranks.
struct Capabilities {
    int size = 1;
    bool on_gpu = false;
    baton_transport transport = BATON_TRANSPORT_AUTO;
    bool reaches_buffers = false;            // peers can read and write a rank's user buffers
    std::string reach_reason;                // how, or why not: for people
    bool single_copies_share_cpus = false;   // on the host, with more ranks than processors
    int channels = 1;                        // most channels an operation may use
    std::uint64_t packet_bytes = 0;          // most bytes per pair that packets hold (all channels)
    std::uint64_t packet_channel_bytes = 0;  // the same for one channel
    std::uint64_t line_bytes = 0;            // as packet_bytes, for lines; 0: lines do not arrive whole here
    std::uint64_t line_channel_bytes = 0;
    std::uint64_t message_bytes = 0;         // most bytes of a message that its slot holds in packets
    std::uint64_t message_line_bytes = 0;    // likewise that a line buffer holds; 0 as for line_bytes
    std::uint64_t message_staged_bytes = 0;  // of a staging buffer of messages; 0: they are not staged
    std::uint64_t segment_bytes = 0;
    Links links;
    Tuning tuning;
    // The user's settings, which the tuning does not overrule:
    bool packet_limit_set = false;  // packet_bytes is the limit that was asked for
    std::optional<std::uint64_t> copy_engine_limit;
};

}  // namespace baton::core
