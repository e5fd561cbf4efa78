#include "bootstrap/mpi_farewell.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bootstrap/told_failure.hpp"

namespace baton::core {

MpiFarewell::MpiFarewell(int rank, int size)
    : rank_(rank),
      in_flight_(
          std::make_unique<MpiRequests>(static_cast<std::size_t>(size), sizeof(ToldFailure), sizeof(ToldFailure))) {}

void MpiFarewell::listen(MPI_Comm comm) {
    check_mpi(
        MPI_Irecv(in_flight_->received.data(), sizeof(ToldFailure), MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &receive()),
        "MPI_Irecv");
    comm_ = comm;
}

void MpiFarewell::throw_if_heard() {
    if (!heard_ && in_flight_ && receive() != MPI_REQUEST_NULL) heard_ = test_receive();
    if (heard_) throw Failure(*heard_);
}

std::optional<Failure> MpiFarewell::test_receive() try {
    int done = 0;
    check_mpi(MPI_Test(&receive(), &done, MPI_STATUS_IGNORE), "MPI_Irecv");
    if (done == 0) return std::nullopt;
    ToldFailure words;
    std::memcpy(&words, in_flight_->received.data(), sizeof words);
    return failure_of(words);
} catch (const Failure &error) {
    return error;
}

void MpiFarewell::say(const Failure &failure) noexcept {
    if (!in_flight_ || comm_ == MPI_COMM_NULL || heard_ || said_) return;
    said_ = true;
    ToldFailure words;
    words.set(rank_, failure);
    std::memcpy(in_flight_->sent.data(), &words, sizeof words);
    // Where MPI cannot send it, there is nobody left to tell: the others wait for their timeout.
    for (int rank = 0; rank < static_cast<int>(in_flight_->requests.size()); ++rank) {
        if (rank == rank_) continue;
        MPI_Isend(in_flight_->sent.data(), sizeof words, MPI_BYTE, rank, 0, comm_,
                  &in_flight_->requests[static_cast<std::size_t>(rank)]);
    }
}

void MpiFarewell::end() noexcept {
    if (!in_flight_) return;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && receive() != MPI_REQUEST_NULL) MPI_Cancel(&receive());
    const auto in_use = [this] {
        const auto &requests = in_flight_->requests;
        return std::any_of(requests.begin(), requests.end(), [](MPI_Request one) { return one != MPI_REQUEST_NULL; });
    };
    // MPI_Wait might wait for a rank that is busy elsewhere.
    constexpr int tests = 100;
    for (int test = 0; finalized == 0 && test < tests && in_use(); ++test) {
        for (MPI_Request &request : in_flight_->requests) {
            int done = 0;
            if (request != MPI_REQUEST_NULL) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
    if (in_use()) Kept::keep(std::move(in_flight_));
    in_flight_.reset();
}

}  // namespace baton::core
