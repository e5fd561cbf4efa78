#pragma once

#include "baton/baton.h"

namespace baton::core {

enum class Algorithm {
    arrive,         // barrier
    packet,         // data with flags, one flight
    line,           // the same with fewer flags, for more data
    push,           // straight into the peers' buffers; in reductions the inputs, by copy engines
    pull,           // read from the peers' buffers; a rank that only sends may write
    two_shot,       // allreduce: pull, combine, push
    two_shot_line,  // the same by lines
    two_phase,      // allreduce: pull and combine all, then push all
    staged,         // through staging
    ring,           // allgather: from neighbour to neighbour
    chain,          // reductions: sums from neighbour to neighbour, results back
    two_level,      // within islands of GPUs, and between them
    pipeline,       // broadcast: segments from rank to rank, along any links
    pipeline_line,  // the same by lines
    direct,         // put and get: the address is known
};

enum class Mover {
    host,
    kernel,
    copy_engine
};

/// Why a plan is what it is. describe() puts it into words, so calls that nobody asks about pay for no text.
enum class Reason {
    no_data,              // a barrier
    buffered,             // a message of at most Capabilities::message_bytes
    tuned,                // the tuning table's row for the size
    links,                // Capabilities::links
    instead_of_row,       // what that row says is not possible here
    reach,                // likewise, because of Capabilities::reach_reason
    relays_unmeasured,    // what that row says was measured without the relays that it would take here
    whole_words_only,     // what that row says is for blocks of whole words
    staging,              // instead of what that row says, because of Capabilities::single_copies_share_cpus
    packet_limit,         // by the setting
    copy_engine_limit,    // by the setting
    transport_asked_for,  // by the setting
    zero_sm,              // the same
};

/// How a call runs. The same on all ranks: it depends on what all ranks know alike. (Which engine moves a rank's data
/// in `push` is each rank's own business: kernels and copy engines speak the same protocol.)
struct Plan {
    Algorithm algorithm = Algorithm::packet;
    Mover mover = Mover::host;
    bool stream_words = false;  // order by stream memory operations (zero-SM)
    int channels = 1;
    Reason reason = Reason::no_data;
    const char *no_route = nullptr;  // words: why not along the links' route, where they have one for the operation
};

/// Whether an algorithm's data go from rank to rank, through all ranks.
constexpr bool is_pipeline(Algorithm algorithm) {
    return algorithm == Algorithm::pipeline || algorithm == Algorithm::pipeline_line;
}

/// Whether an algorithm follows a Route.
constexpr bool is_routed(Algorithm algorithm) {
    return algorithm == Algorithm::ring || algorithm == Algorithm::chain || algorithm == Algorithm::two_level ||
           is_pipeline(algorithm);
}

/// Whether an algorithm's data go in packets (sync/packet.hpp).
constexpr bool goes_in_packets(Algorithm algorithm) { return algorithm == Algorithm::packet; }
/// Whether an algorithm's data go in lines (sync/data_line.hpp).
constexpr bool goes_in_lines(Algorithm algorithm) {
    return algorithm == Algorithm::line || algorithm == Algorithm::two_shot_line ||
           algorithm == Algorithm::pipeline_line;
}
/// Whether all of its data lie in lines at once, and so must fit there. Those of a pipeline go round instead.
constexpr bool lies_in_lines(Algorithm algorithm) { return goes_in_lines(algorithm) && !is_pipeline(algorithm); }
constexpr bool goes_through_staging(Algorithm algorithm) { return algorithm == Algorithm::staged; }
/// Neither staged, nor in lines, nor along a route: packets, pushes, pulls, shots. The kernels of an operation are
/// divided among files by this.
constexpr bool is_plain(Algorithm algorithm) {
    return !goes_through_staging(algorithm) && !goes_in_lines(algorithm) && !is_routed(algorithm);
}

/// Whether it is a reduction whose inputs copy engines push, and kernels combine (pushed.hpp).
constexpr bool combines_pushed(baton_operation operation, Algorithm algorithm) {
    return (operation == BATON_ALLREDUCE || operation == BATON_REDUCE_SCATTER) && algorithm == Algorithm::push;
}

/// Whether peers read or write the caller's buffers. (A window's memory is mapped by all in any case.)
constexpr bool needs_reach(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::push:
        case Algorithm::pull:
        case Algorithm::two_shot:
        case Algorithm::two_phase:
        case Algorithm::ring:
        case Algorithm::chain:
        case Algorithm::two_level:
        case Algorithm::pipeline:
            return true;
        case Algorithm::arrive:
        case Algorithm::packet:
        case Algorithm::line:
        case Algorithm::two_shot_line:
        case Algorithm::pipeline_line:
        case Algorithm::staged:
        case Algorithm::direct:
            return false;
    }
    return false;
}

/// What takes the place of staging on the host, if all ranks have mapped what the operation reads (allreduce: and
/// writes).
inline Algorithm algorithm_without_staging(baton_operation operation) {
    return operation == BATON_ALLREDUCE ? Algorithm::two_shot : Algorithm::pull;
}

const char *algorithm_name(Algorithm algorithm);
const char *mover_name(Mover mover);

}  // namespace baton::core
