#include "peers/mpi_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <exception>
#include <optional>

#include "plain_memory.hpp"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace baton::bench {

namespace {

constexpr int tag = 1;

/// The MPI type to reduce, if there is one.
std::optional<MPI_Datatype> reduction_type(baton_type type) {
    switch (type) {
        case BATON_INT8:
            return MPI_INT8_T;
        case BATON_UINT8:
            return MPI_UINT8_T;
        case BATON_INT16:
            return MPI_INT16_T;
        case BATON_UINT16:
            return MPI_UINT16_T;
        case BATON_INT32:
            return MPI_INT32_T;
        case BATON_UINT32:
            return MPI_UINT32_T;
        case BATON_INT64:
            return MPI_INT64_T;
        case BATON_UINT64:
            return MPI_UINT64_T;
        case BATON_FLOAT32:
            return MPI_FLOAT;
        case BATON_FLOAT64:
            return MPI_DOUBLE;
        default:
            return std::nullopt;
    }
}

/// An MPI type of the same size, for data that only move.
MPI_Datatype moved_type(baton_type type) {
    switch (baton_type_size(type)) {
        case 8:
            return MPI_UINT64_T;
        case 4:
            return MPI_UINT32_T;
        case 2:
            return MPI_UINT16_T;
        default:
            return MPI_BYTE;
    }
}

std::optional<MPI_Op> mpi_op(baton_op op) {
    switch (op) {
        case BATON_SUM:
            return MPI_SUM;
        case BATON_MIN:
            return MPI_MIN;
        case BATON_MAX:
            return MPI_MAX;
        default:
            return std::nullopt;
    }
}

struct Elements {
    int count;
    MPI_Datatype type;
    MPI_Op op;
};

using Issue = int (*)(const Call &call, const Elements &data, MPI_Comm comm);

/// An operation that MPI has: one entry.
struct Entry {
    Kind kind;
    Issue issue;
};

constexpr std::array<Entry, 8> entries{{
    {Kind::allgather,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         return MPI_Allgather(call.send, data.count, data.type, call.recv, data.count, data.type, comm);
     }},
    {Kind::reduce_scatter,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         return MPI_Reduce_scatter_block(call.send, call.recv, data.count, data.type, data.op, comm);
     }},
    {Kind::allreduce,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         return MPI_Allreduce(call.send, call.recv, data.count, data.type, data.op, comm);
     }},
    {Kind::alltoall,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         return MPI_Alltoall(call.send, data.count, data.type, call.recv, data.count, data.type, comm);
     }},
    {Kind::broadcast,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         void *buffer = call.rank == Call::root ? const_cast<void *>(call.send) : call.recv;
         return MPI_Bcast(buffer, data.count, data.type, Call::root, comm);
     }},
    {Kind::sendrecv,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         return MPI_Sendrecv(call.send, data.count, data.type, call.to, tag, call.recv, data.count, data.type,
                             call.from, tag, comm, MPI_STATUS_IGNORE);
     }},
    {Kind::pair,
     [](const Call &call, const Elements &data, MPI_Comm comm) {
         if (call.to != Call::nobody) {
             return MPI_Send(call.send, data.count, data.type, call.to, tag, comm);
         }
         return call.from == Call::nobody
                    ? MPI_SUCCESS
                    : MPI_Recv(call.recv, data.count, data.type, call.from, tag, comm, MPI_STATUS_IGNORE);
     }},
    {Kind::barrier, [](const Call &, const Elements &, MPI_Comm comm) { return MPI_Barrier(comm); }},
}};

Issue find_issue(Kind kind) {
    for (const Entry &entry : entries) {
        if (entry.kind == kind) {
            return entry.issue;
        }
    }
    return nullptr;
}

class MpiPeer final : public Peer {
public:
    MpiPeer(const Communicator &communicator, const BufferBytes &bytes, std::size_t largest)
        : communicator_(communicator),
          on_gpu_(communicator.on_gpu() && mpi_takes_device_memory()),
          largest_(largest),
          verifier_(communicator, MpiPeer::memory_space()),
          send_(MpiPeer::memory_space(), std::min(bytes.send, largest), "MPI's buffer"),
          recv_(MpiPeer::memory_space(), std::min(bytes.recv, largest), "MPI's buffer") {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    }
    ~MpiPeer() override {
        if (std::uncaught_exceptions() == 0) {
            MPI_Comm_free(&comm_);
        }
    }
    MpiPeer(const MpiPeer &) = delete;
    MpiPeer &operator=(const MpiPeer &) = delete;

    PeerKind kind() const override { return PeerKind::mpi; }
    MemorySpace memory_space() const override { return on_gpu_ ? MemorySpace::gpu : MemorySpace::host; }
    const Verifier &verifier() const override { return verifier_; }
    Buffers buffers() const override { return {send_.data(), recv_.data(), nullptr}; }
    bool root_receives() const override { return false; }

    std::string refusal(const Shape &shape, bool captured) const override {
        if (captured) {
            return "calls of MPI cannot be captured";
        }
        if (find_issue(shape.kind) == nullptr) {
            return fmt::format("no {} that can be compared", kind_name(shape.kind));
        }
        if (shape.count > INT_MAX) {
            return "the count does not fit an int";
        }
        if (table_bytes(shape, communicator_.size()) > largest_) {
            return "above --mpi-max";
        }
        if (has_reduction(shape.kind) && !reduction_type(shape.type)) {
            return fmt::format("no reductions of {}", baton_type_name(shape.type));
        }
        if (has_reduction(shape.kind) && !mpi_op(shape.op)) {
            return fmt::format("no {} that can be compared", baton_op_name(shape.op));
        }
        return incomparable(shape);
    }

    void issue(const Call &call) override {
        const Shape &shape = call.shape;
        Elements data{static_cast<int>(shape.count), moved_type(shape.type), MPI_SUM};
        if (has_reduction(shape.kind)) {
            data.type = *reduction_type(shape.type);
            data.op = *mpi_op(shape.op);
        }
        find_issue(shape.kind)(call, data, comm_);  // an error ends the job: the default of communicators
    }

private:
    const Communicator &communicator_;
    const bool on_gpu_;
    const std::size_t largest_;
    const Verifier verifier_;
    const PlainMemory send_;
    const PlainMemory recv_;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

bool mpi_takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() != 0;
#else
    return false;
#endif
}

std::unique_ptr<Peer> make_mpi_peer(const Communicator &communicator, const BufferBytes &bytes, std::size_t largest) {
    return std::make_unique<MpiPeer>(communicator, bytes, largest);
}

}  // namespace baton::bench
