#include "osu/output.hpp"

#include <fmt/format.h>

#include "names.hpp"
#include "statistics.hpp"

namespace baton::bench::osu {

std::string title_line(const Test &test, MemorySpace memory_space) {
    return fmt::format("# Baton{} {} Test v{}.{}\n", memory_space == MemorySpace::gpu ? "-CUDA" : "", test.title,
                       BATON_VERSION_MAJOR, BATON_VERSION_MINOR);
}

std::string type_header(const Test &test, const Options &options, baton_type type) {
    std::string text;
    if (is_one_sided(test.family)) {
        text += "# Window creation: baton_window_create\n";
        text += fmt::format("# Synchronization: {}\n", test.synchronization);
    }
    if (test.family != Family::barrier) {
        text += fmt::format("# Datatype: {}.\n", mpi_style_name(type));
    }
    if (is_one_sided(test.family) && options.memory_space == MemorySpace::gpu) {
        text += "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on DEVICE (D)\n";
    }
    const char *figure = is_bandwidth(test.family)   ? "Bandwidth (MB/s)"
                         : is_one_sided(test.family) ? "Latency (us)"
                                                     : "Avg Latency(us)";
    text +=
        test.family == Family::barrier ? fmt::format("# {}", figure) : fmt::format("{:<10}{:>18}", "# Size", figure);
    if (options.full) {
        text += fmt::format("{:>18}{:>18}{:>12}", "Min Latency(us)", "Max Latency(us)", "Iterations");
    }
    if (options.validate) {
        text += fmt::format("{:>18}", "Validation");
    }
    for (const int percent : options.percentiles) {
        const char *what = is_bandwidth(test.family) ? "Tail BW(MB/s)" : "Tail Lat(us)";
        // The longest name fills a figure's whole column, so P100 takes one column more.
        text += fmt::format(" {:>17}", fmt::format("P{} {}", percent, what));
    }
    return text + "\n";
}

std::string row(const Test &test, const Options &options, const Measurement &measurement) {
    std::string text = test.family == Family::barrier
                           ? fmt::format("{:>17.2f}", measurement.figure)
                           : fmt::format("{:<10}{:>18.2f}", measurement.bytes, measurement.figure);
    if (options.full) {
        text += fmt::format("{:>18.2f}{:>18.2f}{:>12}", measurement.least, measurement.most,
                            options.iterations_for(measurement.bytes));
    }
    if (options.validate) {
        text += fmt::format("{:>18}", measurement.wrong == 0 ? "Pass" : "Fail");
    }
    for (const int percent : options.percentiles) {
        text += fmt::format("{:>18.2f}", percentile(measurement.samples, percent));
    }
    return text + "\n";
}

}  // namespace baton::bench::osu
