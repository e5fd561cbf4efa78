#include "startup/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "baton/baton.h"
#include "cli_checks.hpp"

namespace baton::bench::startup {

std::optional<Options> parse_options(int argc, char **argv, bool print, int &exit_code) {
    CLI::App app(
        "How long it takes from the start of the processes to the end of the first collective, phase by phase, how "
        "often hwloc was loaded, and what memory it cost. Run it under mpirun.",
        "baton_startup");
    Options options;
    const std::map<std::string, Device> devices{
        {"auto", Device::automatic}, {"cuda", Device::cuda}, {"host", Device::host}};
    std::string device = "auto";
    app.add_option("--device", device, "Where buffers lie")->check(CLI::IsMember(devices))->capture_default_str();
    app.add_option("--json", options.json, "Write the figures to this file as well")->check(output_file());
    app.add_option("--limit", options.limit,
                   "Fail if creation and the first collective together take more seconds on any rank")
        ->check(seconds_from(Least::above_zero));
    app.set_version_flag("--version", fmt::format("baton_startup {}.{}.{}", BATON_VERSION_MAJOR, BATON_VERSION_MINOR,
                                                  BATON_VERSION_PATCH));
    try {
        refuse_empty_values(argc, argv);
        app.parse(argc, argv);
        options.device = devices.at(device);
    } catch (const CLI::ParseError &error) {
        std::ostringstream ignored;
        exit_code = app.exit(error, print ? std::cout : ignored, print ? std::cerr : ignored) == 0 ? 0 : 2;
        return std::nullopt;
    }
    return options;
}

}  // namespace baton::bench::startup
