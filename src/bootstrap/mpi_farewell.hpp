#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "bootstrap/mpi_requests.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// How the ranks of a creation hear at once that one of them has failed alone: it sends its ToldFailure to each of the
/// others, which have a receive posted for it. All memory is allocated at construction.
class MpiFarewell {
public:
    MpiFarewell(int rank, int size);
    /// Ends it.
    ~MpiFarewell() { end(); }
    MpiFarewell(const MpiFarewell &) = delete;
    MpiFarewell &operator=(const MpiFarewell &) = delete;

    /// From now on this rank hears, and can say, last words over `comm`, which carries no other messages from rank to
    /// rank. `comm` lives until end(), or for ever if a message has been sent: MPI keeps one that its receiver no
    /// longer takes.
    void listen(MPI_Comm comm);
    /// Throws once another rank has said its last words, or the receive has ended with an error, and from then on.
    void throw_if_heard();
    /// Tells the other ranks. Only the first last words count, heard or said.
    void say(const Failure &failure) noexcept;
    /// Cancels the receive, and gives MPI the chance to send what has been said. Does not wait; what MPI may still use
    /// is kept.
    void end() noexcept;

private:
    std::optional<Failure> test_receive();

    /// The receive has this rank's own place among the requests, the sends have those of the others.
    MPI_Request &receive() { return in_flight_->requests[static_cast<std::size_t>(rank_)]; }

    const int rank_;
    MPI_Comm comm_ = MPI_COMM_NULL;           // from listen() on
    std::unique_ptr<MpiRequests> in_flight_;  // until end()
    bool said_ = false;
    std::optional<Failure> heard_;
};

}  // namespace baton::core
