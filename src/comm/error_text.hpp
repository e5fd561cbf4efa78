#pragma once

#include <chrono>

#include "sync/control.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// What a wait was for, as the end of "waited for rank 1 in allgather, for ".
const char *text_of(WaitFor wait_for);

/// Returns what the waiters of `rank` have recorded, in words for the user. `timeout`: the communicator's.
Failure failure_of(const ErrorRecord &record, int rank, std::chrono::nanoseconds timeout) noexcept;

}  // namespace baton::core
