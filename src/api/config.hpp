#pragma once

#include "baton/baton.h"
#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// What baton_config_init() gives: every field unset.
baton_config unset_config();

/// A copy of `given` (may be null) in which every unset field has its environment variable's value or its default.
/// Throws BATON_ERR_ARGUMENT naming the field or variable and its value.
baton_config resolve_config(const baton_config *given);

/// Collective: throws BATON_ERR_MISMATCH on every rank, naming a field, two ranks and their values, unless all are
/// equal.
void require_equal(Bootstrap &bootstrap, const baton_config &config);

}  // namespace baton::core
