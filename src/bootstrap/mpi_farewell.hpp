#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "bootstrap/mpi_requests.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// How the ranks of a creation hear at once that one of them has failed alone: it sends its ToldFailure to each, and
/// each has a receive posted for them. All its memory is allocated when it is made.
class MpiFarewell {
public:
    MpiFarewell(int rank, int size);
    /// Ends it.
    ~MpiFarewell() { end(); }
    MpiFarewell(const MpiFarewell &) = delete;
    MpiFarewell &operator=(const MpiFarewell &) = delete;

    /// From here on this rank hears, and can say, last words over `comm`, which carries no other messages from a rank
    /// to a rank and lives until end(), or for ever where one has been sent: who does not receive it any more lets MPI
    /// keep it.
    void listen(MPI_Comm comm);
    /// Throws once another rank has said its last words, or the receive has ended with an error, and from then on.
    void throw_if_heard();
    /// The first last words count, heard or said.
    void say(const Failure &failure) noexcept;
    /// Takes the receive back, and gives MPI the chance to send what has been said. Does not wait; what MPI may still
    /// use is kept.
    void end() noexcept;

private:
    std::optional<Failure> test_receive();

    /// The receive is this rank's own request, the sends are those of the others.
    MPI_Request &receive() { return in_flight_->requests[static_cast<std::size_t>(rank_)]; }

    const int rank_;
    MPI_Comm comm_ = MPI_COMM_NULL;           // from listen() on
    std::unique_ptr<MpiRequests> in_flight_;  // until end()
    bool said_ = false;
    std::optional<Failure> heard_;
};

}  // namespace baton::core
