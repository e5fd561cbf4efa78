#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "buffer.hpp"
#include "verifier.hpp"

namespace baton::bench {

enum class Kind {
    allgather,
    reduce_scatter,
    allreduce,
    sendrecv,  // a ring: to rank + 1, from rank - 1
    put,       // a ring: into rank + 1's window, then a signal there and a wait for rank - 1's
    get,       // from rank + 1's window
    barrier
};

const char *kind_name(Kind kind);
bool has_reduction(Kind kind);
bool has_in_place(Kind kind);

/// In place as NCCL defines it (equal pointers) or as MPI does (BATON_IN_PLACE); baton.h says where inputs and results
/// lie.
enum class InPlace {
    no,
    pointers,
    mpi
};

/// One call: what the API is asked to do. `count` is the call's own count argument.
struct Shape {
    Kind kind = Kind::allgather;
    baton_type type = BATON_INT8;
    baton_op op = BATON_SUM;
    std::size_t count = 0;
    InPlace in_place = InPlace::no;
};

/// Elements that a call reads from its send buffer and writes to its receive buffer, on `ranks` ranks.
std::size_t send_elements(const Shape &shape, int ranks);
std::size_t recv_elements(const Shape &shape, int ranks);

/// Buffers for operations up to a size, allocated once so that all sizes of a table use the same ones. Collective where
/// window_bytes is not 0. Address space only where a shape does not use a buffer.
struct Workspace {
    Workspace(const Communicator &communicator, std::size_t send_bytes, std::size_t recv_bytes,
              std::size_t window_bytes, Memory memory);
    ~Workspace();
    Workspace(const Workspace &) = delete;
    Workspace &operator=(const Workspace &) = delete;

    Buffer send;
    Buffer recv;
    baton_window_t window = nullptr;
    void *window_base = nullptr;
};

/// An operation with buffers that is run many times: prepare(), then issue() one or more times, wait, verify().
class Operation {
public:
    virtual ~Operation() = default;

    /// Writes the inputs of a round, different in every rank and round, and poisons the outputs. Collective for put and
    /// get, whose memory others may still be using; the caller has a barrier before issue() in any case.
    virtual void prepare(std::uint64_t round) = 0;
    /// Poisons the outputs again, where they are not also inputs.
    virtual void poison() = 0;
    /// One call, enqueued on the communicator's stream.
    virtual void issue() = 0;
    /// `calls` captured calls are about to be replayed.
    virtual void replay(int /*calls*/) {}
    /// Judges every element of this rank's outputs after `calls` calls since prepare(), the stream being idle.
    /// Collective for barrier. REQUIRES: calls == 1 for InPlace::mpi.
    virtual Check verify(int calls) = 0;
    /// baton_explain's text for this call.
    virtual std::string explain() const = 0;
};

std::unique_ptr<Operation> make_operation(const Shape &shape, const Communicator &communicator,
                                          const Verifier &verifier, Workspace &workspace);

}  // namespace baton::bench
