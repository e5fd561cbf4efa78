#include "operation.hpp"

#include "barrier_operation.hpp"

namespace baton::bench {

namespace {

/// The arguments of make_operation().
struct Setting {
    const Shape &shape;
    const Communicator &communicator;
    const Verifier &verifier;
    Library &library;
};

/// What the data-moving operations share: the call, the shape in bytes, the round, and the patterns of a rank's inputs.
class DataOperation : public Operation {
public:
    explicit DataOperation(const Setting &setting)
        : shape_(setting.shape),
          communicator_(setting.communicator),
          verifier_(setting.verifier),
          library_(setting.library),
          buffers_(library_.buffers()) {
        call_.shape = shape_;
        call_.send = buffers_.send;
        call_.recv = buffers_.recv;
        call_.rank = communicator_.rank();
        call_.ranks = communicator_.size();
    }

    void issue() final { library_.issue(call_); }
    std::string explain() const final { return library_.explain(call_); }

protected:
    std::size_t bytes(std::size_t elements) const { return elements * baton_type_size(shape_.type); }
    std::size_t block() const { return bytes(shape_.count); }
    std::size_t ranks() const { return static_cast<std::size_t>(communicator_.size()); }
    std::size_t rank() const { return static_cast<std::size_t>(communicator_.rank()); }
    int right() const { return (communicator_.rank() + 1) % communicator_.size(); }
    int left() const { return (communicator_.rank() + communicator_.size() - 1) % communicator_.size(); }
    bool in_place() const { return shape_.in_place != InPlaceForm::no; }
    Pattern pattern_of(int rank) const { return make_pattern(shape_.type, rank, round_); }
    Pattern own_pattern() const { return pattern_of(communicator_.rank()); }
    Reduction reduction(int calls, int replaced) const {
        Reduction reduction = make_reduction(shape_.type, shape_.op, communicator_.size(), round_);
        reduction.repeats = calls;
        reduction.replaced = in_place() ? replaced : Reduction::nobody;
        reduction.any_order = library_.sums_in_any_order();
        return reduction;
    }

    const Shape shape_;
    const Communicator &communicator_;
    const Verifier &verifier_;
    Library &library_;
    const Buffers buffers_;
    Call call_;
    std::uint64_t round_ = 0;
};

class Allgather final : public DataOperation {
public:
    explicit Allgather(const Setting &setting) : DataOperation(setting) {
        own_block_ = in_place() ? buffers_.recv + rank() * block() : buffers_.send;
        call_.send = shape_.in_place == InPlaceForm::mpi ? BATON_IN_PLACE : own_block_;
    }

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, ranks() * block());
        verifier_.fill(own_pattern(), own_block_, block());
    }
    Check verify(int /*calls*/) override {
        Check result;
        for (int rank = 0; rank < communicator_.size(); ++rank) {
            const std::size_t first = static_cast<std::size_t>(rank) * shape_.count;
            Check part =
                verifier_.check_copy(pattern_of(rank), shape_.type, 0, buffers_.recv + bytes(first), shape_.count);
            part.first += part.wrong > 0 ? first : 0;
            result.add(part);
        }
        return result;
    }

private:
    std::byte *own_block_;
};

class ReduceScatter final : public DataOperation {
public:
    explicit ReduceScatter(const Setting &setting) : DataOperation(setting) {
        switch (shape_.in_place) {
            case InPlaceForm::pointers:
                call_.recv = buffers_.send + rank() * block();
                break;
            case InPlaceForm::mpi:
                call_.send = BATON_IN_PLACE;
                call_.recv = buffers_.send;
                break;
            default:
                break;
        }
    }

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, in_place() ? 0 : block());
        verifier_.fill(own_pattern(), buffers_.send, ranks() * block());
    }
    Check verify(int calls) override {
        return verifier_.check_reduction(reduction(calls, communicator_.rank()), shape_.type, rank() * shape_.count,
                                         call_.recv, shape_.count);
    }
};

/// Operations whose input, in place, lies at the beginning of the receive buffer.
class InPlaceInRecv : public DataOperation {
public:
    explicit InPlaceInRecv(const Setting &setting)
        : DataOperation(setting), input_(in_place() ? buffers_.recv : buffers_.send) {
        call_.send = shape_.in_place == InPlaceForm::mpi ? BATON_IN_PLACE : input_;
    }

protected:
    std::byte *const input_;
};

class Allreduce final : public InPlaceInRecv {
public:
    using InPlaceInRecv::InPlaceInRecv;

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, in_place() ? 0 : block());
        verifier_.fill(own_pattern(), input_, block());
    }
    Check verify(int calls) override {
        return verifier_.check_reduction(reduction(calls, Reduction::everybody), shape_.type, 0, buffers_.recv,
                                         shape_.count);
    }
};

class Alltoall final : public InPlaceInRecv {
public:
    using InPlaceInRecv::InPlaceInRecv;

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, in_place() ? 0 : ranks() * block());
        verifier_.fill(own_pattern(), input_, ranks() * block());
    }
    /// In place, every second call returns all blocks to where they came from.
    Check verify(int calls) override {
        const bool exchanged = !in_place() || calls % 2 != 0;
        Check result;
        for (std::size_t peer = 0; peer < ranks(); ++peer) {
            const std::size_t from = exchanged ? peer : rank();
            const std::size_t place = exchanged ? rank() : peer;
            Check part = verifier_.check_copy(pattern_of(static_cast<int>(from)), shape_.type, place * shape_.count,
                                              buffers_.recv + peer * block(), shape_.count);
            part.first += part.wrong > 0 ? peer * shape_.count : 0;
            result.add(part);
        }
        return result;
    }
};

class Broadcast final : public InPlaceInRecv {
public:
    using InPlaceInRecv::InPlaceInRecv;

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, is_root() && in_place() ? 0 : block());
        if (is_root()) {
            verifier_.fill(own_pattern(), input_, block());
        }
    }
    Check verify(int /*calls*/) override {
        if (is_root() && !library_.root_receives()) {
            return {};
        }
        return verifier_.check_copy(pattern_of(Call::root), shape_.type, 0, buffers_.recv, shape_.count);
    }

private:
    bool is_root() const { return communicator_.rank() == Call::root; }
};

/// A message to one rank and one from another, in a ring or in pairs.
class Messages final : public DataOperation {
public:
    explicit Messages(const Setting &setting) : DataOperation(setting) {
        if (shape_.kind == Kind::sendrecv) {
            call_.to = right();
            call_.from = left();
            return;
        }
        const int rank = communicator_.rank();
        const bool sends = rank % 2 == 0;
        call_.to = sends && rank + 1 < communicator_.size() ? rank + 1 : Call::nobody;
        call_.from = sends ? Call::nobody : rank - 1;
    }

    void prepare(std::uint64_t round) override {
        round_ = round;
        verifier_.poison(buffers_.recv, block());
        verifier_.fill(own_pattern(), buffers_.send, block());
    }
    Check verify(int /*calls*/) override {
        if (call_.from == Call::nobody) {
            return {};
        }
        return verifier_.check_copy(pattern_of(call_.from), shape_.type, 0, buffers_.recv, shape_.count);
    }
};

class Put final : public DataOperation {
public:
    explicit Put(const Setting &setting) : DataOperation(setting) {
        call_.recv = nullptr;
        call_.to = right();
        call_.from = left();
    }

    void prepare(std::uint64_t round) override {
        round_ = round;
        // This rank has passed wait_signal(), so the left neighbour's puts of the last round have arrived before it
        // poisons.
        verifier_.poison(buffers_.window, block());
        verifier_.fill(own_pattern(), buffers_.send, block());
        communicator_.world().barrier();  // nobody puts into a window that its owner is still poisoning
    }
    Check verify(int /*calls*/) override {
        return verifier_.check_copy(pattern_of(left()), shape_.type, 0, buffers_.window, shape_.count);
    }
};

class Get final : public DataOperation {
public:
    explicit Get(const Setting &setting) : DataOperation(setting) {
        call_.send = nullptr;
        call_.from = right();
    }

    void prepare(std::uint64_t round) override {
        communicator_.world().barrier();  // the left neighbour may still be getting the last round's data
        round_ = round;
        verifier_.poison(buffers_.recv, block());
        verifier_.fill(own_pattern(), buffers_.window, block());
        communicator_.world().barrier();
    }
    Check verify(int /*calls*/) override {
        return verifier_.check_copy(pattern_of(right()), shape_.type, 0, buffers_.recv, shape_.count);
    }
};

}  // namespace

std::unique_ptr<Operation> make_operation(const Shape &shape, const Communicator &communicator,
                                          const Verifier &verifier, Library &library) {
    const Setting setting{shape, communicator, verifier, library};
    switch (shape.kind) {
        case Kind::allgather:
            return std::make_unique<Allgather>(setting);
        case Kind::reduce_scatter:
            return std::make_unique<ReduceScatter>(setting);
        case Kind::allreduce:
            return std::make_unique<Allreduce>(setting);
        case Kind::alltoall:
            return std::make_unique<Alltoall>(setting);
        case Kind::broadcast:
            return std::make_unique<Broadcast>(setting);
        case Kind::sendrecv:
        case Kind::pair:
            return std::make_unique<Messages>(setting);
        case Kind::put:
            return std::make_unique<Put>(setting);
        case Kind::get:
            return std::make_unique<Get>(setting);
        case Kind::barrier:
            break;
    }
    return make_barrier_operation(communicator, library);
}

}  // namespace baton::bench
