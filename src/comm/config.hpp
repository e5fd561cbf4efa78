#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>

#include "baton/baton.h"
#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// What a field holds that is not set, if it is a size in bytes: 0 is a size too.
inline constexpr std::size_t unset_size = std::numeric_limits<std::size_t>::max();

/// What baton_config_init() gives: every field unset.
baton_config unset_config();

/// A copy of `given` (may be null) in which every unset field has its environment variable's value or its default;
/// the limits and the tuning may stay unset.
/// Throws BATON_ERR_ARGUMENT naming the field or variable and its value.
baton_config resolve_config(const baton_config *given);

/// Whether an environment variable of this name is expected: a setting, one of the benchmarks or tests, or where Baton
/// is installed.
bool is_known_variable(std::string_view name);

/// At its first call in this process, a warning for each variable that is set and has a name like Baton's (BATON_*),
/// but is not known: perhaps a setting that is misspelt. Needs no memory but for the words.
void warn_of_unknown_variables() noexcept;

/// The timeout of a resolved config.
std::chrono::nanoseconds timeout_of(const baton_config &config);

/// Its name as a value of BATON_TRANSPORT.
const char *transport_name(int transport);

/// Collective: throws BATON_ERR_MISMATCH on every rank, naming a field, two ranks and their values, unless all are
/// equal.
void require_equal(Bootstrap &bootstrap, const baton_config &config);

}  // namespace baton::core
