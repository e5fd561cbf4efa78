#include "perf/options.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command_line.hpp"
#include "names.hpp"
#include "transport/element/reduce.hpp"

namespace baton::bench::perf {

namespace {

std::vector<baton_type> parse_types(const std::string &text) {
    std::vector<Named<baton_type>> known{{"all", all_types()}};
    for (const baton_type type : all_types()) {
        known.push_back({baton_type_name(type), {type}});
    }
    // parse_type() knows more names than a message should list.
    std::vector<std::string> names = split(text, ',');
    for (std::string &name : names) {
        if (const auto type = parse_type(name)) {
            name = baton_type_name(*type);
        }
    }
    return parse_list("--type", fmt::format("{}", fmt::join(names, ",")), known);
}

std::vector<Named<baton_op>> known_ops() {
    std::vector<Named<baton_op>> known{{"all", all_ops()}};
    for (const baton_op op : all_ops()) {
        known.push_back({baton_op_name(op), {op}});
    }
    return known;
}

std::vector<Named<Kind>> known_kinds() {
    std::vector<Named<Kind>> known{{"all", {}}};
    for (const KindTraits &kind : all_kinds()) {
        known.front().values.push_back(kind.kind);
        known.push_back({kind.name, {kind.kind}});
    }
    return known;
}

std::vector<PeerKind> parse_peers(const std::string &text) {
    std::vector<Named<PeerKind>> known{
        {"nccl", {PeerKind::nccl, PeerKind::nccl_registered, PeerKind::nccl_symmetric, PeerKind::nccl_zero_cta}},
        {"nccl_default", {PeerKind::nccl}}};
    for (const PeerKind kind :
         {PeerKind::nccl_registered, PeerKind::nccl_symmetric, PeerKind::nccl_zero_cta, PeerKind::mpi}) {
        known.push_back({peer_name(kind), {kind}});
    }
    return parse_list("--against", text, known);
}

std::size_t parse_bytes(const std::string &option, const std::string &text) {
    const auto value = parse_size(text);
    if (!value || *value == 0) {
        throw CLI::ValidationError(option, fmt::format("takes a size such as 4096, 64K, 16M or 1G, not \"{}\"", text));
    }
    return *value;
}

/// Quotes an argument for a shell, where it needs to be.
std::string quoted(const std::string &argument) {
    constexpr const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
        return argument;
    }
    std::string text;
    for (const char character : argument) {
        text += character == '\'' ? "'\\''" : std::string(1, character);
    }
    return fmt::format("'{}'", text);
}

/// The options as typed; interpreted after CLI11 has read all of them.
struct Texts {
    std::string operations = "all", min, max, types = "float32", ops = "sum", modes = "eager", in_place = "no";
    std::string memories = "malloc", against, mpi_max;
    bool graph = false;
};

void declare_shapes(CLI::App &app, Options &options, Texts &texts) {
    app.add_option("--op", texts.operations, fmt::format("Comma list: {}", names_of(known_kinds())))
        ->capture_default_str();
    app.add_option("--min", texts.min, "Smallest size in bytes, with K, M or G (default 1K)");
    app.add_option("--max", texts.max, "Largest size (default 64M on GPUs, 4M on the host)");
    app.add_option("--factor", options.factor, "Each size is the last one times this")
        ->check(CLI::Range(std::size_t{2}, std::size_t{1024}))
        ->capture_default_str();
    app.add_option("--type", texts.types, "Comma list of types (int8 ... float64, float16, bfloat16, ...), or all")
        ->capture_default_str();
    app.add_option("--redop", texts.ops, fmt::format("Comma list: {}", names_of(known_ops())))->capture_default_str();
}

void declare_timing(CLI::App &app, Options &options) {
    app.add_option("--iters", options.iterations,
                   "Calls timed together in a round, at most (with --against 500, in graphs 100)")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--warmup", options.warmup,
                   "Untimed calls before the first round (0: as many timed ones as --iters says, whatever they take)")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str();
    app.add_option("--rounds", options.rounds, "Rounds; the time is their median (with --against 7)")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--budget", options.budget,
                   "Seconds for a row's timed calls: fewer calls a round where they are slow (0: any; with --against "
                   "0.14, for each side)")
        ->check(seconds_from(Least::zero))
        ->capture_default_str();
}

void declare_ways(CLI::App &app, Options &options, Texts &texts) {
    app.add_option("--mode", texts.modes, "Comma list: eager, graph (a CUDA graph of --iters calls)")
        ->capture_default_str();
    app.add_flag("--graph", texts.graph, "Short for --mode graph")->excludes("--mode");
    app.add_option("--inplace", texts.in_place, "no, yes or both (collectives)")->capture_default_str();
    app.add_option("--memory", texts.memories,
                   "Comma list: malloc (cudaMalloc or malloc), baton (baton_malloc), registered, all")
        ->capture_default_str();
    add_device(app, options.device);
}

void declare_comparison(CLI::App &app, Options &options, Texts &texts) {
    app.add_option("--against", texts.against,
                   "Comma list of libraries to measure in alternation with Baton: nccl (all its modes), nccl_default, "
                   "nccl_registered, nccl_symmetric, nccl_zero_cta, mpi");
    app.add_option("--nccl-library", options.nccl_library,
                   "The NCCL to load (default $BATON_NCCL_LIBRARY, then libnccl.so.2)");
    app.add_option("--mpi-max", texts.mpi_max, "Largest size for MPI (default 64M on GPUs, --max on the host)");
}

void declare(CLI::App &app, Options &options, Texts &texts) {
    declare_shapes(app, options, texts);
    declare_timing(app, options);
    declare_ways(app, options, texts);
    declare_comparison(app, options, texts);
    app.add_flag("--check,!--no-check", options.check, "Verify every element on every rank after each round (default)");
    app.add_flag("--explain", options.explain, "Print baton_explain's whole text below each row");
    app.add_option("--json", options.json, "Write all results to this file")->check(output_file());
}

/// Sets defaults for several sides: rounds of about 20 ms.
void adapt_to_comparison(const CLI::App &app, Options &options) {
    if (options.in_place != std::vector<InPlaceForm>{InPlaceForm::no}) {
        // Repeated calls in place change their inputs. What a library without a defined order makes of that has no
        // bound to check it by.
        throw CLI::ValidationError("--against", "compares out of place only; leave --inplace out");
    }
    if (app.count("--iters") == 0) {
        options.iterations = 500;
        options.graph_iterations = 100;
    }
    if (app.count("--rounds") == 0) {
        options.rounds = 7;
    }
    if (app.count("--budget") == 0) {
        options.budget = 0.02 * options.rounds;
    }
}

/// Throws if none of the types and reductions exist for an operation: leaving it out is not what was meant.
void check_reductions(const Options &options) {
    const auto reduces = std::find_if(options.operations.begin(), options.operations.end(),
                                      [](Kind kind) { return has_reduction(kind); });
    if (reduces == options.operations.end()) {
        return;
    }
    for (const baton_type type : options.types) {
        for (const baton_op op : options.ops) {
            if (core::op_defined(type, op)) {
                return;
            }
        }
    }
    throw CLI::ValidationError(
        "--redop", fmt::format("{} has no {} of {}: averages are of floating-point types", kind_name(*reduces),
                               baton_op_name(options.ops.front()), baton_type_name(options.types.front())));
}

/// Likewise if a sweep would have no row, because none of its operations exists in place.
void check_in_place(const Options &options) {
    const bool out_of_place =
        std::find(options.in_place.begin(), options.in_place.end(), InPlaceForm::no) != options.in_place.end();
    if (!out_of_place && std::none_of(options.operations.begin(), options.operations.end(), has_in_place)) {
        throw CLI::ValidationError("--inplace",
                                   fmt::format("{} is never in place", kind_name(options.operations.front())));
    }
}

/// Likewise for options of a peer that takes no part.
void check_peers(const Options &options) {
    const auto is_mpi = [](PeerKind kind) { return kind == PeerKind::mpi; };
    const std::vector<PeerKind> &peers = options.against;
    if (options.mpi_max != 0 && std::none_of(peers.begin(), peers.end(), is_mpi)) {
        throw CLI::ValidationError("--mpi-max", "is for --against mpi");
    }
    if (!options.nccl_library.empty() && std::all_of(peers.begin(), peers.end(), is_mpi)) {
        throw CLI::ValidationError("--nccl-library", "is for --against nccl");
    }
}

void interpret(const CLI::App &app, Options &options, const Texts &texts) {
    options.operations = parse_list("--op", texts.operations, known_kinds());
    options.types = parse_types(texts.types);
    options.ops = parse_list("--redop", texts.ops, known_ops());
    check_reductions(options);
    options.modes = parse_list<Mode>("--mode", texts.modes, {{"eager", {Mode::eager}}, {"graph", {Mode::graph}}});
    if (texts.graph) {
        options.modes = {Mode::graph};
    }
    options.in_place = parse_list<InPlaceForm>("--inplace", texts.in_place,
                                               {{"no", {InPlaceForm::no}},
                                                {"yes", {InPlaceForm::pointers}},
                                                {"both", {InPlaceForm::no, InPlaceForm::pointers}}});
    check_in_place(options);
    options.memories = parse_list<Memory>("--memory", texts.memories,
                                          {{"malloc", {Memory::malloc}},
                                           {"baton", {Memory::baton}},
                                           {"registered", {Memory::registered}},
                                           {"all", {Memory::malloc, Memory::baton, Memory::registered}}});
    options.min_bytes = texts.min.empty() ? 0 : parse_bytes("--min", texts.min);
    options.max_bytes = texts.max.empty() ? 0 : parse_bytes("--max", texts.max);
    if (options.max_bytes != 0 && options.min_bytes > options.max_bytes) {
        throw CLI::ValidationError("--min", fmt::format("{} is above --max {}", texts.min, texts.max));
    }
    options.graph_iterations = options.iterations;
    options.mpi_max = texts.mpi_max.empty() ? 0 : parse_bytes("--mpi-max", texts.mpi_max);
    if (!texts.against.empty()) {
        options.against = parse_peers(texts.against);
        adapt_to_comparison(app, options);
    }
    if (app.count("--budget") > 0 && options.budget > 0 && options.warmup == 0) {
        throw CLI::ValidationError("--budget", "needs --warmup, whose calls tell how many fit");
    }
    check_peers(options);
}

}  // namespace

Options parse_options(int argc, char **argv, bool print) {
    CLI::App app("Times Baton's operations over a sweep of sizes and verifies every result. Run it under mpirun.",
                 "baton_perf");
    Options options;
    Texts texts;
    declare(app, options, texts);
    options.command = "baton_perf";
    for (int argument = 1; argument < argc; ++argument) {
        options.command += " " + quoted(argv[argument]);
    }
    parse_with(app, argc, argv, print, [&] { interpret(app, options, texts); });
    return options;
}

}  // namespace baton::bench::perf
