#pragma once

#include <string>

#include "topology/tool/abbreviations.hpp"
#include "topology/tool/machine.hpp"

/// The parts of the tool's text output. Each ends with a newline, and is empty where it has nothing to say. Those that
/// use abbreviations note them in `used`.
namespace baton::topology {

/// Two lines: GPUs and software; processors.
std::string header_text(const Machine &machine);
/// The matrix of `nvidia-smi topo -m`: GPUs and NICs, the nearest processors and NUMA node.
std::string matrix_text(const Machine &machine, Abbreviations &used);
/// Which NIC has which number in the matrix.
std::string nic_names_text(const Machine &machine);
/// GB/s of every pair of GPUs (nominal, and measured if any pair is), the advised transport, and the reasons.
std::string bandwidth_text(const Machine &machine, Abbreviations &used);
/// Sockets, NUMA nodes, PCIe switches, devices.
std::string tree_text(const Machine &machine);
/// The ring over all GPUs, its bottleneck, and what NVLink connects.
std::string ring_text(const Machine &machine, Abbreviations &used);
/// ring_text() over the ranks.
std::string ring_of_ranks_text(const Machine &machine, Abbreviations &used);
/// Which rank uses which GPU, what is near it, and the ranks' ring; empty unless there are several ranks.
std::string ranks_text(const Machine &machine, Abbreviations &used);
/// What could not be found out.
std::string gaps_text(const Machine &machine);

}  // namespace baton::topology
