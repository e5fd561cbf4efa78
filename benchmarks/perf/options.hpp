#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "environment.hpp"
#include "kinds.hpp"
#include "peers/peer.hpp"

namespace baton::bench::perf {

enum class Mode {
    eager,
    graph
};

struct Options {
    std::vector<Kind> operations;
    std::size_t min_bytes = 0;  // 0: the default of the memory space
    std::size_t max_bytes = 0;
    std::size_t factor = 4;
    std::vector<baton_type> types;
    std::vector<baton_op> ops;
    int iterations = 20;
    int graph_iterations = 20;  // the same in graph mode
    int warmup = 5;
    int rounds = 10;
    double budget = 0.5;  // seconds that a row's timed calls may take; 0: no limit
    std::vector<Mode> modes;
    std::vector<InPlaceForm> in_place;
    std::vector<Memory> memories;
    bool check = true;
    bool explain = false;
    std::string json;
    Device device = Device::automatic;
    std::vector<PeerKind> against;  // empty: no comparison
    std::string nccl_library;
    std::size_t mpi_max = 0;  // 0: the default of the memory space
    std::string command;      // for a shell
};

/// Throws Ended as parse_with() does (command_line.hpp).
Options parse_options(int argc, char **argv, bool print);

}  // namespace baton::bench::perf
