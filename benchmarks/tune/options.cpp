#include "tune/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command_line.hpp"
#include "names.hpp"
#include "tune/candidates.hpp"

namespace baton::bench::tune {

namespace {

std::size_t parse_bytes(const std::string &text) {
    const auto value = parse_size(text);
    if (!value || *value < smallest_bytes) {
        throw CLI::ValidationError(
            "--max",
            fmt::format("takes a size of at least {}, such as 64K, 16M or 1G, not \"{}\"", smallest_bytes, text));
    }
    return *value;
}

std::vector<Named<baton_operation>> known_operations() {
    std::vector<Named<baton_operation>> known{{"all", {}}};
    for (const Tuned &tuned : tuned_kinds()) {
        known.front().values.push_back(tuned.operation);
        known.push_back({baton_operation_name(tuned.operation), {tuned.operation}});
    }
    return known;
}

}  // namespace

Options parse_options(int argc, char **argv, bool print) {
    CLI::App app(
        "Measures which algorithm, mover and number of channels is the fastest for each operation and size on this "
        "machine with this number of ranks, and writes that to the tuning file that Baton reads. Run it under mpirun.",
        "baton_tune");
    Options options;
    const auto known = known_operations();
    std::string operations = "all";
    std::string max;
    app.add_option("--op", operations, fmt::format("Comma list: {}; the rows of others are kept", names_of(known)))
        ->capture_default_str();
    app.add_option("--max", max, "Largest size a rank, from 256 bytes on (default 256M on GPUs, 4M on the host)");
    app.add_option("--rounds", options.rounds, "Rounds, in which the candidates take turns; a time is their median")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--budget", options.budget, "Seconds for the timed calls of a candidate at one size")
        ->check(seconds_from(Least::above_zero))
        ->capture_default_str();
    app.add_option("--noise", options.noise, "A candidate that is slower by no more than this part is as good")
        ->check(from_0_to_1())
        ->capture_default_str();
    app.add_flag("--graph", options.graph, "Measure inside CUDA graphs; without copy engines, which those do not use");
    app.add_option(
           "--file", options.file,
           "The tuning file to write; other machines' tables in it are kept (default: where Baton looks for it)")
        ->check(output_file());
    app.add_flag("--dry-run", options.dry_run, "Write no tuning file");
    app.add_option("--json", options.json, "Write all measured times to this file")->check(output_file());
    add_device(app, options.device);
    parse_with(app, argc, argv, print, [&] {
        options.operations = parse_list("--op", operations, known);
        options.max_bytes = max.empty() ? 0 : parse_bytes(max);
    });
    return options;
}

}  // namespace baton::bench::tune
