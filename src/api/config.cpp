#include "api/config.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "api/error_state.hpp"
#include "util/environment.hpp"

namespace baton::core {
namespace {

/// 2^step_bits steps of an operation (transport.hpp) are 64 GiB then.
constexpr std::size_t least_segment = 4096;
constexpr std::size_t largest_segment = std::size_t{1} << 30;

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

std::size_t size_from(const char *name, std::size_t otherwise, std::size_t least = 0,
                      std::size_t most = unset_size - 1) {
    const char *value = variable(name);
    if (value == nullptr) return otherwise;
    std::size_t number = 0;
    const char *const end = value + std::strlen(value);
    if (const auto [stop, error] = std::from_chars(value, end, number); error != std::errc() || stop != end)
        fail(BATON_ERR_ARGUMENT, "{}={}: expected a number", name, value);
    if (number < least || number > most)
        fail(BATON_ERR_ARGUMENT, "{}={}: must lie in {}..{}", name, value, least, most);
    return number;
}

double seconds_from(const char *name, double otherwise) {
    const char *value = variable(name);
    if (value == nullptr) return otherwise;
    char *end = nullptr;
    const double number = std::strtod(value, &end);
    if (*end != '\0' || !std::isfinite(number) || number <= 0) {
        fail(BATON_ERR_ARGUMENT, "{}={}: expected a positive number of seconds", name, value);
    }
    return number;
}

void check(const baton_config &config) {
    if (config.transport < BATON_TRANSPORT_AUTO || config.transport > BATON_TRANSPORT_ZERO_SM) {
        fail(BATON_ERR_ARGUMENT, "config.transport is {}, not a baton_transport", config.transport);
    }
    if (!std::isfinite(config.timeout_seconds) || config.timeout_seconds <= 0 || config.timeout_seconds > 1e9) {
        fail(BATON_ERR_ARGUMENT, "config.timeout_seconds is {}; it must lie in (0, 1e9]", config.timeout_seconds);
    }
    if (config.max_channels < 1 || config.max_channels > 64) {
        fail(BATON_ERR_ARGUMENT, "config.max_channels is {}; it must lie in 1..64", config.max_channels);
    }
    if (config.p2p != BATON_P2P_AUTO && config.p2p != BATON_P2P_OFF) {
        fail(BATON_ERR_ARGUMENT, "config.p2p is {}, not a baton_p2p", config.p2p);
    }
    if (config.lines != BATON_LINES_AUTO && config.lines != BATON_LINES_OFF) {
        fail(BATON_ERR_ARGUMENT, "config.lines is {}, not a baton_lines", config.lines);
    }
    if (config.segment_bytes < least_segment || config.segment_bytes > largest_segment) {
        fail(BATON_ERR_ARGUMENT, "config.segment_bytes is {}; it must lie in {}..{}", config.segment_bytes,
             least_segment, largest_segment);
    }
}

/// Each of its type: a double holds no 64-bit size exactly.
using Setting = std::variant<int, double, std::size_t>;

/// Name and value of every field that ranks compare (of tuning and topology rank 0's counts, of p2p the strictest).
std::vector<std::pair<const char *, Setting>> fields(const baton_config &config) {
    return {{"transport", config.transport},
            {"timeout_seconds", config.timeout_seconds},
            {"max_channels", config.max_channels},
            {"packet_limit", config.packet_limit},
            {"copy_engine_limit", config.copy_engine_limit},
            {"segment_bytes", config.segment_bytes},
            {"lines", config.lines}};
}

std::string value_text(const Setting &setting) {
    if (setting == Setting(unset_size)) return "unset";
    return std::visit([](auto value) { return fmt::format("{}", value); }, setting);
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
        if (given->struct_size != sizeof(baton_config)) {
            fail(BATON_ERR_ARGUMENT, "config.struct_size is {}, expected {}: initialise it with baton_config_init()",
                 given->struct_size, sizeof(baton_config));
        }
        config = *given;
    }
    if (config.transport == -1) config.transport = choice_from("BATON_TRANSPORT", transports, BATON_TRANSPORT_AUTO);
    if (config.timeout_seconds < 0) config.timeout_seconds = seconds_from("BATON_TIMEOUT", 60.0);
    if (config.max_channels == 0) {
        config.max_channels = static_cast<int>(size_from("BATON_MAX_CHANNELS", 64, 1, 64));
    }
    if (config.packet_limit == unset_size) config.packet_limit = size_from("BATON_PACKET_LIMIT", unset_size);
    if (config.copy_engine_limit == unset_size)
        config.copy_engine_limit = size_from("BATON_COPY_ENGINE_LIMIT", unset_size);
    if (config.segment_bytes == 0)
        config.segment_bytes = size_from("BATON_SEGMENT", 1048576, least_segment, largest_segment);
    if (config.p2p == -1) config.p2p = choice_from("BATON_P2P", p2p_choices, BATON_P2P_AUTO);
    if (config.lines == -1) config.lines = choice_from("BATON_LINES", lines_choices, BATON_LINES_AUTO);
    if (config.tuning == nullptr) config.tuning = variable("BATON_TUNING");
    if (config.topology == nullptr) config.topology = variable("BATON_TOPOLOGY");
    check(config);
    return config;
}

const char *transport_name(int transport) {
    const auto *const found = std::find_if(std::begin(transports), std::end(transports),
                                           [&](const Choice &choice) { return choice.value == transport; });
    return found != std::end(transports) ? found->name : "unknown";
}

void require_equal(Bootstrap &bootstrap, const baton_config &config) {
    const std::vector<baton_config> all = bootstrap.allgather(config);
    const auto first = fields(all[0]);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        const auto other = fields(all[rank]);
        for (std::size_t index = 0; index < first.size(); ++index) {
            if (first[index].second != other[index].second) {
                fail(BATON_ERR_MISMATCH, "config.{} differs: {} on rank 0, {} on rank {}", first[index].first,
                     value_text(first[index].second), value_text(other[index].second), rank);
            }
        }
    }
}

}  // namespace baton::core

extern "C" baton_result baton_config_init(baton_config *config) {
    return baton::core::guarded("baton_config_init", [&] {
        if (config == nullptr) baton::core::fail(BATON_ERR_ARGUMENT, "config is NULL");
        *config = baton::core::unset_config();
    });
}
