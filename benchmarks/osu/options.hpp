#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "environment.hpp"

namespace baton::bench::osu {

/// What kind of test a binary is: sets the default sizes and iterations, the number of ranks, and the columns.
enum class Family {
    latency,            // two ranks, microseconds
    bandwidth,          // two ranks, MB/s
    one_sided_latency,  // two ranks, microseconds; one-sided header
    one_sided_bandwidth,
    collective,  // two ranks or more, microseconds
    barrier      // likewise, no sizes
};

struct Test {
    const char *name;   // "baton_allgather"
    const char *title;  // "Allgather Latency"
    Family family;
    bool in_place = false;             // takes -l
    const char *synchronization = "";  // one-sided: what completes a transfer
};

inline bool is_bandwidth(Family family) { return family == Family::bandwidth || family == Family::one_sided_bandwidth; }
inline bool is_one_sided(Family family) {
    return family == Family::one_sided_latency || family == Family::one_sided_bandwidth;
}
inline bool is_collective(Family family) { return family == Family::collective || family == Family::barrier; }

struct Options {
    std::size_t min_bytes = 1;
    std::size_t max_bytes = 0;
    int iterations[2] = {0, 0};  // for messages up to large_message bytes, and above
    int warmup[2] = {0, 0};
    bool full = false;
    bool validate = false;
    int validation_warmup = 5;
    std::size_t memory_limit = std::size_t{512} << 20;
    MemorySpace memory_space = MemorySpace::host;
    std::vector<baton_type> types{BATON_INT8};
    std::vector<int> percentiles;
    int window = 64;
    bool window_buffers = false;  // -b multiple: a buffer for each message of the window
    bool in_place = false;
    bool help = false;
    bool version = false;

    static constexpr std::size_t large_message = 8192;
    int iterations_for(std::size_t bytes) const { return iterations[bytes > large_message]; }
    int warmup_for(std::size_t bytes) const { return warmup[bytes > large_message]; }
};

class BadUsage : public Error {
public:
    using Error::Error;
};

/// Reads a command line in the manner of the OSU micro-benchmarks 7. Throws BadUsage for options that do not exist, do
/// not make sense for this test, or have bad values.
Options parse_options(const Test &test, int argc, char **argv);

std::string usage(const Test &test);

}  // namespace baton::bench::osu
