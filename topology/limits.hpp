#pragma once

#include <cstddef>

/// Bounds for descriptions that come from outside, so that no file makes Baton run out of memory or stack. No machine
/// has more, but for virtual functions that look like NICs. Tables of pairs grow with the square of the first three.
namespace baton::topology {

constexpr std::size_t max_gpus = 256;
constexpr std::size_t max_nics = 256;
constexpr std::size_t max_nvswitches = 256;
constexpr std::size_t max_pci_nodes = 16384;
constexpr std::size_t max_pci_places = 16 << 20;  ///< bytes of the CPU and NUMA node sets of all PCI roots
constexpr int max_depth = 64;
constexpr std::size_t max_pus = 8192;
constexpr std::size_t max_numa_nodes = 256;  ///< also for packages
constexpr std::size_t max_links = 64;        ///< of one GPU
constexpr int max_link_mbps = 10'000'000;    ///< of one link
constexpr int max_mbps = 1'000'000'000;      ///< of all links between two devices

}  // namespace baton::topology
