#pragma once

#include <optional>
#include <ostream>

#include "support/fixture.hpp"

namespace baton::test {

enum class Placement {
    separate,
    equal_pointers,  ///< in place as NCCL defines it
    in_place         ///< BATON_IN_PLACE
};

/// One collective call with everything that may vary.
struct CollectiveCase {
    baton_operation operation = BATON_ALLREDUCE;
    baton_type type = BATON_FLOAT32;
    baton_op op = BATON_SUM;
    std::size_t count = 0;
    Placement placement = Placement::separate;
    Memory memory = Memory::plain;
    std::optional<Memory> recv_memory = {};  ///< if it is not the send buffer's kind
    std::size_t send_offset = 0;             ///< bytes past an aligned address
    std::size_t recv_offset = 0;
    std::uint64_t seed = 1;
    int root = 0;  ///< broadcast; modulo the number of ranks
};

/// All operations that a CollectiveCase may have.
inline constexpr baton_operation collective_operations[] = {BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLREDUCE,
                                                            BATON_ALLTOALL, BATON_BROADCAST};
inline bool reduces(baton_operation operation) {
    return operation == BATON_REDUCE_SCATTER || operation == BATON_ALLREDUCE;
}

inline std::ostream &operator<<(std::ostream &out, const CollectiveCase &c) {
    static const char *placements[] = {"separate", "equal pointers", "BATON_IN_PLACE"};
    return out << baton_operation_name(c.operation) << ' ' << c.count << ' ' << baton_type_name(c.type) << ' '
               << baton_op_name(c.op) << ", " << placements[static_cast<int>(c.placement)]
               << (c.memory == Memory::baton ? ", baton_malloc" : "") << ", offsets " << c.send_offset << " and "
               << c.recv_offset << ", seed " << c.seed << ", root " << c.root;
}

inline int root_of(const CollectiveCase &c, int size) { return c.root % size; }

/// Issues the call described by a case.
inline baton_result issue(const CollectiveCase &c, const void *send, void *recv, baton_comm_t comm,
                          baton_stream_t stream) {
    int size = 1;
    baton_comm_size(comm, &size);
    switch (c.operation) {
        case BATON_ALLGATHER:
            return baton_allgather(send, recv, c.count, c.type, comm, stream);
        case BATON_REDUCE_SCATTER:
            return baton_reduce_scatter(send, recv, c.count, c.type, c.op, comm, stream);
        case BATON_ALLTOALL:
            return baton_alltoall(send, recv, c.count, c.type, comm, stream);
        case BATON_BROADCAST:
            return baton_broadcast(send, recv, c.count, c.type, root_of(c, size), comm, stream);
        default:
            return baton_allreduce(send, recv, c.count, c.type, c.op, comm, stream);
    }
}

/// What `rank` contributes: n blocks for reduce_scatter and alltoall, else one; for broadcast only the root's.
inline Bytes collective_input(const CollectiveCase &c, int rank, int size) {
    if (c.operation == BATON_BROADCAST && rank != root_of(c, size)) return {};
    const bool many = c.operation == BATON_REDUCE_SCATTER || c.operation == BATON_ALLTOALL;
    return make_input(c.type, c.op, c.seed, rank, c.count * (many ? static_cast<std::size_t>(size) : 1));
}

/// What `rank` must find.
inline Bytes collective_output(const CollectiveCase &c, int rank, int size) {
    if (c.operation == BATON_ALLREDUCE) return reduce_inputs(c.type, c.op, c.seed, size, c.count);
    if (c.operation == BATON_REDUCE_SCATTER)
        return reduce_inputs(c.type, c.op, c.seed, size, c.count, static_cast<std::size_t>(rank) * c.count);
    if (c.operation == BATON_BROADCAST) return collective_input(c, root_of(c, size), size);
    Bytes all;
    for (int r = 0; r < size; ++r) {
        const std::size_t skipped = c.operation == BATON_ALLTOALL ? static_cast<std::size_t>(rank) * c.count : 0;
        const Bytes block = make_input(c.type, c.op, c.seed, r, c.count, skipped);
        all.insert(all.end(), block.begin(), block.end());
    }
    return all;
}

/// The buffers of one case, filled, and its pointers. Separate from the call, so that tests can issue many calls before
/// they look at any result.
class CollectiveRun {
public:
    CollectiveRun(const CollectiveCase &c, baton_comm_t comm) : case_(c), comm_(comm) {
        baton_comm_rank(comm, &rank_);
        baton_comm_size(comm, &size_);
        const std::size_t n = static_cast<std::size_t>(size_), block = c.count * width_of(c.type);
        const std::size_t own = static_cast<std::size_t>(rank_) * block;
        input_ = collective_input(c, rank_, size_);
        const bool blocks = c.operation == BATON_ALLGATHER || c.operation == BATON_ALLTOALL;
        const std::size_t output_bytes = blocks ? n * block : block;
        const bool separate = c.placement == Placement::separate;
        recv_ = std::make_unique<Buffer>(comm, separate ? output_bytes : std::max(input_.size(), output_bytes),
                                         c.recv_memory.value_or(c.memory), c.recv_offset);
        if (separate) {
            send_ = std::make_unique<Buffer>(comm, input_.size(), c.memory, c.send_offset);
            send_->upload(input_);
            send_pointer_ = send_->data();
            return;
        }
        const std::size_t input_at = c.operation == BATON_ALLGATHER ? own : 0;
        const bool marker = c.placement == Placement::in_place;
        recv_->upload(input_, input_at);
        result_at_ = c.operation == BATON_REDUCE_SCATTER && !marker ? own : 0;
        send_pointer_ = marker ? BATON_IN_PLACE : recv_->at(input_at);
    }

    void start(baton_stream_t stream) {
        ASSERT_OK(issue(case_, send_pointer_, recv_->at(result_at_), comm_, stream)) << case_;
    }

    /// Called after the stream has passed the call.
    void verify() const {
        const Bytes expected = collective_output(case_, rank_, size_);
        EXPECT_TRUE(same_bytes(expected, recv_->download(result_at_, expected.size()), case_.type)) << case_;
        EXPECT_TRUE(recv_->guards_intact()) << case_;
        if (send_ == nullptr) return;
        EXPECT_TRUE(same_bytes(input_, send_->download(), case_.type)) << "the input has changed: " << case_;
        EXPECT_TRUE(send_->guards_intact()) << case_;
    }

private:
    CollectiveCase case_;
    baton_comm_t comm_;
    int rank_ = 0, size_ = 1;
    Bytes input_;
    std::unique_ptr<Buffer> send_, recv_;
    const void *send_pointer_ = nullptr;
    std::size_t result_at_ = 0;
};

/// Runs one case to its end. Stops the test at the first wrong one.
inline void run_case(const CollectiveCase &c, baton_comm_t comm, Stream &stream) {
    CollectiveRun run(c, comm);
    run.start(stream);
    if (::testing::Test::HasFatalFailure()) return;
    stream.synchronize();
    run.verify();
}

}  // namespace baton::test
