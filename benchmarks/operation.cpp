#include "operation.hpp"

#include <exception>

#include "barrier_operation.hpp"

namespace baton::bench {

namespace {

/// What the data-moving operations share: the shape in bytes, the round, and the patterns of a rank's inputs.
class DataOperation : public Operation {
public:
    DataOperation(const Shape &shape, const Communicator &communicator, const Verifier &verifier, Workspace &workspace)
        : shape_(shape), communicator_(communicator), verifier_(verifier), workspace_(workspace) {}

protected:
    std::size_t bytes(std::size_t elements) const { return elements * baton_type_size(shape_.type); }
    std::size_t block() const { return bytes(shape_.count); }
    std::size_t ranks() const { return static_cast<std::size_t>(communicator_.size()); }
    std::size_t rank() const { return static_cast<std::size_t>(communicator_.rank()); }
    int right() const { return (communicator_.rank() + 1) % communicator_.size(); }
    int left() const { return (communicator_.rank() + communicator_.size() - 1) % communicator_.size(); }
    bool in_place() const { return shape_.in_place != InPlace::no; }
    Pattern pattern_of(int rank) const { return make_pattern(shape_.type, rank, round_); }
    Pattern own_pattern() const { return pattern_of(communicator_.rank()); }
    Reduction reduction(int calls, int replaced) const {
        Reduction reduction = make_reduction(shape_.type, shape_.op, communicator_.size(), round_);
        reduction.repeats = calls;
        reduction.replaced = in_place() ? replaced : Reduction::nobody;
        return reduction;
    }
    std::string explain_as(baton_operation operation, const void *send, const void *recv, std::size_t count,
                           baton_type type) const {
        char text[4096] = "";
        check(baton_explain(communicator_.handle(), operation, count, type, shape_.op, send, recv, text, sizeof(text)),
              "baton_explain");
        return text;
    }

    const Shape shape_;
    const Communicator &communicator_;
    const Verifier &verifier_;
    Workspace &workspace_;
    std::uint64_t round_ = 0;
};

class Allgather final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(workspace_.recv.data(), ranks() * block());
        verifier_.fill(own_pattern(), in_place() ? own_block() : workspace_.send.data(), block());
    }
    void poison() override {
        if (!in_place()) {
            verifier_.poison(workspace_.recv.data(), ranks() * block());
        }
    }
    void issue() override {
        check(baton_allgather(send(), workspace_.recv.data(), shape_.count, shape_.type, communicator_.handle(),
                              communicator_.stream()),
              "baton_allgather");
    }
    Check verify(int /*calls*/) override {
        Check result;
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const std::size_t first = static_cast<std::size_t>(rank) * shape_.count;
            Check part =
                verifier_.check_copy(pattern_of(rank), shape_.type, 0, workspace_.recv.at(bytes(first)), shape_.count);
            part.first += part.wrong > 0 ? first : 0;
            result.add(part);
        }
        return result;
    }
    std::string explain() const override {
        return explain_as(BATON_ALLGATHER, send(), workspace_.recv.data(), shape_.count, shape_.type);
    }

private:
    void *own_block() const { return workspace_.recv.at(rank() * block()); }
    const void *send() const {
        switch (shape_.in_place) {
            case InPlace::pointers:
                return own_block();
            case InPlace::mpi:
                return BATON_IN_PLACE;
            default:
                return workspace_.send.data();
        }
    }
};

class ReduceScatter final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(workspace_.recv.data(), in_place() ? 0 : block());
        verifier_.fill(own_pattern(), workspace_.send.data(), ranks() * block());
    }
    void poison() override { verifier_.poison(workspace_.recv.data(), in_place() ? 0 : block()); }
    void issue() override {
        check(baton_reduce_scatter(send(), result(), shape_.count, shape_.type, shape_.op, communicator_.handle(),
                                   communicator_.stream()),
              "baton_reduce_scatter");
    }
    Check verify(int calls) override {
        return verifier_.check_reduction(reduction(calls, communicator_.rank()), shape_.type, rank() * shape_.count,
                                         result(), shape_.count);
    }
    std::string explain() const override {
        return explain_as(BATON_REDUCE_SCATTER, send(), result(), shape_.count, shape_.type);
    }

private:
    const void *send() const { return shape_.in_place == InPlace::mpi ? BATON_IN_PLACE : workspace_.send.data(); }
    void *result() const {
        switch (shape_.in_place) {
            case InPlace::pointers:
                return workspace_.send.at(rank() * block());
            case InPlace::mpi:
                return workspace_.send.data();
            default:
                return workspace_.recv.data();
        }
    }
};

class Allreduce final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        round_ = round;
        poison();
        verifier_.fill(own_pattern(), in_place() ? workspace_.recv.data() : workspace_.send.data(), block());
    }
    void poison() override { verifier_.poison(workspace_.recv.data(), in_place() ? 0 : block()); }
    void issue() override {
        check(baton_allreduce(send(), workspace_.recv.data(), shape_.count, shape_.type, shape_.op,
                              communicator_.handle(), communicator_.stream()),
              "baton_allreduce");
    }
    Check verify(int calls) override {
        return verifier_.check_reduction(reduction(calls, Reduction::everybody), shape_.type, 0, workspace_.recv.data(),
                                         shape_.count);
    }
    std::string explain() const override {
        return explain_as(BATON_ALLREDUCE, send(), workspace_.recv.data(), shape_.count, shape_.type);
    }

private:
    const void *send() const {
        switch (shape_.in_place) {
            case InPlace::pointers:
                return workspace_.recv.data();
            case InPlace::mpi:
                return BATON_IN_PLACE;
            default:
                return workspace_.send.data();
        }
    }
};

class Sendrecv final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        round_ = round;
        poison();
        verifier_.fill(own_pattern(), workspace_.send.data(), block());
    }
    void poison() override { verifier_.poison(workspace_.recv.data(), block()); }
    void issue() override {
        check(baton_sendrecv(workspace_.send.data(), shape_.count, right(), workspace_.recv.data(), shape_.count,
                             left(), shape_.type, communicator_.handle(), communicator_.stream()),
              "baton_sendrecv");
    }
    Check verify(int /*calls*/) override {
        return verifier_.check_copy(pattern_of(left()), shape_.type, 0, workspace_.recv.data(), shape_.count);
    }
    std::string explain() const override {
        return explain_as(BATON_SEND, workspace_.send.data(), nullptr, shape_.count, shape_.type);
    }
};

class Put final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        round_ = round;
        poison();
        verifier_.fill(own_pattern(), workspace_.send.data(), block());
        communicator_.world().barrier();  // nobody puts into a window that its owner is still poisoning
    }
    /// Own puts have arrived when wait_signal() is passed, so poisoning cannot meet the left neighbour's last round.
    void poison() override { verifier_.poison(workspace_.window_base, block()); }
    void issue() override {
        check(baton_put(workspace_.send.data(), block(), right(), 0, workspace_.window, communicator_.stream()),
              "baton_put");
        check(baton_signal(right(), workspace_.window, communicator_.stream()), "baton_signal");
        check(baton_wait_signal(left(), 1, workspace_.window, communicator_.stream()), "baton_wait_signal");
    }
    Check verify(int /*calls*/) override {
        return verifier_.check_copy(pattern_of(left()), shape_.type, 0, workspace_.window_base, shape_.count);
    }
    std::string explain() const override {
        return explain_as(BATON_PUT, workspace_.send.data(), nullptr, block(), BATON_UINT8);
    }
};

class Get final : public DataOperation {
public:
    using DataOperation::DataOperation;

    void prepare(std::uint64_t round) override {
        communicator_.world().barrier();  // the left neighbour may still be getting the last round's data
        round_ = round;
        poison();
        verifier_.fill(own_pattern(), workspace_.window_base, block());
        communicator_.world().barrier();
    }
    void poison() override { verifier_.poison(workspace_.recv.data(), block()); }
    void issue() override {
        check(baton_get(workspace_.recv.data(), block(), right(), 0, workspace_.window, communicator_.stream()),
              "baton_get");
    }
    Check verify(int /*calls*/) override {
        return verifier_.check_copy(pattern_of(right()), shape_.type, 0, workspace_.recv.data(), shape_.count);
    }
    std::string explain() const override {
        return explain_as(BATON_GET, nullptr, workspace_.recv.data(), block(), BATON_UINT8);
    }
};

}  // namespace

const char *kind_name(Kind kind) {
    constexpr const char *names[] = {"allgather", "reduce_scatter", "allreduce", "sendrecv", "put", "get", "barrier"};
    return names[static_cast<int>(kind)];
}

bool has_reduction(Kind kind) { return kind == Kind::reduce_scatter || kind == Kind::allreduce; }
bool has_in_place(Kind kind) { return kind == Kind::allgather || has_reduction(kind); }

std::size_t send_elements(const Shape &shape, int ranks) {
    return shape.kind == Kind::reduce_scatter ? shape.count * static_cast<std::size_t>(ranks) : shape.count;
}

std::size_t recv_elements(const Shape &shape, int ranks) {
    return shape.kind == Kind::allgather ? shape.count * static_cast<std::size_t>(ranks) : shape.count;
}

Workspace::Workspace(const Communicator &communicator, std::size_t send_bytes, std::size_t recv_bytes,
                     std::size_t window_bytes, Memory memory)
    : send(communicator, send_bytes, memory), recv(communicator, recv_bytes, memory) {
    if (window_bytes > 0) {
        check(baton_window_create(communicator.handle(), window_bytes, &window, &window_base), "baton_window_create");
    }
}

Workspace::~Workspace() {
    // With an exception under way other ranks may not come; the communicator frees the window then.
    if (window != nullptr && std::uncaught_exceptions() == 0) {
        baton_window_destroy(window);
    }
}

std::unique_ptr<Operation> make_operation(const Shape &shape, const Communicator &communicator,
                                          const Verifier &verifier, Workspace &workspace) {
    switch (shape.kind) {
        case Kind::allgather:
            return std::make_unique<Allgather>(shape, communicator, verifier, workspace);
        case Kind::reduce_scatter:
            return std::make_unique<ReduceScatter>(shape, communicator, verifier, workspace);
        case Kind::allreduce:
            return std::make_unique<Allreduce>(shape, communicator, verifier, workspace);
        case Kind::sendrecv:
            return std::make_unique<Sendrecv>(shape, communicator, verifier, workspace);
        case Kind::put:
            return std::make_unique<Put>(shape, communicator, verifier, workspace);
        case Kind::get:
            return std::make_unique<Get>(shape, communicator, verifier, workspace);
        default:
            return make_barrier_operation(communicator);
    }
}

}  // namespace baton::bench
