#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "baton/baton.h"
#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// The unset value of a size in bytes that may be 0 (packet_limit, copy_engine_limit).
inline constexpr std::size_t unset_size = std::numeric_limits<std::size_t>::max();

/// Returns what baton_config_init() gives: every field unset.
baton_config unset_config();

/// Returns a copy of `given` (may be null) in which every unset field has the value of its environment variable, or its
/// default. The limits, the tuning and the topology may stay unset.
/// Throws BATON_ERR_ARGUMENT naming the field or variable and its value.
baton_config resolve_config(const baton_config *given);

/// Whether an environment variable of this name is expected: a setting, one of the benchmarks or tests, or where Baton
/// is installed.
bool is_known_variable(std::string_view name);

/// The names in `environment` (as environ; may be null) that look like Baton's (BATON_*), have a value and are not
/// known: misspelt settings, perhaps. They point into it.
std::vector<std::string_view> unknown_variables(const char *const *environment);

/// Logs a warning for each unknown variable of this process, at the first call only.
void warn_of_unknown_variables();

/// The timeout of a resolved config.
std::chrono::nanoseconds timeout_of(const baton_config &config);

/// Returns the transport's name as BATON_TRANSPORT has it.
const char *transport_name(int transport);

/// Collective: throws BATON_ERR_MISMATCH on every rank, naming a field, two ranks and their values, unless the fields
/// that all ranks must share are equal.
void require_equal(Bootstrap &bootstrap, const baton_config &config);

}  // namespace baton::core
