#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "api/calls.hpp"
#include "api/error_state.hpp"
#include "util/fixed_text.hpp"
#include "util/overlap.hpp"

namespace baton::core {
namespace {

/// Which memory a checked call works on: what the checks have found. An address may be mapped anew under the number
/// that it had, so all of it counts.
std::array<PointerInfo, 2> memory_of(const Request &request) { return {request.send_info, request.recv_info}; }

/// What a group does at its end for a collected call: `look` makes the call's checks once more, and returns the buffers
/// that it finds.
template <std::size_t n, class Look>
Group::Check once_more(const char *name, const std::array<PointerInfo, n> &buffers, const Look &look) {
    return [=] {
        try {
            if (look() != buffers) fail(BATON_ERR_ARGUMENT, "buffer {}", replaced_memory);
        } catch (const Failure &failure) {
            refuse_collected(name, failure);
        }
    };
}

/// One call on a communicator that works: checks in its turn, then runs or joins this thread's group, which keeps
/// `check`. `check` returns the Request.
template <class Check>
baton_result collective(const char *name, baton_comm_t comm, baton_stream_t stream, const Check &check) {
    return guarded(name, [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        const Request request = check(turn);
        const StreamRef on = find_stream(turn, stream);
        Group &group = Group::of_this_thread();
        if (!group.open()) return turn.issuer().run(request, on.get());
        const auto look = [=] {
            const std::shared_ptr<Communicator> again = find_comm(comm);
            const auto its_turn = again->turn_unless_destroyed();
            find_stream(its_turn, stream);
            return memory_of(check(its_turn));
        };
        group.add_call(once_more(name, memory_of(request), look), found,
                       [request, on](const Turn &at_end) { at_end.issuer().run(request, on.get()); });
    });
}

/// Likewise messages, as many as the call has `buffers`: what it calls them.
template <std::size_t n, class Check>
baton_result messages(const char *name, const std::array<const char *, n> &buffers, baton_comm_t comm,
                      baton_stream_t stream, const Check &check) {
    return guarded(name, [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        const std::array<Request, n> requests = check(turn);
        const StreamRef on = find_stream(turn, stream);
        Group &group = Group::of_this_thread();
        if (!group.open()) return turn.issuer().run_messages(requests, on.get());
        std::array<Group::Names, n> names;
        std::transform(buffers.begin(), buffers.end(), names.begin(), [name](const char *buffer) {
            return Group::Names{name, buffer};
        });
        group.add_messages({comm, stream, found, on}, requests, names);
    });
}

/// baton_send and baton_recv. A long one completes together with its other half: of one rank they need a group.
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

/// A checked one-sided call: what it does, and which buffer it works on.
struct OneSided {
    std::function<void(Executor &)> work;
    PointerInfo buffer;
};

/// A one-sided call: checked now, run now or by the group. `make` checks it and returns a OneSided.
template <class Make>
baton_result one_sided(const char *name, baton_window_t window, baton_stream_t stream, const Make &make) {
    return guarded(name, [&] {
        const std::shared_ptr<WindowHandle> found = find_window(window);
        const auto turn = found->comm->turn();
        find_window(window);  // another thread may have destroyed it meanwhile
        const StreamRef on = find_stream(turn, stream);
        const OneSided call = make(turn, *found->window, on.get());
        const auto run = [work = call.work, on](const Turn &then) { then.issuer().run_one_sided(work, on.get()); };
        Group &group = Group::of_this_thread();
        if (!group.open()) return run(turn);
        const auto look = [=] {
            const std::shared_ptr<WindowHandle> again = find_window(window);
            const auto its_turn = again->comm->turn_unless_destroyed();
            find_window(window);
            const StreamRef queue = find_stream(its_turn, stream);
            return std::array{make(its_turn, *again->window, queue.get()).buffer};
        };
        group.add_call(once_more(name, std::array{call.buffer}, look), found->comm, run);
    });
}

std::byte *window_range(const Communicator &comm, const Window &window, int target, std::size_t offset,
                        std::size_t bytes) {
    require_rank(comm, target, "target");
    if (offset > window.bytes || bytes > window.bytes - offset) {
        fail(BATON_ERR_ARGUMENT, "offset {} with {} bytes leaves the window of {} bytes", offset, bytes, window.bytes);
    }
    return window.pointers[static_cast<std::size_t>(target)] + offset;
}

/// put and get, of checked memory. Memory put onto itself has nothing to move.
std::function<void(Executor &)> transfer(const Turn &turn, baton_operation operation, std::byte *destination,
                                         const std::byte *source, std::size_t bytes, void *queue) {
    Request request;
    request.operation = operation;
    request.count = request.bytes = destination == source ? 0 : bytes;
    if (overlap(source, request.bytes, destination, request.bytes)) {
        fail(BATON_ERR_ARGUMENT, "{} bytes from {} overlap their destination {}; the two must be equal or apart", bytes,
             static_cast<const void *>(source), static_cast<const void *>(destination));
    }
    return [=, moved = request.bytes, plan = turn.planner().plan(request)](Executor &executor) {
        executor.transfer(destination, source, moved, plan, queue);
    };
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

baton_result baton_window_create(baton_comm_t comm, size_t bytes, baton_window_t *window, void **base) {
    return guarded("baton_window_create", [&] {
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        std::optional<WindowTable::Reservation> handle;
        std::shared_ptr<WindowHandle> named;
        // Where this throws, no rank gets a window. So memory for the handle is taken here: a rank that found none
        // later would have a window that it cannot destroy, which only all ranks can.
        const auto prepare = [&] {
            if (window == nullptr) fail(BATON_ERR_ARGUMENT, "window is NULL");
            if (base == nullptr) fail(BATON_ERR_ARGUMENT, "base is NULL");
            named = std::make_shared<WindowHandle>(WindowHandle{found, nullptr});
            handle.emplace(windows());
        };
        // By reference: a copy would take memory where the other ranks wait already.
        const std::shared_ptr<Window> created = turn.windows().create(bytes, std::cref(prepare));
        named->window = created;
        *base = created->pointers[static_cast<std::size_t>(found->rank())];
        *window = handle->fill(std::move(named));
    });
}

baton_result baton_window_destroy(baton_window_t window) {
    return guarded("baton_window_destroy", [&] {
        const std::shared_ptr<WindowHandle> found = find_window(window);
        const auto turn = found->comm->turn_unless_destroyed();
        find_window(window);  // another thread may have destroyed it meanwhile
        windows().remove(window);
        turn.windows().destroy(found->window);
    });
}

baton_result baton_window_pointer(baton_window_t window, int peer, void **pointer) {
    return guarded("baton_window_pointer", [&] {
        if (pointer == nullptr) fail(BATON_ERR_ARGUMENT, "pointer is NULL");
        const std::shared_ptr<WindowHandle> found = find_window(window);
        require_rank(*found->comm, peer, "peer");
        *pointer = found->window->pointers[static_cast<std::size_t>(peer)];
    });
}

baton_result baton_put(const void *source, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    return one_sided("baton_put", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        std::byte *destination = window_range(turn.comm(), on, target, offset, bytes);
        const PointerInfo info = turn.buffers().check(source, bytes, "source");
        const auto *from = static_cast<const std::byte *>(source);
        return OneSided{transfer(turn, BATON_PUT, destination, from, bytes, queue), info};
    });
}

baton_result baton_get(void *destination, size_t bytes, int target, size_t offset, baton_window_t window,
                       baton_stream_t stream) {
    return one_sided("baton_get", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        const std::byte *source = window_range(turn.comm(), on, target, offset, bytes);
        const PointerInfo info = turn.buffers().check(destination, bytes, "destination");
        auto *to = static_cast<std::byte *>(destination);
        return OneSided{transfer(turn, BATON_GET, to, source, bytes, queue), info};
    });
}

baton_result baton_signal(int target, baton_window_t window, baton_stream_t stream) {
    return one_sided("baton_signal", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        require_rank(turn.comm(), target, "target");
        return OneSided{[=, index = on.index](Executor &executor) { executor.signal(index, target, queue); }, {}};
    });
}

baton_result baton_wait_signal(int source, uint64_t signals, baton_window_t window, baton_stream_t stream) {
    return one_sided("baton_wait_signal", window, stream, [=](const Turn &turn, const Window &on, void *queue) {
        require_rank(turn.comm(), source, "source");
        constexpr std::uint64_t most = std::uint64_t{1} << 63;
        // Added to the signals taken so far, it must not wrap: the wait would return at once.
        if (signals >= most) fail(BATON_ERR_ARGUMENT, "signals is {}; it must be below 2^63", signals);
        return OneSided{
            [=, index = on.index](Executor &executor) { executor.wait_signal(index, source, signals, queue); }, {}};
    });
}

baton_result baton_explain(baton_comm_t comm, baton_operation operation, size_t count, baton_type type, baton_op op,
                           const void *sendbuf, const void *recvbuf, char *text, size_t size) {
    return guarded("baton_explain", [&] {
        if (text == nullptr) fail(BATON_ERR_ARGUMENT, "text is NULL");
        if (size == 0) fail(BATON_ERR_ARGUMENT, "size is 0");
        const std::shared_ptr<Communicator> found = find_comm(comm);
        const auto turn = found->turn();
        if (operation < BATON_ALLGATHER || operation > BATON_BROADCAST) {
            fail(BATON_ERR_ARGUMENT, "operation is {}, which is no baton_operation", static_cast<int>(operation));
        }
        require_type(type);
        if (operation == BATON_REDUCE_SCATTER || operation == BATON_ALLREDUCE) require_op(type, op);
        const std::string explanation = turn.planner().explain(operation, count, type, op, sendbuf, recvbuf);
        copy_text(text, size, explanation);
    });
}

}  // extern "C"
