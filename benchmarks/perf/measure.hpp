#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perf/options.hpp"

namespace baton::bench::perf {

/// What the rows of a table have in common.
struct TableKey {
    Kind kind = Kind::allgather;
    Mode mode = Mode::eager;
    InPlace in_place = InPlace::no;
    Memory memory = Memory::malloc;
};

const char *mode_name(Mode mode);

struct Row {
    Shape shape;
    std::size_t bytes = 0;      // the size column
    int iterations = 0;         // calls a round
    std::vector<double> times;  // seconds a call of each round, the largest of the ranks
    double median = 0;          // seconds
    double p99 = 0;
    double algorithm_bandwidth = 0;  // bytes a second
    double bus_bandwidth = 0;
    std::uint64_t wrong = 0;  // elements, of all ranks and rounds
    std::string explanation;  // of rank 0
};

/// The size column as nccl-tests counts it: the whole vector over all ranks for allgather and reduce_scatter, one
/// rank's buffer or message for the others.
std::size_t table_bytes(const Shape &shape, int ranks);
/// The count argument that makes a call of at most `bytes` in the size column.
std::size_t count_for(Kind kind, baton_type type, std::size_t bytes, int ranks);
/// What algbw is multiplied by: the part of the data that must cross a rank's link, as nccl-tests defines it.
double bus_factor(Kind kind, int ranks);

/// Times and verifies one shape. Collective; the row is complete on rank 0, and `wrong` on all ranks.
Row measure(const Shape &shape, Mode mode, const Options &options, const Communicator &communicator,
            const Verifier &verifier, Workspace &workspace);

}  // namespace baton::bench::perf
