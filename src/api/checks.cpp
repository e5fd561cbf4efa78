#include "api/calls.hpp"
#include "transport/element/reduce.hpp"
#include "util/overlap.hpp"

namespace baton::core {
namespace {

const std::byte *bytes_at(const void *pointer) { return static_cast<const std::byte *>(pointer); }

/// For operations where in place means that the two buffers are equal.
void refuse_overlap(const Request &request, std::uint64_t bytes) {
    if (request.send == request.recv || !overlap(request.send, bytes, request.recv, bytes)) return;
    fail(BATON_ERR_ARGUMENT, "sendbuf {} overlaps recvbuf {}; they must be equal (in place) or apart",
         static_cast<const void *>(request.send), static_cast<const void *>(request.recv));
}

/// Checks both buffers, of `bytes` bytes each. In place they are one, which is checked once: as sendbuf if the caller
/// has named that (`send_given`), else as recvbuf.
void check_alike(const Turn &turn, Request &request, bool send_given, std::uint64_t bytes) {
    const bool in_place = request.send == request.recv;
    if (send_given) request.send_info = turn.buffers().check(request.send, bytes, "sendbuf");
    request.recv_info =
        send_given && in_place ? request.send_info : turn.buffers().check(request.recv, bytes, "recvbuf");
    if (in_place) request.send_info = request.recv_info;
    refuse_overlap(request, bytes);
}

/// Fills in what all collectives have. REQUIRES: `type` has been checked.
Request collective_request(baton_operation operation, void *recvbuf, std::size_t count, baton_type type) {
    if (recvbuf == BATON_IN_PLACE && count != 0)
        fail(BATON_ERR_ARGUMENT, "recvbuf is BATON_IN_PLACE; only sendbuf may be");
    Request request;
    request.operation = operation;
    request.type = type;
    request.count = count;
    request.bytes = bytes_of(count, type, 1);
    request.recv = static_cast<std::byte *>(recvbuf);
    return request;
}

}  // namespace

void require_type(baton_type type) {
    if (baton_type_size(type) == 0)
        fail(BATON_ERR_ARGUMENT, "type is {}, which is no baton_type", static_cast<int>(type));
}

void require_op(baton_type type, baton_op op) {
    if (op < 0 || op >= BATON_OP_COUNT)
        fail(BATON_ERR_ARGUMENT, "op is {}, which is no baton_op", static_cast<int>(op));
    if (!op_defined(type, op)) {
        fail(BATON_ERR_ARGUMENT, "op is {}, which is not defined for type {}", baton_op_name(op),
             baton_type_name(type));
    }
}

void require_rank(const Communicator &comm, int rank, const char *name) {
    if (rank < 0 || rank >= comm.size()) {
        fail(BATON_ERR_ARGUMENT, "{} is {}, but the communicator has the ranks 0 to {}", name, rank, comm.size() - 1);
    }
}

Request check_allgather(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type) {
    require_type(type);
    Request request = collective_request(BATON_ALLGATHER, recvbuf, count, type);
    const std::uint64_t total = bytes_of(count, type, turn.size());
    if (sendbuf != BATON_IN_PLACE) {
        request.send = bytes_at(sendbuf);
        request.send_info = turn.buffers().check(sendbuf, request.bytes, "sendbuf");
    }
    request.recv_info = turn.buffers().check(recvbuf, total, "recvbuf");
    const std::byte *own = request.recv + static_cast<std::uint64_t>(turn.rank()) * request.bytes;
    if (sendbuf == BATON_IN_PLACE) {
        request.send = own;
        // In reserved address space the own block may lie in another mapping than the first.
        if (!request.recv_info.chunk) request.send_info = request.recv_info;
    } else if (request.send != own && overlap(request.send, request.bytes, request.recv, total)) {
        fail(BATON_ERR_ARGUMENT,
             "sendbuf {} overlaps recvbuf {} but is not recvbuf + rank * count ({}), the place for in place", sendbuf,
             recvbuf, static_cast<const void *>(own));
    }
    return request;
}

Request check_alltoall(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type) {
    require_type(type);
    Request request = collective_request(BATON_ALLTOALL, recvbuf, count, type);
    const std::uint64_t total = bytes_of(count, type, turn.size());
    request.send = sendbuf == BATON_IN_PLACE ? request.recv : bytes_at(sendbuf);
    check_alike(turn, request, sendbuf != BATON_IN_PLACE, total);
    return request;
}

Request check_broadcast(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                        int root) {
    require_type(type);
    require_rank(turn.comm(), root, "root");
    Request request = collective_request(BATON_BROADCAST, recvbuf, count, type);
    request.root = root;
    const bool given = turn.rank() == root && sendbuf != BATON_IN_PLACE;
    request.send = given ? bytes_at(sendbuf) : request.recv;
    check_alike(turn, request, given, request.bytes);
    return request;
}

Request check_reduce_scatter(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                             baton_op op) {
    require_type(type);
    require_op(type, op);
    Request request = collective_request(BATON_REDUCE_SCATTER, recvbuf, count, type);
    request.op = op;
    const std::uint64_t total = bytes_of(count, type, turn.size());
    if (sendbuf == BATON_IN_PLACE) {
        request.send_info = request.recv_info = turn.buffers().check(recvbuf, total, "recvbuf");
        request.send = request.recv;
        return request;
    }
    request.send = bytes_at(sendbuf);
    request.send_info = turn.buffers().check(sendbuf, total, "sendbuf");
    request.recv_info = turn.buffers().check(recvbuf, request.bytes, "recvbuf");
    const std::byte *own = request.send + static_cast<std::uint64_t>(turn.rank()) * request.bytes;
    if (request.recv != own && overlap(request.send, total, request.recv, request.bytes)) {
        fail(BATON_ERR_ARGUMENT,
             "recvbuf {} overlaps sendbuf {} but is not sendbuf + rank * count ({}), the place for in place", recvbuf,
             sendbuf, static_cast<const void *>(own));
    }
    return request;
}

Request check_allreduce(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                        baton_op op) {
    require_type(type);
    require_op(type, op);
    Request request = collective_request(BATON_ALLREDUCE, recvbuf, count, type);
    request.op = op;
    request.send = sendbuf == BATON_IN_PLACE ? request.recv : bytes_at(sendbuf);
    check_alike(turn, request, sendbuf != BATON_IN_PLACE, request.bytes);
    return request;
}

Request check_message(const Turn &turn, baton_operation operation, const void *buffer, std::size_t count,
                      baton_type type, int peer, const MessageNames &names) {
    require_type(type);
    require_rank(turn.comm(), peer, names.peer);
    Request request;
    request.operation = operation;
    request.type = type;
    request.count = count;
    request.bytes = bytes_of(count, type, 1, names.count);
    request.peer = peer;
    request.send_info = request.recv_info = turn.buffers().check(buffer, request.bytes, names.buffer);
    request.send = bytes_at(buffer);
    request.recv = static_cast<std::byte *>(const_cast<void *>(buffer));
    return request;
}

void require_halves_fit(const Turn &turn, const Request &send, const Request &recv) {
    if (overlap(send.send, send.bytes, recv.recv, recv.bytes)) {
        fail(BATON_ERR_ARGUMENT, "sendbuf {} overlaps recvbuf {}; they must be apart: sendrecv has no in place",
             static_cast<const void *>(send.send), static_cast<const void *>(recv.recv));
    }
    if (send.peer == turn.rank() && recv.peer == turn.rank() && send.count != recv.count) {
        fail(BATON_ERR_ARGUMENT,
             "sendcount is {} and recvcount is {}; they must be equal, as dest and source are this rank ({})",
             send.count, recv.count, turn.rank());
    }
}

}  // namespace baton::core
