#include "comm/config.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "bootstrap/agree.hpp"
#include "comm/api_struct.hpp"
#include "sync/arena.hpp"
#include "util/byte_count.hpp"
#include "util/environment.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// docs/environment.md describes them, and those of the tests, whose names start with BATON_TEST_.
constexpr std::string_view known_variables[] = {
    "BATON_TRANSPORT",
    "BATON_TIMEOUT",
    "BATON_MAX_CHANNELS",
    "BATON_PACKET_LIMIT",
    "BATON_LINES",
    "BATON_COPY_ENGINE_LIMIT",
    "BATON_TUNING",
    "BATON_TOPOLOGY",
    "BATON_SEGMENT",
    "BATON_P2P",
    "BATON_LOG",
    "BATON_NCCL_LIBRARY",
    "BATON_TOPOLOGY_SAMPLES",
    "BATON_UPDATE_GOLDEN",
    // Baton does not read these. They say where it is installed, as environment modules and spack set them.
    "BATON_DIR",
    "BATON_HOME",
    "BATON_ROOT",
};

constexpr std::size_t least_segment = 4096;
constexpr std::size_t largest_segment = std::size_t{1} << 30;
constexpr double most_seconds = 1e9;

struct Choice {
    const char *name;
    int value;
};
constexpr Choice transports[] = {{"auto", BATON_TRANSPORT_AUTO},
                                 {"host", BATON_TRANSPORT_HOST},
                                 {"kernel", BATON_TRANSPORT_KERNEL},
                                 {"copy_engine", BATON_TRANSPORT_COPY_ENGINE},
                                 {"zero_sm", BATON_TRANSPORT_ZERO_SM}};
constexpr Choice lines_choices[] = {{"auto", BATON_LINES_AUTO}, {"off", BATON_LINES_OFF}};
constexpr Choice p2p_choices[] = {{"auto", BATON_P2P_AUTO}, {"off", BATON_P2P_OFF}};

const Choice *find(std::span<const Choice> choices, int value) {
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const Choice &choice) { return choice.value == value; });
    return found != choices.end() ? &*found : nullptr;
}

int choice_from(const char *name, std::span<const Choice> choices, int otherwise) {
    const char *value = variable(name);
    if (value == nullptr) return otherwise;
    std::vector<std::string> names;
    for (const Choice &choice : choices) {
        if (std::string(value) == choice.name) return choice.value;
        names.push_back(choice.name);
    }
    fail(BATON_ERR_ARGUMENT, "{}={}: expected one of {}", name, value, fmt::join(names, ", "));
}

/// Reads a number, of bytes or of something else.
std::size_t size_from(const char *name, std::size_t otherwise, std::size_t least = 0,
                      std::size_t most = unset_size - 1) {
    const char *value = variable(name);
    if (value == nullptr) return otherwise;
    const std::optional<std::uint64_t> number = parse_byte_count(value);
    if (!number) {
        if (most < 1024) fail(BATON_ERR_ARGUMENT, "{}={}: expected a whole number in {}..{}", name, value, least, most);
        fail(BATON_ERR_ARGUMENT, "{}={}: expected a number such as 4096, 64K, 16M or 1G", name, value);
    }
    if (*number < least || *number > most)
        fail(BATON_ERR_ARGUMENT, "{}={}: must lie in {}..{}", name, value, least, most);
    return *number;
}

double seconds_from(const char *name, double otherwise) {
    const char *value = variable(name);
    if (value == nullptr) return otherwise;
    const char *const end = value + std::strlen(value);
    double number = 0;
    const auto [stop, error] = std::from_chars(value, end, number);  // the same in every locale
    if (stop != end || error != std::errc() || !(number > 0 && number <= most_seconds)) {
        fail(BATON_ERR_ARGUMENT, "{}={}: expected seconds, more than 0 and at most {}", name, value, most_seconds);
    }
    return number;
}

void require_choice(const char *field, int value, std::span<const Choice> choices) {
    if (find(choices, value) == nullptr)
        fail(BATON_ERR_ARGUMENT, "config.{} is {}, not a baton_{}", field, value, field);
}

void check(const baton_config &config) {
    require_choice("transport", config.transport, transports);
    if (!(config.timeout_seconds > 0 && config.timeout_seconds <= most_seconds)) {
        fail(BATON_ERR_ARGUMENT, "config.timeout_seconds is {}; it must be more than 0 and at most {}",
             config.timeout_seconds, most_seconds);
    }
    if (config.max_channels < 1 || config.max_channels > max_channels) {
        fail(BATON_ERR_ARGUMENT, "config.max_channels is {}; it must lie in 1..{}", config.max_channels, max_channels);
    }
    require_choice("p2p", config.p2p, p2p_choices);
    require_choice("lines", config.lines, lines_choices);
    if (config.segment_bytes < least_segment || config.segment_bytes > largest_segment) {
        fail(BATON_ERR_ARGUMENT, "config.segment_bytes is {}; it must lie in {}..{}", config.segment_bytes,
             least_segment, largest_segment);
    }
}

/// An empty text is unset, like an empty variable.
const char *text_from(const char *given, const char *name) {
    return given != nullptr && *given != '\0' ? given : variable(name);
}

/// Each value in its own type: a double cannot hold every 64-bit size.
using Setting = std::variant<int, double, std::size_t>;

/// A field that ranks compare, the variable that gives its value if the program leaves it unset, and what its values
/// are called there. Not compared are tuning and topology, where rank 0's counts, and p2p, where the strictest does.
struct Field {
    const char *name;
    const char *variable;
    Setting value;
    std::span<const Choice> choices = {};
};
std::vector<Field> fields(const baton_config &config) {
    return {{"transport", "BATON_TRANSPORT", config.transport, transports},
            {"timeout_seconds", "BATON_TIMEOUT", config.timeout_seconds},
            {"max_channels", "BATON_MAX_CHANNELS", config.max_channels},
            {"packet_limit", "BATON_PACKET_LIMIT", config.packet_limit},
            {"copy_engine_limit", "BATON_COPY_ENGINE_LIMIT", config.copy_engine_limit},
            {"segment_bytes", "BATON_SEGMENT", config.segment_bytes},
            {"lines", "BATON_LINES", config.lines, lines_choices}};
}

std::string value_text(const Field &field) {
    if (const int *const value = std::get_if<int>(&field.value))
        if (const Choice *const choice = find(field.choices, *value)) return choice->name;
    if (field.value == Setting(unset_size)) return "unset";
    return std::visit([](auto value) { return fmt::format("{}", value); }, field.value);
}

/// Fields of a newer header are unknown here and must be unset: zero, as baton_config_init_sized() makes them.
void require_struct_size(const baton_config &given) {
    const std::size_t size = given.struct_size;
    if (!may_be_struct_size<baton_config>(size)) {
        fail(BATON_ERR_ARGUMENT, "config.struct_size is {}, expected {}: initialise it with baton_config_init()", size,
             sizeof(baton_config));
    }
    const auto *const bytes = reinterpret_cast<const unsigned char *>(&given);
    const std::size_t known = std::min(size, sizeof(baton_config));
    if (std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
        fail(BATON_ERR_UNSUPPORTED,
             "config has {} bytes, of which this libbaton knows {}, and a field behind these is set", size,
             sizeof(baton_config));
    }
}

}  // namespace

baton_config unset_config() {
    baton_config config{};
    config.struct_size = sizeof(baton_config);
    config.transport = -1;
    config.timeout_seconds = -1.0;
    config.max_channels = 0;
    config.packet_limit = unset_size;
    config.copy_engine_limit = unset_size;
    config.segment_bytes = 0;
    config.p2p = -1;
    config.lines = -1;
    config.tuning = nullptr;
    config.topology = nullptr;
    return config;
}

baton_config resolve_config(const baton_config *given) {
    baton_config config = unset_config();
    if (given != nullptr) {
        require_struct_size(*given);
        config = from_program(given, config);
    }
    if (config.transport == -1) config.transport = choice_from("BATON_TRANSPORT", transports, BATON_TRANSPORT_AUTO);
    if (config.timeout_seconds < 0) config.timeout_seconds = seconds_from("BATON_TIMEOUT", 60.0);
    if (config.max_channels == 0) {
        config.max_channels = static_cast<int>(size_from("BATON_MAX_CHANNELS", max_channels, 1, max_channels));
    }
    if (config.packet_limit == unset_size) config.packet_limit = size_from("BATON_PACKET_LIMIT", unset_size);
    if (config.copy_engine_limit == unset_size)
        config.copy_engine_limit = size_from("BATON_COPY_ENGINE_LIMIT", unset_size);
    if (config.segment_bytes == 0)
        config.segment_bytes = size_from("BATON_SEGMENT", 1048576, least_segment, largest_segment);
    if (config.p2p == -1) config.p2p = choice_from("BATON_P2P", p2p_choices, BATON_P2P_AUTO);
    if (config.lines == -1) config.lines = choice_from("BATON_LINES", lines_choices, BATON_LINES_AUTO);
    config.tuning = text_from(config.tuning, "BATON_TUNING");
    config.topology = text_from(config.topology, "BATON_TOPOLOGY");
    check(config);
    return config;
}

bool is_known_variable(std::string_view name) {
    return name.starts_with("BATON_TEST_") ||
           std::find(std::begin(known_variables), std::end(known_variables), name) != std::end(known_variables);
}

std::vector<std::string_view> unknown_variables(const char *const *environment) {
    std::vector<std::string_view> unknown;
    for (const char *const *entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view all = *entry;
        const std::string_view name = all.substr(0, all.find('='));
        const bool has_value = name.size() + 1 < all.size();
        if (has_value && name.starts_with("BATON_") && !is_known_variable(name)) unknown.push_back(name);
    }
    return unknown;
}

void warn_of_unknown_variables() {
    static std::atomic<bool> done{false};
    if (done.exchange(true)) return;
    for (const std::string_view name : unknown_variables(environ))
        log(LogLevel::warn, 0, "{} is set, and no variable of Baton's has this name: docs/environment.md lists them",
            name);
}

std::chrono::nanoseconds timeout_of(const baton_config &config) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(std::ceil(config.timeout_seconds * 1e9)));
}

const char *transport_name(int transport) {
    const Choice *const found = find(transports, transport);
    return found != nullptr ? found->name : "unknown";
}

void require_equal(Bootstrap &bootstrap, const baton_config &config) {
    const std::vector<baton_config> all = bootstrap.allgather(config);
    const auto first = fields(all[0]);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        const auto other = fields(all[rank]);
        for (std::size_t index = 0; index < first.size(); ++index) {
            const Field &field = first[index];
            if (field.value == other[index].value) continue;
            fail_alike(BATON_ERR_MISMATCH, "{} (config.{}) differs: {} on rank 0, {} on rank {}", field.variable,
                       field.name, value_text(field), value_text(other[index]), rank);
        }
    }
}

}  // namespace baton::core
