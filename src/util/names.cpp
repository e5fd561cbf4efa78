#include <array>

#include "baton/baton.h"

namespace {

struct TypeEntry {
    const char *name;
    std::size_t size;
};

constexpr std::array<TypeEntry, BATON_TYPE_COUNT> types{{
    {"int8", 1},
    {"uint8", 1},
    {"int16", 2},
    {"uint16", 2},
    {"int32", 4},
    {"uint32", 4},
    {"int64", 8},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"float8_e4m3", 1},
    {"float8_e5m2", 1},
}};

constexpr std::array<const char *, BATON_OP_COUNT> ops{"sum", "prod", "min", "max", "avg"};

constexpr std::array<const char *, BATON_OPERATION_COUNT> operations{
    "allgather", "reduce_scatter", "allreduce",   "send",     "recv",     "barrier", "put",
    "get",       "signal",         "wait_signal", "alltoall", "broadcast"};

static_assert(types.back().name != nullptr && ops.back() != nullptr && operations.back() != nullptr);

template <class Array>
bool inside(const Array &array, int index) {
    return index >= 0 && static_cast<std::size_t>(index) < array.size();
}

}  // namespace

extern "C" {

int baton_version(void) { return BATON_VERSION_MAJOR * 10000 + BATON_VERSION_MINOR * 100 + BATON_VERSION_PATCH; }

const char *baton_result_name(baton_result result) {
    switch (result) {
        case BATON_SUCCESS:
            return "BATON_SUCCESS";
        case BATON_ERR_ARGUMENT:
            return "BATON_ERR_ARGUMENT";
        case BATON_ERR_UNSUPPORTED:
            return "BATON_ERR_UNSUPPORTED";
        case BATON_ERR_MISMATCH:
            return "BATON_ERR_MISMATCH";
        case BATON_ERR_TIMEOUT:
            return "BATON_ERR_TIMEOUT";
        case BATON_ERR_PEER_DEAD:
            return "BATON_ERR_PEER_DEAD";
        case BATON_ERR_ABORTED:
            return "BATON_ERR_ABORTED";
        case BATON_ERR_SYSTEM:
            return "BATON_ERR_SYSTEM";
        case BATON_ERR_CUDA:
            return "BATON_ERR_CUDA";
        case BATON_ERR_MPI:
            return "BATON_ERR_MPI";
        case BATON_ERR_MEMORY:
            return "BATON_ERR_MEMORY";
        case BATON_ERR_INTERNAL:
            return "BATON_ERR_INTERNAL";
    }
    return "unknown result";
}

size_t baton_type_size(baton_type type) { return inside(types, type) ? types[static_cast<std::size_t>(type)].size : 0; }
const char *baton_type_name(baton_type type) {
    return inside(types, type) ? types[static_cast<std::size_t>(type)].name : "unknown";
}
const char *baton_op_name(baton_op op) { return inside(ops, op) ? ops[static_cast<std::size_t>(op)] : "unknown"; }
const char *baton_operation_name(baton_operation operation) {
    return inside(operations, operation) ? operations[static_cast<std::size_t>(operation)] : "unknown";
}

}  // extern "C"
