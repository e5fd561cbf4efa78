#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "support/fixture.hpp"

namespace baton::test {

/// What broke a communicator, as this rank learns it.
struct Breakage {
    baton_result code = BATON_SUCCESS;
    std::string message;
    double seconds = 0;  ///< how long it took
};

/// Returns the result of a call that is to fail: at once, or when its stream reaches it, or by another rank's doing.
/// Waits until baton_comm_check() knows it, at most for `limit`.
inline Breakage await_breakage(baton_comm_t comm, baton_result call, Stream *stream,
                               std::chrono::duration<double> limit = std::chrono::seconds(15)) {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start); };
    baton_result code = call;
    // Synchronising a host stream returns the error of its calls; on GPUs the kernels end, and the check tells why.
    if (code == BATON_SUCCESS && stream != nullptr && !on_gpu(comm) && stream->get() != nullptr)
        code = baton_host_stream_synchronize(static_cast<baton_host_stream_t>(stream->get()));
    while (code == BATON_SUCCESS && elapsed() < limit) {
        code = baton_comm_check(comm);
        std::this_thread::yield();
    }
    return {code, code == BATON_SUCCESS ? std::string() : baton_last_error(), elapsed().count()};
}

/// A communicator that is expected to break: destruction must work and must not wait for anybody.
class FragileComm {
public:
    explicit FragileComm(double timeout_seconds, MPI_Comm mpi_comm = MPI_COMM_WORLD, int transport = -1) {
        baton_config config = default_config();
        config.timeout_seconds = timeout_seconds;
        config.transport = transport;
        EXPECT_OK(baton_comm_create(mpi_comm, &config, &handle_));
    }
    ~FragileComm() { EXPECT_OK(baton_comm_destroy(handle_)); }
    FragileComm(const FragileComm &) = delete;
    FragileComm &operator=(const FragileComm &) = delete;
    operator baton_comm_t() const { return handle_; }

private:
    baton_comm_t handle_ = nullptr;
};

/// All later calls on a broken communicator return its code at once.
inline void expect_stays_broken(baton_comm_t comm, baton_result code) {
    Buffer buffer(comm, 64);
    Stream stream(comm, Stream::Kind::null);
    EXPECT_ERROR(code, baton_comm_check(comm));
    EXPECT_ERROR(code, baton_allreduce(BATON_IN_PLACE, buffer.data(), 4, BATON_INT32, BATON_SUM, comm, stream));
    EXPECT_ERROR(code, baton_barrier(comm, stream));
    EXPECT_ERROR(code, baton_send(buffer.data(), 4, BATON_INT32, 0, comm, stream));
}

}  // namespace baton::test
