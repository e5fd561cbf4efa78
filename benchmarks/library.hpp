#pragma once

#include <cstddef>
#include <string>

#include "kinds.hpp"

namespace baton::bench {

/// How much memory an operation needs in each buffer, and (Buffers) where that lies. The window is what put and get
/// reach in other ranks.
struct BufferBytes {
    std::size_t send = 0;
    std::size_t recv = 0;
    std::size_t window = 0;
};

struct Buffers {
    std::byte *send = nullptr;
    std::byte *recv = nullptr;
    std::byte *window = nullptr;
};

/// One call of an operation, the same each time it is issued.
struct Call {
    static constexpr int nobody = -1;
    static constexpr int root = 0;  // of broadcasts

    Shape shape;
    const void *send = nullptr;
    void *recv = nullptr;
    int to = nobody;  // ranks, for the kinds that have them
    int from = nobody;
    int rank = 0;  // the calling rank, and the number of ranks
    int ranks = 1;
};

/// Carries out calls: Baton, or a library that it is compared with. Owns the memory that it is measured on.
class Library {
public:
    virtual ~Library() = default;

    virtual Buffers buffers() const = 0;
    /// Enqueues a call on the communicator's stream, or completes it before it returns. Throws Error.
    virtual void issue(const Call &call) = 0;
    /// What the library would do for this call, in words; empty if it does not say.
    virtual std::string explain(const Call &) const { return {}; }
    /// Whether its floating-point sums may be added and rounded in any order. Baton's may not.
    virtual bool sums_in_any_order() const { return false; }
    /// Whether a broadcast leaves its result in the root's receive buffer too. MPI's has one buffer.
    virtual bool root_receives() const { return true; }
};

}  // namespace baton::bench
