#pragma once

#include <cstddef>
#include <vector>

#include "baton/baton.h"

namespace baton::bench {

enum class Kind {
    allgather,
    reduce_scatter,
    allreduce,
    alltoall,
    broadcast,  // from rank 0
    sendrecv,   // a ring: to rank + 1, from rank - 1
    pair,       // one way: rank 0 to rank 1, 2 to 3, ...; a last rank without a partner does nothing
    put,        // a ring: into rank + 1's window, then a signal there and a wait for rank - 1's
    get,        // from rank + 1's window
    barrier
};

/// Who sends to whom while every rank sends: the measured limit that an operation is compared with.
enum class Traffic {
    none,
    all_pairs,
    ring,
    pairs
};

/// All that the sweeps need to know about an operation besides its data (operation.cpp) and its call (the libraries).
struct KindTraits {
    Kind kind;
    const char *name;
    bool reduces;
    bool in_place;     // exists in place
    bool send_blocks;  // the send buffer holds `count` elements for every rank
    bool recv_blocks;  // likewise the receive buffer
    Traffic traffic;
    double (*sent)(double ranks);  // what the busiest rank must send, as a multiple of the size column
};

/// In the order in which "all" measures them.
const std::vector<KindTraits> &all_kinds();
const KindTraits &traits(Kind kind);

inline const char *kind_name(Kind kind) { return traits(kind).name; }
inline bool has_reduction(Kind kind) { return traits(kind).reduces; }
inline bool has_in_place(Kind kind) { return traits(kind).in_place; }

/// In place as NCCL defines it (equal pointers) or as MPI does (BATON_IN_PLACE); baton.h says where inputs and results
/// lie.
enum class InPlaceForm {
    no,
    pointers,
    mpi
};

/// One call: what the API is asked to do. `count` is the call's own count argument.
struct Shape {
    Kind kind = Kind::allgather;
    baton_type type = BATON_INT8;
    baton_op op = BATON_SUM;
    std::size_t count = 0;
    InPlaceForm in_place = InPlaceForm::no;
};

/// Elements that a call reads from its send buffer and writes to its receive buffer, on `ranks` ranks.
std::size_t send_elements(const Shape &shape, int ranks);
std::size_t recv_elements(const Shape &shape, int ranks);

/// The size column as nccl-tests counts it: all blocks together for allgather, reduce_scatter and alltoall, one rank's
/// buffer or message for the others.
std::size_t table_bytes(const Shape &shape, int ranks);
/// The count argument that makes a call of at most `bytes` in the size column.
std::size_t count_for(Kind kind, baton_type type, std::size_t bytes, int ranks);
/// What algbw is multiplied by to give busbw: the part of the data that must cross a rank's link, as nccl-tests defines
/// it.
double bus_factor(Kind kind, int ranks);
/// A broadcast between two ranks counts as pairs, because it goes one way.
Traffic traffic_of(Kind kind, int ranks);

}  // namespace baton::bench
