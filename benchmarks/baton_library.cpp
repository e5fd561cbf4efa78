#include "baton_library.hpp"

#include <exception>

namespace baton::bench {

namespace {

/// The operation that baton_explain is asked for. For a call that is made of several, the one that moves data.
baton_operation operation_of(const Call &call) {
    switch (call.shape.kind) {
        case Kind::allgather:
            return BATON_ALLGATHER;
        case Kind::reduce_scatter:
            return BATON_REDUCE_SCATTER;
        case Kind::allreduce:
            return BATON_ALLREDUCE;
        case Kind::alltoall:
            return BATON_ALLTOALL;
        case Kind::broadcast:
            return BATON_BROADCAST;
        case Kind::pair:
            return call.from == Call::nobody ? BATON_SEND : BATON_RECV;
        case Kind::put:
            return BATON_PUT;
        case Kind::get:
            return BATON_GET;
        case Kind::barrier:
            return BATON_BARRIER;
        default:
            return BATON_SEND;
    }
}

}  // namespace

BatonLibrary::BatonLibrary(const Communicator &communicator, std::shared_ptr<const SendRecv> buffers,
                           std::size_t window_bytes)
    : communicator_(communicator), buffers_(std::move(buffers)) {
    if (window_bytes > 0) {
        check(baton_window_create(communicator.handle(), window_bytes, &window_, &window_base_));
    }
}

BatonLibrary::BatonLibrary(const Communicator &communicator, const BufferBytes &bytes, Memory memory)
    : BatonLibrary(communicator, std::make_shared<SendRecv>(communicator, bytes, memory), bytes.window) {}

BatonLibrary::BatonLibrary(const Communicator &communicator, const BatonLibrary &lender, std::size_t window_bytes)
    : BatonLibrary(communicator, lender.buffers_, window_bytes) {}

BatonLibrary::~BatonLibrary() {
    // While an exception unwinds, other ranks may not come here; the communicator frees the window then.
    if (window_ != nullptr && std::uncaught_exceptions() == 0) {
        baton_window_destroy(window_);
    }
}

Buffers BatonLibrary::buffers() const {
    return {buffers_->send.at(0), buffers_->recv.at(0), static_cast<std::byte *>(window_base_)};
}

void BatonLibrary::issue(const Call &call) {
    const Shape &shape = call.shape;
    const baton_comm_t comm = communicator_.handle();
    const baton_stream_t stream = communicator_.stream();
    const std::size_t bytes = shape.count * baton_type_size(shape.type);
    switch (shape.kind) {
        case Kind::allgather:
            return check(baton_allgather(call.send, call.recv, shape.count, shape.type, comm, stream));
        case Kind::reduce_scatter:
            return check(baton_reduce_scatter(call.send, call.recv, shape.count, shape.type, shape.op, comm, stream));
        case Kind::allreduce:
            return check(baton_allreduce(call.send, call.recv, shape.count, shape.type, shape.op, comm, stream));
        case Kind::alltoall:
            return check(baton_alltoall(call.send, call.recv, shape.count, shape.type, comm, stream));
        case Kind::broadcast:
            return check(baton_broadcast(call.send, call.recv, shape.count, shape.type, Call::root, comm, stream));
        case Kind::sendrecv:
            return check(baton_sendrecv(call.send, shape.count, call.to, call.recv, shape.count, call.from, shape.type,
                                        comm, stream));
        case Kind::pair:
            if (call.to != Call::nobody) {
                check(baton_send(call.send, shape.count, shape.type, call.to, comm, stream));
            }
            if (call.from != Call::nobody) {
                check(baton_recv(call.recv, shape.count, shape.type, call.from, comm, stream));
            }
            return;
        case Kind::put:
            check(baton_put(call.send, bytes, call.to, 0, window_, stream));
            check(baton_signal(call.to, window_, stream));
            return check(baton_wait_signal(call.from, 1, window_, stream));
        case Kind::get:
            return check(baton_get(call.recv, bytes, call.from, 0, window_, stream));
        case Kind::barrier:
            return check(baton_barrier(comm, stream));
    }
}

std::string BatonLibrary::explain(const Call &call) const {
    const baton_operation operation = operation_of(call);
    const bool in_bytes = operation == BATON_PUT || operation == BATON_GET;
    const std::size_t count = call.shape.count * (in_bytes ? baton_type_size(call.shape.type) : 1);
    char text[4096] = "";
    check(baton_explain(communicator_.handle(), operation, count, in_bytes ? BATON_UINT8 : call.shape.type,
                        call.shape.op, call.send, call.recv, text, sizeof(text)));
    return text;
}

}  // namespace baton::bench
