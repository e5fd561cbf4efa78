#include "startup/options.hpp"

#include <CLI/CLI.hpp>

#include "command_line.hpp"

namespace baton::bench::startup {

Options parse_options(int argc, char **argv, bool print) {
    CLI::App app(
        "How long it takes from the start of the processes to the end of the first collective, phase by phase, how "
        "often hwloc was loaded, and what memory it cost. Run it under mpirun.",
        "baton_startup");
    Options options;
    add_device(app, options.device);
    app.add_option("--json", options.json, "Write the figures to this file as well")->check(output_file());
    app.add_option("--limit", options.limit,
                   "Fail if creation and the first collective together take more seconds on any rank")
        ->check(seconds_from(Least::above_zero));
    parse_with(app, argc, argv, print, [] {});
    return options;
}

}  // namespace baton::bench::startup
