#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "library.hpp"
#include "perf/options.hpp"

namespace baton::bench::perf {

/// What the rows of a table have in common.
struct TableKey {
    Kind kind = Kind::allgather;
    Mode mode = Mode::eager;
    InPlaceForm in_place = InPlaceForm::no;
    Memory memory = Memory::malloc;
    std::vector<baton_type> types;
    std::vector<baton_op> ops;
};

const char *mode_name(Mode mode);

inline int most_calls(const Options &options, Mode mode) {
    return mode == Mode::graph ? options.graph_iterations : options.iterations;
}

/// Fills in the sizes that depend on where the buffers are.
void complete(Options &options, MemorySpace memory_space);

/// The tables that the options ask for, without combinations that do not exist.
std::vector<TableKey> tables(const Options &options, MemorySpace memory_space);

/// Why nothing was measured.
std::string why_nothing(const Options &options, MemorySpace memory_space);

/// A table's rows: the sizes at which every rank has an element.
std::vector<Shape> shapes(const TableKey &key, const Options &options, int ranks);

/// Memory that is enough for each of the shapes.
BufferBytes needed(const std::vector<Shape> &shapes, int ranks);

}  // namespace baton::bench::perf
