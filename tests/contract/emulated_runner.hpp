#pragma once

#include "launch.hpp"

namespace baton::core::contract {

/// The kernels' engine on threads of this host (tests/emulation); the same for ranks that meet in host memory.
Transport emulated_transport();
Transport emulated_transport_through_host();

}  // namespace baton::core::contract
