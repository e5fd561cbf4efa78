#pragma once

#include <memory>

#include "api/group.hpp"
#include "api/handle_table.hpp"
#include "comm/communicator.hpp"

namespace baton::core {

/// A window handle keeps its communicator alive.
struct WindowHandle {
    std::shared_ptr<Communicator> comm;
    std::shared_ptr<Window> window;
};

using CommTable = HandleTable<HandleOf::communicator, baton_comm_t, Communicator>;
using WindowTable = HandleTable<HandleOf::window, baton_window_t, WindowHandle>;
CommTable &communicators();
WindowTable &windows();

/// Returns the object behind a handle. Throws BATON_ERR_ARGUMENT if the handle was never valid, or was destroyed.
std::shared_ptr<Communicator> find_comm(baton_comm_t comm);
std::shared_ptr<WindowHandle> find_window(baton_window_t window);
/// Throws BATON_ERR_ARGUMENT if `stream` is no stream of the communicator's kind.
StreamRef find_stream(const Communicator &comm, baton_stream_t stream);

void require_type(baton_type type);
void require_op(baton_type type, baton_op op);
void require_rank(const Communicator &comm, int rank, const char *name);

/// Check a call's arguments and return its Request. They throw BATON_ERR_ARGUMENT, and start nothing.
Request check_allgather(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type);
Request check_alltoall(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type);
Request check_broadcast(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                        int root);
Request check_reduce_scatter(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                             baton_op op);
Request check_allreduce(const Turn &turn, const void *sendbuf, void *recvbuf, std::size_t count, baton_type type,
                        baton_op op);
/// The names of a message's arguments, for error messages.
struct MessageNames {
    const char *buffer = "buffer";
    const char *count = "count";
    const char *peer = "peer";
};
Request check_message(const Turn &turn, baton_operation operation, const void *buffer, std::size_t count,
                      baton_type type, int peer, const MessageNames &names);
/// Checks the halves of a sendrecv against each other. There is no in place: what arrives would be stored over what has
/// not left yet. From a rank to itself the recv gets what is sent, so their counts must be equal.
void require_halves_fit(const Turn &turn, const Request &send, const Request &recv);

}  // namespace baton::core
