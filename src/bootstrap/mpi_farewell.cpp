#include "bootstrap/mpi_farewell.hpp"

#include <cstring>
#include <utility>

namespace baton::core {

MpiFarewell::MpiFarewell(int rank, int size)
    : rank_(rank),
      in_flight_(std::make_unique<MpiRequests>(static_cast<std::size_t>(size), sizeof(LastWords), sizeof(LastWords))) {}

void MpiFarewell::listen(MPI_Comm comm) {
    check_mpi(MPI_Irecv(in_flight_->received.data(), sizeof(LastWords), MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &receive()),
              "MPI_Irecv");
    comm_ = comm;
}

void MpiFarewell::throw_if_heard() {
    if (heard_.any()) heard_.raise();
    // A receive that has ended with an error is null as well, and was an error of the call that learned of it.
    if (!in_flight_ || receive() == MPI_REQUEST_NULL) return;
    int done = 0;
    check_mpi(MPI_Test(&receive(), &done, MPI_STATUS_IGNORE), "MPI_Irecv");
    if (done == 0) return;
    std::memcpy(&heard_, in_flight_->received.data(), sizeof(LastWords));
    heard_.raise();
}

void MpiFarewell::say(const Failure &failure) noexcept {
    if (!in_flight_ || comm_ == MPI_COMM_NULL || heard_.any() || said_.any()) return;
    said_.set(rank_, failure);
    std::memcpy(in_flight_->sent.data(), &said_, sizeof(LastWords));
    // Where MPI cannot send it, there is nobody left to tell: the others wait for their timeout.
    for (int rank = 0; rank < static_cast<int>(in_flight_->requests.size()); ++rank) {
        if (rank == rank_) continue;
        MPI_Isend(in_flight_->sent.data(), sizeof(LastWords), MPI_BYTE, rank, 0, comm_,
                  &in_flight_->requests[static_cast<std::size_t>(rank)]);
    }
}

void MpiFarewell::end() noexcept {
    if (!in_flight_) return;
    int finalized = 0;
    MPI_Finalized(&finalized);
    bool in_use = said_.any();
    if (receive() != MPI_REQUEST_NULL && finalized == 0) {
        MPI_Cancel(&receive());
        // MPI_Wait might wait for the rest of a message whose sender is busy elsewhere.
        constexpr int tests = 100;
        int done = 0;
        for (int test = 0; test < tests && receive() != MPI_REQUEST_NULL; ++test)
            MPI_Test(&receive(), &done, MPI_STATUS_IGNORE);
    }
    in_use = in_use || receive() != MPI_REQUEST_NULL;
    if (in_use) Kept::keep(std::move(in_flight_));
    in_flight_.reset();
}

}  // namespace baton::core
