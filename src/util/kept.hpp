#pragma once

#include <memory>

namespace baton::core {

/// Memory that somebody whom this process cannot stop may still read or write: MPI, or a peer that has its address.
/// Where the two have lost step, nobody knows when it could be freed.
class Kept {
public:
    virtual ~Kept() = default;
    /// Keeps it for ever. It stays reachable, so that leak checkers see that this is on purpose. Needs no memory.
    static void keep(std::unique_ptr<Kept> kept) noexcept;

private:
    Kept *kept_before_ = nullptr;
};

}  // namespace baton::core
