#include "topo/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command_line.hpp"

namespace baton::topology {
namespace {

const std::vector<std::string> parts{"matrix", "bandwidth", "tree", "ring", "ranks"};

/// An option whose file name may be left out.
CLI::Option *add_output(CLI::App &app, const std::string &name, std::string &file, const std::string &words) {
    return app.add_option(name, file, words)->expected(0, 1)->type_name("[FILE]");
}

void check_outputs(const Options &options) {
    const std::vector<std::string> outputs = options.outputs();
    const auto count = std::count(outputs.begin(), outputs.end(), "-");
    if (count > 1 || (count == 1 && !options.show.empty()))
        throw CLI::ValidationError("only one thing can go to the standard output; give the others a file");
}

}  // namespace

Options parse_options(int argc, char **argv, bool print) {
    CLI::App app(
        "Shows how the GPUs, NICs, processors and memory of a machine are connected, and what Baton makes of it. Alone "
        "or under mpirun; with several ranks it also shows which rank uses which GPU.",
        "baton_topo");
    Options options;
    auto *from = app.add_option("--from", options.from,
                                "A description instead of this machine: hwloc's XML, NCCL's topology XML, or what "
                                "--json has written; the format is found out. - is the standard input")
                     ->type_name("FILE");
    app.add_option("--override", options.override_file, "Facts that stand above the machine's own (docs/topology.md)")
        ->type_name("FILE");
    app.add_option("--show", options.show,
                   "Parts of the text: matrix, bandwidth, tree, ring, ranks; without it all of them, or none if "
                   "something else is written")
        ->delimiter(',')
        ->check(CLI::IsMember(parts));
    app.add_flag("--measure", options.measure,
                 "Copy between all GPUs of the ranks, one pair at a time; takes mpirun and GPUs")
        ->excludes(from);
    const std::pair<CLI::Option *, std::string *> outputs[] = {
        {add_output(app, "--svg", options.svg, "A picture"), &options.svg},
        {add_output(app, "--png", options.png, "The same in pixels"), &options.png},
        {add_output(app, "--json", options.json, "All facts that were found out; --from reads them again"),
         &options.json},
        {add_output(app, "--advice", options.advice, "What follows from them, as JSON"), &options.advice},
        {add_output(app, "--xml", options.xml, "hwloc's XML with the NVLinks, which lstopo opens"), &options.xml}};
    app.footer("What has no FILE goes to the standard output.");
    bench::parse_with(app, argc, argv, print, [&] {
        bool other_output = false;
        for (const auto &[option, file] : outputs) {
            if (option->count() > 0 && file->empty()) *file = "-";
            other_output = other_output || !file->empty();
        }
        if (options.show.empty() && !other_output) options.show = parts;
        if (options.from == "-") options.from = "/dev/stdin";
        check_outputs(options);
    });
    return options;
}

}  // namespace baton::topology
