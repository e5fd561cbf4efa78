#include "osu/options.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>

#include "names.hpp"

namespace baton::bench::osu {

namespace {

/// One line of the option table; `takes` decides which tests take it.
struct OptionLine {
    char letter;
    const char *name;
    int argument;
    bool (*takes)(const Test &test);
    const char *help;
};

bool always(const Test &) { return true; }
bool has_sizes(const Test &test) { return test.family != Family::barrier; }
bool has_full(const Test &test) { return is_collective(test.family) || test.family == Family::latency; }
bool has_window(const Test &test) { return is_bandwidth(test.family); }
bool has_in_place(const Test &test) { return test.in_place; }

// Letters and long names are those of OMB 7.
constexpr std::array option_lines{
    OptionLine{'m', "message-size", required_argument, has_sizes,
               "[MIN:]MAX  sizes in bytes, doubling from MIN to MAX"},
    OptionLine{'i', "iterations", required_argument, always, "ITER  timed iterations, for all sizes"},
    OptionLine{'x', "warmup", required_argument, always, "ITER  untimed iterations before, for all sizes"},
    OptionLine{'f', "full", no_argument, has_full, "print minimum, maximum and iterations too"},
    OptionLine{'c', "validation", no_argument, always,
               "check every element on every rank in every timed iteration; rc 1 on a failure"},
    OptionLine{'u', "validation-warmup", required_argument, has_sizes,
               "ITER  with -c, untimed iterations before each timed one, 0 to 10 (default 5)"},
    OptionLine{'d', "accelerator", required_argument, always, "cuda|host  where buffers lie (default host)"},
    OptionLine{'T', "type", required_argument, has_sizes,
               "TYPE[,TYPE...]  all, mpi_char, mpi_int, mpi_float, ... and fp16, bf16, fp8_e4m3, fp8_e5m2"},
    OptionLine{'M', "mem-limit", required_argument, has_sizes,
               "SIZE  most memory of a rank (default 512M, at least 1M)"},
    OptionLine{'z', "tail-lat", optional_argument, always,
               "[P,P,...]  percentile columns, up to 5 between 1 and 100 (default 50,90,99)"},
    OptionLine{'W', "window-size", required_argument, has_window, "N  messages in flight (default 64)"},
    OptionLine{'b', "buffer-num", required_argument, has_window,
               "single|multiple  one buffer, or one for each message of the window (default single; multiple with -c)"},
    OptionLine{'l', "in-place", no_argument, has_in_place, "use BATON_IN_PLACE"},
    OptionLine{'h', "help", no_argument, always, "print this"},
    OptionLine{'v', "version", no_argument, always, "print the version"},
};

int parse_count(char letter, const std::string &text, int least, int most) {
    const auto value = parse_size(text);
    if (!value || *value < static_cast<std::size_t>(least) || *value > static_cast<std::size_t>(most)) {
        throw BadUsage(fmt::format("-{} takes a number from {} to {}, not \"{}\"", letter, least, most, text));
    }
    return static_cast<int>(*value);
}

std::size_t parse_bytes(char letter, const std::string &text, std::size_t least) {
    const auto value = parse_size(text);
    if (!value || *value < least) {
        throw BadUsage(
            fmt::format("-{} takes a number of bytes from {} to {}, not \"{}\"", letter, least, largest_size, text));
    }
    return *value;
}

void parse_sizes(Options &options, const std::string &text) {
    const std::size_t colon = text.find(':');
    if (text == ":") {
        throw BadUsage("-m takes [MIN:]MAX, not \":\"");
    }
    if (colon != std::string::npos) {
        options.min_bytes = colon == 0 ? options.min_bytes : parse_bytes('m', text.substr(0, colon), 0);
        if (colon + 1 < text.size()) {
            options.max_bytes = parse_bytes('m', text.substr(colon + 1), 1);
        }
    } else {
        options.max_bytes = parse_bytes('m', text, 1);
    }
    if (options.min_bytes > options.max_bytes) {
        throw BadUsage(
            fmt::format("-m {}: the minimum {} is above the maximum {}", text, options.min_bytes, options.max_bytes));
    }
}

std::vector<baton_type> parse_types(const std::string &text) {
    std::vector<baton_type> types;
    bool all = false;
    for (const std::string &name : split(text, ',')) {
        if (lower(name) == "all") {
            all = true;
            continue;
        }
        const auto type = parse_type(name);
        if (!type) {
            throw BadUsage(fmt::format("-T does not know the type \"{}\"", name));
        }
        types.push_back(*type);
    }
    if (types.empty() && !all) {
        throw BadUsage(fmt::format("-T takes a list of types, not \"{}\"", text));
    }
    return all ? all_types() : types;
}

std::vector<int> parse_percentiles(const std::string &text) {
    std::vector<int> percentiles;
    for (const std::string &part : split(text, ',')) {
        percentiles.push_back(parse_count('z', part, 1, 100));
    }
    if (percentiles.empty() || percentiles.size() > 5) {
        throw BadUsage(fmt::format("-z takes 1 to 5 percentiles, not \"{}\"", text));
    }
    return percentiles;
}

MemorySpace parse_memory_space(const std::string &text) {
    if (lower(text) == "cuda") {
        return MemorySpace::gpu;
    }
    if (lower(text) == "host") {
        return MemorySpace::host;
    }
    throw BadUsage(fmt::format("-d takes cuda or host, not \"{}\": Baton moves device or host memory only", text));
}

void set_defaults(Options &options, Family family) {
    const auto set = [&](std::size_t max, int small, int small_warmup, int large, int large_warmup) {
        options.max_bytes = max;
        options.iterations[0] = small;
        options.warmup[0] = small_warmup;
        options.iterations[1] = large;
        options.warmup[1] = large_warmup;
    };
    if (is_collective(family)) {
        set(std::size_t{1} << 20, 1000, 100, 100, 10);
    } else if (is_bandwidth(family)) {
        set(std::size_t{4} << 20, 100, 10, 20, 2);
    } else {
        set(std::size_t{4} << 20, 10000, 100, 1000, 10);
    }
}

/// The positional SRC DST of the tests between two ranks: D for device, H for host memory. A communicator has one kind
/// of memory, so both must be the same, and must agree with -d.
void parse_positionals(const Test &test, const Options &options, int count, char **values) {
    if (count == 0) {
        return;
    }
    if (is_collective(test.family) || count != 2) {
        throw BadUsage(fmt::format("unexpected argument \"{}\"", values[0]));
    }
    const std::string source = values[0], destination = values[1];
    for (const std::string &place : {source, destination}) {
        if (place != "D" && place != "H") {
            throw BadUsage(fmt::format("buffers are on the device (D) or the host (H), not \"{}\"", place));
        }
    }
    if (source != destination) {
        throw BadUsage("a Baton communicator has buffers of one kind: D D or H H");
    }
    if ((source == "D") != (options.memory_space == MemorySpace::gpu)) {
        throw BadUsage(fmt::format("{} {} needs -d {}", source, source, source == "D" ? "cuda" : "host"));
    }
}

void apply(Options &options, char letter, const char *value, std::optional<bool> &buffers) {
    switch (letter) {
        case 'm':
            return parse_sizes(options, value);
        case 'i':
            options.iterations[0] = options.iterations[1] = parse_count(letter, value, 1, 100'000'000);
            return;
        case 'x':
            options.warmup[0] = options.warmup[1] = parse_count(letter, value, 0, 100'000'000);
            return;
        case 'f':
            options.full = true;
            return;
        case 'c':
            options.validate = true;
            return;
        case 'u':
            options.validation_warmup = parse_count(letter, value, 0, 10);
            return;
        case 'd':
            options.memory_space = parse_memory_space(value);
            return;
        case 'T':
            options.types = parse_types(value);
            return;
        case 'M':
            options.memory_limit = parse_bytes(letter, value, std::size_t{1} << 20);
            return;
        case 'z':
            options.percentiles = parse_percentiles(value != nullptr ? value : "50,90,99");
            return;
        case 'W':
            options.window = parse_count(letter, value, 1, 65536);
            return;
        case 'b':
            if (std::string(value) != "single" && std::string(value) != "multiple") {
                throw BadUsage(fmt::format("-b takes single or multiple, not \"{}\"", value));
            }
            buffers = std::string(value) == "multiple";
            return;
        case 'l':
            options.in_place = true;
            return;
        case 'v':
            options.version = true;
            return;
        default:
            options.help = true;
    }
}

}  // namespace

Options parse_options(const Test &test, int argc, char **argv) {
    std::string letters = ":";
    std::vector<option> long_options;
    for (const OptionLine &line : option_lines) {
        if (line.takes(test)) {
            letters += line.letter;
            letters += std::string(static_cast<std::size_t>(line.argument), ':');
            long_options.push_back({line.name, line.argument, nullptr, line.letter});
        }
    }
    long_options.push_back({nullptr, 0, nullptr, 0});

    Options options;
    set_defaults(options, test.family);
    std::optional<bool> buffers;
    opterr = 0;
    for (int letter = 0; (letter = getopt_long(argc, argv, letters.c_str(), long_options.data(), nullptr)) != -1;) {
        if (letter == '?' || letter == ':') {
            const std::string written = argv[optind - 1];
            const std::string word =
                optopt > 0 && optopt < 128 ? fmt::format("-{}", static_cast<char>(optopt)) : written;
            if (letter == '?' && optopt != 0 && written.starts_with("--") && written.find('=') != std::string::npos) {
                throw BadUsage(fmt::format("{}: {} takes no value", written, word));
            }
            throw BadUsage(word + (letter == ':' ? " needs a value" : " is no option of this test"));
        }
        apply(options, static_cast<char>(letter), optarg, buffers);
    }
    parse_positionals(test, options, argc - optind, argv + optind);
    options.window_buffers = buffers.value_or(options.validate);
    return options;
}

std::string usage(const Test &test) {
    std::string text =
        fmt::format("Usage: {} [options]{}\n", test.name, is_collective(test.family) ? "" : " [D D | H H]");
    if (!is_collective(test.family)) {
        text += "\nD D: buffers of both ranks in device memory (with -d cuda); H H: in host memory\n";
    }
    text += "\nOptions:\n";
    for (const OptionLine &line : option_lines) {
        if (line.takes(test)) {
            text += fmt::format("  -{}, --{:<20}{}\n", line.letter, line.name, line.help);
        }
    }
    return text;
}

}  // namespace baton::bench::osu
