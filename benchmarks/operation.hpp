#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "library.hpp"
#include "verifier.hpp"

namespace baton::bench {

/// An operation of one shape on a library's memory that is run many times: prepare(), then issue() one or more times,
/// wait, verify(). It knows what the data are and must become; the call itself is the library's.
class Operation {
public:
    virtual ~Operation() = default;

    /// Writes the inputs of a round, different in every rank and round, and poisons the outputs. Collective for put and
    /// get, since others may still be using their memory. The caller has a barrier before issue() in any case.
    virtual void prepare(std::uint64_t round) = 0;
    /// One call, enqueued on the communicator's stream.
    virtual void issue() = 0;
    /// Announces that `calls` captured calls are about to be launched.
    virtual void replay(int /*calls*/) {}
    /// Checks every element of this rank's outputs after `calls` calls since prepare(). Collective for barrier.
    /// REQUIRES: an idle stream; calls == 1 for InPlaceForm::mpi.
    virtual Check verify(int calls) = 0;
    /// What the library says about this call.
    virtual std::string explain() const = 0;
};

/// REQUIRES: `verifier` works on the library's kind of memory, which is large enough for the shape.
std::unique_ptr<Operation> make_operation(const Shape &shape, const Communicator &communicator,
                                          const Verifier &verifier, Library &library);

}  // namespace baton::bench
