#pragma once

#include <fmt/format.h>

#include "baton/baton.h"
#include "world.hpp"

namespace baton::bench {

/// Throws Error with the code's name and Baton's message, which names the call, unless it worked. Inline, because
/// baton_startup links the library's layers where all others link the library.
inline void check(baton_result result) {
    if (result != BATON_SUCCESS) {
        throw Error(fmt::format("{}: {}", baton_result_name(result), baton_last_error()));
    }
}

}  // namespace baton::bench
