#include "emulated_runner.hpp"

namespace baton::core::contract {

std::vector<int> rank_counts() { return {1, 3}; }

std::vector<Transport> transports() { return {emulated_transport(), emulated_transport_through_host()}; }

}  // namespace baton::core::contract
