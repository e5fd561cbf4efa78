#pragma once

#include <cstdint>

#include "baton/baton.h"

namespace baton::core {

enum class Algorithm {
    arrive,     // barrier
    packet,     // data with flags, one flight
    push,       // straight into the peers' buffers
    pull,       // read from the peers' buffers
    two_shot,   // allreduce: pull, combine, push
    two_phase,  // allreduce: pull and combine all, then push all
    staged,     // through the peers' staging
    direct,     // put and get: the address is known
};

enum class Mover {
    host,
    kernel,
    copy_engine
};

/// Why a plan is what it is; describe() has the words. A call that nobody asks pays for no text.
enum class Reason {
    no_data,              // a barrier
    fits_packets,         // at most Capabilities::packet_bytes
    buffered,             // a message of at most Capabilities::message_bytes
    reach,                // Capabilities::reach_reason
    copy_engine_limit,    // at least Capabilities::copy_engine_limit
    transport_asked_for,  // by the setting
    zero_sm,              // the same
    window,               // its addresses are known
};

/// What a communicator can do; the same on all ranks.
struct Capabilities {
    int size = 1;
    bool on_gpu = false;
    baton_transport transport = BATON_TRANSPORT_AUTO;
    bool reaches_buffers = false;            // peers can read and write a rank's user buffers
    const char *reach_reason = "";           // how, or why not: for people
    int channels = 1;                        // most channels an operation may use
    std::uint64_t packet_bytes = 0;          // most bytes per pair that packets hold (all channels)
    std::uint64_t packet_channel_bytes = 0;  // the same for one channel
    std::uint64_t message_bytes = 0;         // most bytes of a message that are buffered
    std::uint64_t segment_bytes = 0;
    std::uint64_t copy_engine_limit = 0;
};

/// How a call runs. The same on all ranks: it depends on what all ranks know alike. (Which engine moves a rank's data
/// in `push` is each rank's own business: kernels and copy engines speak the same protocol.)
struct Plan {
    Algorithm algorithm = Algorithm::packet;
    Mover mover = Mover::host;
    bool stream_words = false;  // order by stream memory operations (zero-SM)
    int channels = 1;
    std::uint64_t segment_bytes = 0;
    Reason reason = Reason::no_data;
};

const char *algorithm_name(Algorithm algorithm);
const char *mover_name(Mover mover);

}  // namespace baton::core
