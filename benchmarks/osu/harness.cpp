#include "osu/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "osu/output.hpp"
#include "program.hpp"

namespace baton::bench::osu {

namespace {

void print(const World &world, const std::string &text) {
    if (world.rank() == 0) {
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }
}

/// Throws Ended if there is nothing to run, after printing what there is to say.
Options read_options(const Test &test, const World &world, int argc, char **argv) {
    Options options;
    try {
        options = parse_options(test, argc, argv);
    } catch (const BadUsage &error) {
        if (world.rank() == 0) {
            std::fprintf(stderr, "%s: %s\n\n%s", test.name, error.what(), usage(test).c_str());
        }
        throw Ended{1};
    }
    if (options.help || options.version) {
        print(world, options.help ? usage(test) : title_line(test, options.memory_space));
        throw Ended{0};
    }
    const bool pair = !is_collective(test.family);
    if (pair ? world.size() != 2 : world.size() < 2) {
        if (world.rank() == 0) {
            std::fprintf(stderr, "This test requires %s two processes\n", pair ? "exactly" : "at least");
        }
        throw Ended{1};
    }
    return options;
}

/// As in OMB, a collective's size is at most the memory limit / ranks, and with a buffer for each message the limit /
/// window.
std::size_t limited_size(const Test &test, const Options &options, int ranks) {
    std::size_t parts = 1;
    if (is_collective(test.family)) {
        parts = static_cast<std::size_t>(ranks);
    } else if (options.window_buffers) {
        parts = static_cast<std::size_t>(options.window);
    }
    return std::min(options.max_bytes, options.memory_limit / parts);
}

/// Measures and prints one type's rows, and counts them; false after a row with wrong elements.
bool run_sizes(const Test &test, const Context &context, Runner &runner, int &rows) {
    const std::size_t first = test.family == Family::barrier ? context.max_bytes : context.options.min_bytes;
    for (std::size_t bytes = first; bytes <= context.max_bytes; bytes = std::max<std::size_t>(1, bytes * 2)) {
        const std::size_t count = runner.count_for(bytes);
        if (count == 0) {
            continue;
        }
        context.world.barrier();
        Measurement measurement = runner.measure(count);
        context.communicator.check_alive();
        measurement.wrong = context.world.sum(measurement.wrong);
        print(context.world, row(test, context.options, measurement));
        ++rows;
        if (measurement.wrong != 0) {
            if (context.world.rank() == 0) {
                std::fprintf(stderr,
                             "DATA VALIDATION ERROR: %s exited with status 1 on message size %zu. (%llu wrong)\n",
                             test.name, measurement.bytes, static_cast<unsigned long long>(measurement.wrong));
            }
            return false;
        }
    }
    return true;
}

}  // namespace

int run_test(const Test &test, int argc, char **argv, const MakeRunner &make_runner) {
    return run_benchmark(argc, argv, [&](const World &world) {
        const Options options = read_options(test, world, argc, argv);
        const Communicator communicator(world, options.memory_space);
        const Verifier verifier(communicator);
        const Context context{world, communicator, verifier, options, limited_size(test, options, world.size())};
        if (context.max_bytes < options.max_bytes && world.rank() == 0) {
            std::fprintf(stderr, "The memory limit (-M) lowers the largest message from %zu to %zu bytes\n",
                         options.max_bytes, context.max_bytes);
        }
        print(world,
              fmt::format("{}{}", is_one_sided(test.family) ? "" : "\n", title_line(test, options.memory_space)));
        int rows = 0;
        for (const baton_type type : options.types) {
            const auto runner = make_runner(context, type);
            print(world, type_header(test, options, type));
            if (!run_sizes(test, context, *runner, rows)) {
                return 1;
            }
        }
        if (rows > 0) {
            return 0;
        }
        if (world.rank() == 0) {
            const bool lowered = context.max_bytes < options.max_bytes;
            const std::string limit = lowered ? fmt::format(" (at most {} by -M)", context.max_bytes) : "";
            fmt::print(stderr, "{}: nothing was measured: of {} to {} bytes{} no size holds an element\n", test.name,
                       options.min_bytes, options.max_bytes, limit);
        }
        return 1;
    });
}

}  // namespace baton::bench::osu
