#include "peers/nccl_calls.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <optional>

namespace baton::bench::nccl {

namespace {

std::optional<int> type_of(baton_type type) {
    switch (type) {
        case BATON_INT8:
            return int8;
        case BATON_UINT8:
            return uint8;
        case BATON_INT32:
            return int32;
        case BATON_UINT32:
            return uint32;
        case BATON_INT64:
            return int64;
        case BATON_UINT64:
            return uint64;
        case BATON_FLOAT16:
            return float16;
        case BATON_BFLOAT16:
            return bfloat16;
        case BATON_FLOAT32:
            return float32;
        case BATON_FLOAT64:
            return float64;
        default:
            return std::nullopt;
    }
}

int op_of(baton_op op) {
    switch (op) {
        case BATON_MIN:
            return min;
        case BATON_MAX:
            return max;
        case BATON_AVG:
            return avg;
        default:
            return sum;
    }
}

/// What NCCL is told to move: elements of its type where it has one, bytes where it has none.
struct Elements {
    std::size_t count;
    int type;
    int op;
};

Elements elements_of(const Shape &shape) {
    const auto type = type_of(shape.type);
    return type ? Elements{shape.count, *type, op_of(shape.op)}
                : Elements{shape.count * baton_type_size(shape.type), uint8, sum};
}

using Issue = Result (*)(const Functions &nccl, const Call &call, const Elements &elements, Comm comm, Stream stream);

Result first_failure(std::initializer_list<Result> results) {
    for (const Result result : results) {
        if (result != 0) {
            return result;
        }
    }
    return 0;
}

/// ncclAlltoAll (2.28), or the messages that do the same in older versions.
Result all_to_all(const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
    if (nccl.all_to_all != nullptr) {
        return nccl.all_to_all(call.send, call.recv, data.count, data.type, comm, stream);
    }
    const std::size_t block = call.shape.count * baton_type_size(call.shape.type);
    Result result = nccl.group_start();
    for (int peer = 0; result == 0 && peer < call.ranks; ++peer) {
        const std::size_t offset = static_cast<std::size_t>(peer) * block;
        result = first_failure(
            {nccl.send(static_cast<const std::byte *>(call.send) + offset, data.count, data.type, peer, comm, stream),
             nccl.recv(static_cast<std::byte *>(call.recv) + offset, data.count, data.type, peer, comm, stream)});
    }
    return first_failure({result, nccl.group_end()});
}

/// An operation that NCCL has: one entry.
struct Entry {
    Kind kind;
    Issue issue;
};

constexpr std::array<Entry, 7> entries{{
    {Kind::allgather,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         return nccl.all_gather(call.send, call.recv, data.count, data.type, comm, stream);
     }},
    {Kind::reduce_scatter,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         return nccl.reduce_scatter(call.send, call.recv, data.count, data.type, data.op, comm, stream);
     }},
    {Kind::allreduce,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         return nccl.all_reduce(call.send, call.recv, data.count, data.type, data.op, comm, stream);
     }},
    {Kind::alltoall, all_to_all},
    {Kind::broadcast,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         return nccl.broadcast(call.send, call.recv, data.count, data.type, Call::root, comm, stream);
     }},
    {Kind::sendrecv,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         return first_failure({nccl.group_start(), nccl.send(call.send, data.count, data.type, call.to, comm, stream),
                               nccl.recv(call.recv, data.count, data.type, call.from, comm, stream), nccl.group_end()});
     }},
    {Kind::pair,
     [](const Functions &nccl, const Call &call, const Elements &data, Comm comm, Stream stream) {
         if (call.to != Call::nobody) {
             return nccl.send(call.send, data.count, data.type, call.to, comm, stream);
         }
         return call.from == Call::nobody ? 0 : nccl.recv(call.recv, data.count, data.type, call.from, comm, stream);
     }},
}};

Issue find_issue(Kind kind) {
    for (const Entry &entry : entries) {
        if (entry.kind == kind) {
            return entry.issue;
        }
    }
    return nullptr;
}

}  // namespace

std::string missing(const Shape &shape) {
    if (find_issue(shape.kind) == nullptr) {
        return fmt::format("NCCL has no {}", kind_name(shape.kind));
    }
    return has_reduction(shape.kind) && !type_of(shape.type)
               ? fmt::format("no reductions of {}", baton_type_name(shape.type))
               : std::string();
}

Result issue(const Functions &nccl, const Call &call, Comm comm, Stream stream) {
    return find_issue(call.shape.kind)(nccl, call, elements_of(call.shape), comm, stream);
}

}  // namespace baton::bench::nccl
