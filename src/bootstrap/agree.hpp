#pragma once

#include <functional>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// Runs `body` on every rank. Where one fails, all throw, with the code and words of the first that did ("rank 2:
/// ..."), so that nobody goes on alone. Collective.
void agree(Bootstrap &bootstrap, const std::function<void()> &body);

}  // namespace baton::core
