#pragma once

#include <memory>

#include "operation.hpp"

namespace baton::bench {

/// A library's barrier with a witness. Each rank counts its calls in memory that all ranks see, before it issues them.
/// A rank that has passed a barrier must find that every rank has counted at least as many as itself. Collective.
std::unique_ptr<Operation> make_barrier_operation(const Communicator &communicator, Library &library);

}  // namespace baton::bench
