#pragma once

#include <functional>

#include "bootstrap/bootstrap.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// A failure that all ranks have agreed on when they met: nobody is left waiting, and they can meet again.
class Agreed : public Failure {
public:
    using Failure::Failure;
};

/// Runs `body` on every rank. Where one fails, all throw Agreed, with the code and words of the first that did
/// ("rank 2: ..."), so that nobody goes on alone. Collective.
void agree(Bootstrap &bootstrap, const std::function<void()> &body);

}  // namespace baton::core
