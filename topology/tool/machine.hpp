#pragma once

#include <string>
#include <vector>

#include "topology/advice.hpp"
#include "topology/graph.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// What all outputs are made from.
struct Machine {
    std::string origin;  ///< a file's name; empty: the machine that the program runs on
    Snapshot snapshot;
    Graph graph;
    CommAdvice gpus;               ///< of a communicator with one rank for each GPU, in order
    std::vector<int> gpu_of_rank;  ///< under mpirun with several ranks: index in Snapshot::gpus, or -1
    CommAdvice ranks;              ///< of these ranks; empty like gpu_of_rank
};

Machine make_machine(std::string origin, Snapshot snapshot, std::vector<int> gpu_of_rank = {});

/// "Tesla V100 SXM2 32GB" for "GV100GL [Tesla V100 SXM2 32GB]" of the PCI database; other names as they are.
std::string model_of(const std::string &name);
/// Whether the outputs speak of ranks instead of GPUs.
bool shows_ranks(const Machine &machine);
/// What the rows and columns are: "GPU", "rank".
const char *noun_of(const Machine &machine);
/// How to move data within a pair; Advised::none between ranks, where there is nothing to choose.
TransportAdvice transport_of(const Machine &machine, const Pair &pair);
/// Whether any pair has been measured.
bool any_measured(const Graph &graph);
/// "1b:00.0", with the domain in front where it is not 0.
std::string short_address(const PciAddress &address);
/// "8 x NVIDIA H200", "no GPU", "2 x NVIDIA A100, 1 x NVIDIA T4", "8 ranks of a communicator".
std::string gpus_text(const Snapshot &snapshot);
/// "2 sockets, 112 cores, 2 NUMA nodes: Intel(R) ..."; "processors unknown".
std::string host_text(const Snapshot &snapshot);

}  // namespace baton::topology
