#pragma once

#include "offers.hpp"
#include "programs.hpp"

namespace baton::core::contract {

/// The kernel that runs a program with one block of block_threads per channel; arguments: CommView, Call.
const void *kernel_of(Program program);

/// What KernelEngine offers, which only nvcc can tell.
Offers kernel_offers();

}  // namespace baton::core::contract
