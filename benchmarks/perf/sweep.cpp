#include "perf/sweep.hpp"

#include <algorithm>

#include "names.hpp"
#include "transport/element/reduce.hpp"

namespace baton::bench::perf {

namespace {

bool exists(const TableKey &key, const Options &options, MemorySpace memory_space) {
    if ((key.in_place != InPlaceForm::no && !has_in_place(key.kind)) ||
        (key.mode == Mode::graph && memory_space == MemorySpace::host)) {
        return false;
    }
    const bool no_data = key.kind == Kind::barrier;  // one table is enough
    return !no_data || (key.memory == options.memories.front() && key.types.front() == options.types.front());
}

/// A table has rows of all types and reductions. In a comparison it has those of one, because its mean is over its
/// rows.
std::vector<TableKey> typed(const TableKey &key, const Options &options) {
    const std::vector<baton_op> ops = has_reduction(key.kind) ? options.ops : std::vector<baton_op>{BATON_SUM};
    std::vector<TableKey> keys;
    if (options.against.empty()) {
        keys.push_back(key);
        keys.back().types = options.types;
        keys.back().ops = ops;
        return keys;
    }
    for (const baton_type type : options.types) {
        for (const baton_op op : ops) {
            if (core::op_defined(type, op)) {
                keys.push_back(key);
                keys.back().types = {type};
                keys.back().ops = {op};
            }
        }
    }
    return keys;
}

}  // namespace

const char *mode_name(Mode mode) { return mode == Mode::graph ? "graph" : "eager"; }

void complete(Options &options, MemorySpace memory_space) {
    constexpr std::size_t default_min = 1024;
    const std::size_t default_max = std::size_t{memory_space == MemorySpace::gpu ? 64U : 4U} << 20;
    if (options.max_bytes == 0) {
        options.max_bytes = std::max(default_max, options.min_bytes);
    }
    if (options.min_bytes == 0) {
        options.min_bytes = std::min(default_min, options.max_bytes);
    }
    if (options.mpi_max == 0) {
        options.mpi_max = memory_space == MemorySpace::gpu ? default_max : options.max_bytes;
    }
}

std::vector<TableKey> tables(const Options &options, MemorySpace memory_space) {
    std::vector<TableKey> keys;
    for (const Kind kind : options.operations) {
        for (const Memory memory : options.memories) {
            for (const InPlaceForm in_place : options.in_place) {
                for (const Mode mode : options.modes) {
                    for (const TableKey &key : typed({kind, mode, in_place, memory, {}, {}}, options)) {
                        if (exists(key, options, memory_space)) {
                            keys.push_back(key);
                        }
                    }
                }
            }
        }
    }
    return keys;
}

std::string why_nothing(const Options &options, MemorySpace memory_space) {
    return tables(options, memory_space).empty() ? "there are no graphs on host memory"
                                                 : "at none of the sizes does every rank have an element";
}

std::vector<Shape> shapes(const TableKey &key, const Options &options, int ranks) {
    if (key.kind == Kind::barrier) {
        return {{key.kind, BATON_UINT8, BATON_SUM, 0, InPlaceForm::no}};
    }
    std::vector<Shape> all;
    for (const baton_type type : key.types) {
        for (const baton_op op : key.ops) {
            for (std::size_t bytes = options.min_bytes; core::op_defined(type, op) && bytes <= options.max_bytes;
                 bytes *= options.factor) {
                const std::size_t count = count_for(key.kind, type, bytes, ranks);
                if (count > 0) {
                    all.push_back({key.kind, type, op, count, key.in_place});
                }
                if (bytes > options.max_bytes / options.factor) {
                    break;
                }
            }
        }
    }
    return all;
}

BufferBytes needed(const std::vector<Shape> &shapes, int ranks) {
    BufferBytes bytes;
    for (const Shape &shape : shapes) {
        bytes.send = std::max(bytes.send, send_elements(shape, ranks) * baton_type_size(shape.type));
        bytes.recv = std::max(bytes.recv, recv_elements(shape, ranks) * baton_type_size(shape.type));
        if (shape.kind == Kind::put || shape.kind == Kind::get) {
            bytes.window = std::max(bytes.window, send_elements(shape, ranks) * baton_type_size(shape.type));
        }
    }
    return bytes;
}

}  // namespace baton::bench::perf
