#include <algorithm>
#include <array>

#include "api/calls.hpp"
#include "api/error_state.hpp"
#include "util/fixed_text.hpp"

namespace baton::core {
namespace {

/// Returns the memory that a checked call works on, as the checks have found it. All of each PointerInfo counts, since
/// an address may be mapped anew with the buffer id that it had.
std::array<PointerInfo, 2> memory_of(const Request &request) { return {request.send_info, request.recv_info}; }

/// One collective call on a communicator that works: takes its turn, checks the call, and runs it or adds it to this
/// thread's group, which keeps `check`. `check` returns the Request.
template <class Check>
baton_result collective(const char *name, baton_comm_t comm, baton_stream_t stream, const Check &check) {
    return guarded(name, [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        const Request request = check(turn);
        const StreamRef on = find_stream(*found, stream);
        Group &group = Group::of_this_thread();
        if (!group.open()) return turn.issuer().run(request, on.get());
        turn.issuer().require_stream(on.get());
        turn.issuer().require_runnable(request);
        const auto recheck = [=] {
            const std::shared_ptr<Communicator> again = find_comm(comm);
            const auto its_turn = again->turn_unless_destroyed();
            find_stream(*again, stream);
            return memory_of(check(its_turn));
        };
        group.add_call(check_at_end(name, memory_of(request), recheck), found,
                       [request, on](const Turn &at_end) { at_end.issuer().run(request, on.get()); });
    });
}

/// The same for the messages of a call, one for each of `buffers`: the names of its buffer arguments.
template <std::size_t n, class Check>
baton_result messages(const char *name, const std::array<const char *, n> &buffers, baton_comm_t comm,
                      baton_stream_t stream, const Check &check) {
    return guarded(name, [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        const std::array<Request, n> requests = check(turn);
        const StreamRef on = find_stream(*found, stream);
        Group &group = Group::of_this_thread();
        if (!group.open()) return turn.issuer().run_messages(requests, on.get());
        turn.issuer().require_stream(on.get());
        for (const Request &request : requests) turn.issuer().require_runnable(request);
        std::array<Group::Names, n> names;
        std::transform(buffers.begin(), buffers.end(), names.begin(), [name](const char *buffer) {
            return Group::Names{name, buffer};
        });
        group.add_messages({comm, stream, found, on}, requests, names);
    });
}

/// baton_send and baton_recv. A long one completes only together with its other half, so one to oneself needs a group.
baton_result one_message(const char *name, baton_operation operation, const void *buffer, std::size_t count,
                         baton_type type, int peer, baton_comm_t comm, baton_stream_t stream) {
    const bool grouped = Group::of_this_thread().open();
    return messages(name, std::array{"buffer"}, comm, stream, [=](const Turn &turn) {
        const Request request = check_message(turn, operation, buffer, count, type, peer, {});
        if (peer == turn.rank() && request.bytes > BATON_EAGER_BYTES && !grouped) {
            fail(BATON_ERR_ARGUMENT,
                 "peer is this rank ({}) and the message has {} bytes: more than BATON_EAGER_BYTES ({}) to oneself "
                 "need a group or sendrecv",
                 peer, request.bytes, BATON_EAGER_BYTES);
        }
        return std::array{request};
    });
}

}  // namespace
}  // namespace baton::core

using namespace baton::core;

extern "C" {

baton_result baton_allgather(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_comm_t comm,
                             baton_stream_t stream) {
    return collective("baton_allgather", comm, stream,
                      [=](const Turn &turn) { return check_allgather(turn, sendbuf, recvbuf, count, type); });
}

baton_result baton_alltoall(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_comm_t comm,
                            baton_stream_t stream) {
    return collective("baton_alltoall", comm, stream,
                      [=](const Turn &turn) { return check_alltoall(turn, sendbuf, recvbuf, count, type); });
}

baton_result baton_broadcast(const void *sendbuf, void *recvbuf, size_t count, baton_type type, int root,
                             baton_comm_t comm, baton_stream_t stream) {
    return collective("baton_broadcast", comm, stream,
                      [=](const Turn &turn) { return check_broadcast(turn, sendbuf, recvbuf, count, type, root); });
}

baton_result baton_reduce_scatter(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_op op,
                                  baton_comm_t comm, baton_stream_t stream) {
    return collective("baton_reduce_scatter", comm, stream,
                      [=](const Turn &turn) { return check_reduce_scatter(turn, sendbuf, recvbuf, count, type, op); });
}

baton_result baton_allreduce(const void *sendbuf, void *recvbuf, size_t count, baton_type type, baton_op op,
                             baton_comm_t comm, baton_stream_t stream) {
    return collective("baton_allreduce", comm, stream,
                      [=](const Turn &turn) { return check_allreduce(turn, sendbuf, recvbuf, count, type, op); });
}

baton_result baton_barrier(baton_comm_t comm, baton_stream_t stream) {
    return collective("baton_barrier", comm, stream, [](const Turn &) {
        Request request;
        request.operation = BATON_BARRIER;
        return request;
    });
}

baton_result baton_send(const void *buffer, size_t count, baton_type type, int peer, baton_comm_t comm,
                        baton_stream_t stream) {
    return one_message("baton_send", BATON_SEND, buffer, count, type, peer, comm, stream);
}

baton_result baton_recv(void *buffer, size_t count, baton_type type, int peer, baton_comm_t comm,
                        baton_stream_t stream) {
    return one_message("baton_recv", BATON_RECV, buffer, count, type, peer, comm, stream);
}

baton_result baton_sendrecv(const void *sendbuf, size_t sendcount, int dest, void *recvbuf, size_t recvcount,
                            int source, baton_type type, baton_comm_t comm, baton_stream_t stream) {
    return messages("baton_sendrecv", std::array{"sendbuf", "recvbuf"}, comm, stream, [=](const Turn &turn) {
        const std::array both{
            check_message(turn, BATON_SEND, sendbuf, sendcount, type, dest, {"sendbuf", "sendcount", "dest"}),
            check_message(turn, BATON_RECV, recvbuf, recvcount, type, source, {"recvbuf", "recvcount", "source"})};
        require_halves_fit(turn, both[0], both[1]);
        return both;
    });
}

baton_result baton_group_begin(void) {
    return guarded("baton_group_begin", [] { Group::of_this_thread().begin(); });
}

baton_result baton_group_end(void) {
    return guarded("baton_group_end", [] { Group::of_this_thread().end(); });
}

baton_result baton_group_drop(void) {
    return guarded("baton_group_drop", [] { Group::of_this_thread().drop(); });
}

baton_result baton_explain(baton_comm_t comm, baton_operation operation, size_t count, baton_type type, baton_op op,
                           const void *sendbuf, const void *recvbuf, char *text, size_t size) {
    return guarded("baton_explain", [&] {
        require_pointer(text, "text");
        if (size == 0) fail(BATON_ERR_ARGUMENT, "size is 0");
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn_unless_destroyed();
        if (operation < BATON_ALLGATHER || operation >= BATON_OPERATION_COUNT) {
            fail(BATON_ERR_ARGUMENT, "operation is {}, which is no baton_operation", static_cast<int>(operation));
        }
        require_type(type);
        if (reduces(operation)) require_op(type, op);
        const std::string explanation = turn.planner().explain(operation, count, type, op, sendbuf, recvbuf);
        copy_text(text, size, explanation);
    });
}

}  // extern "C"
