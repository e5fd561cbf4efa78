#pragma once

#include <cstdint>
#include <vector>

#include "environment.hpp"
#include "library.hpp"
#include "plain_memory.hpp"

namespace baton::bench {

/// Bare copies and flags between the ranks' memory in one Baton window: no protocol, no library. Construction and
/// destruction are collective.
class Lanes {
public:
    /// Each rank can send up to `bytes` at a time.
    Lanes(const Communicator &communicator, std::size_t bytes);
    ~Lanes();
    Lanes(const Lanes &) = delete;
    Lanes &operator=(const Lanes &) = delete;

    /// Enqueues this rank's sends of a pattern, or makes them on the host: about `bytes` in all, divided among the
    /// receivers. Returns the bytes sent, 0 if the rank has nothing to do. REQUIRES: `bytes` at most the constructor's.
    std::size_t push(Traffic traffic, std::size_t bytes) const;
    /// Likewise this rank's sends to one peer. REQUIRES: nobody else sends to it.
    void push_to(int peer, std::size_t bytes) const;
    /// Sends a flag `trips` times to the partner (rank 0 and 1, 2 and 3, ...) and back. Complete on return.
    void ping_pong(std::uint64_t trips);

private:
    void copy(const std::vector<void *> &destinations, std::size_t bytes) const;
    std::byte *data_of(int rank, std::size_t slot, std::size_t slot_bytes) const;
    int partner() const;

    const Communicator &communicator_;
    baton_window_t window_ = nullptr;
    std::vector<std::byte *> bases_;  // of every rank, as this process sees them: one page with the flag, then data
    const PlainMemory source_;
    std::uint64_t flag_ = 0;  // the last value that both sides have seen
};

}  // namespace baton::bench
