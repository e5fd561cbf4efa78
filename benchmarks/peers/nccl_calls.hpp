#pragma once

#include <string>

#include "library.hpp"
#include "peers/nccl_api.hpp"

namespace baton::bench::nccl {

/// Why NCCL has no call that does what Baton's does; empty if it has one.
std::string missing(const Shape &shape);

/// Enqueues NCCL's form of a call. REQUIRES: missing(call.shape) is empty.
Result issue(const Functions &nccl, const Call &call, Comm comm, Stream stream);

}  // namespace baton::bench::nccl
