// Calls after MPI_Finalize are refused, except waiting for a host stream. A communicator that nobody destroyed does no
// harm at exit, and static objects may still call. No GoogleTest main: here MPI ends in the middle.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/mpi_calls.hpp"

namespace {

int failures = 0;

void expect(bool as_it_should, const char *what) {
    if (as_it_should) return;
    std::fprintf(stderr, "%s: %s\n", what, baton_last_error());
    ++failures;
}

/// A barrier that works after MPI_Finalize, made before it: a rank that ends is a dead peer to those that still wait.
class Meeting {
public:
    explicit Meeting(int ranks) : ranks_(ranks) {
        std::array<char, 64> name{};
        std::snprintf(name.data(), name.size(), "/baton_test_after_finalize_%d", static_cast<int>(getpid()));
        MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
        const int file = shm_open(name.data(), O_RDWR | O_CREAT, 0600);
        expect(file >= 0 && ftruncate(file, sizeof *come_) == 0, "memory for a barrier");
        void *const memory = mmap(nullptr, sizeof *come_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) std::abort();
        come_ = static_cast<std::atomic<int> *>(memory);
        close(file);
        MPI_Barrier(MPI_COMM_WORLD);
        shm_unlink(name.data());
    }
    void wait() {
        come_->fetch_add(1);
        while (come_->load() < ranks_) std::this_thread::yield();
    }

private:
    const int ranks_;
    std::atomic<int> *come_ = nullptr;
};

/// Calls that are queued when MPI ends.
class Queued {
public:
    Queued() {
        baton_config config;
        baton_config_init(&config);
        config.transport = BATON_TRANSPORT_HOST;
        baton_comm_t comm = nullptr;  // never destroyed
        expect(baton_comm_create(MPI_COMM_WORLD, &config, &comm) == BATON_SUCCESS, "a host communicator");
        expect(baton_host_stream_create(&stream_) == BATON_SUCCESS, "a host stream");
        for (int call = 0; call < calls; ++call) {
            expect(baton_allreduce(BATON_IN_PLACE, values_.data(), values_.size(), BATON_UINT64, BATON_SUM, comm,
                                   stream_) == BATON_SUCCESS,
                   "a queued allreduce");
        }
    }
    void expect_done(int ranks) {
        expect(baton_host_stream_synchronize(stream_) == BATON_SUCCESS, "waiting for a host stream after MPI_Finalize");
        std::uint64_t sum = 1;
        for (int call = 0; call < calls; ++call) sum *= static_cast<std::uint64_t>(ranks);
        for (const std::uint64_t value : values_) expect(value == sum, "a queued allreduce's result");
        expect(baton_host_stream_destroy(stream_) == BATON_SUCCESS, "destroying a host stream after MPI_Finalize");
    }

private:
    static constexpr int calls = 20;
    std::vector<std::uint64_t> values_ = std::vector<std::uint64_t>(100000, 1);
    baton_host_stream_t stream_ = nullptr;
};

void expect_refused(baton_result result, const char *call) {
    if (result == BATON_ERR_ARGUMENT && std::strstr(baton_last_error(), "MPI_Finalize") != nullptr) return;
    std::fprintf(stderr, "%s after MPI_Finalize: %s: %s\n", call, baton_result_name(result), baton_last_error());
    ++failures;
}

/// A static object of the application's calls at exit. Its thread's variables have gone by then, among them the message
/// of the last failure, whose memory is now the application's.
struct CallsAtExit {
    ~CallsAtExit() {
        std::vector<std::string> blocks;
        for (std::size_t size = 16; size < 512; ++size) blocks.emplace_back(size, 'x');
        failures = 0;
        expect_refused(baton_barrier(nullptr, nullptr), "baton_barrier at exit");
        for (const std::string &block : blocks) {
            if (block.find_first_not_of('x') == block.npos) continue;
            std::fprintf(stderr, "a call at exit wrote to memory of the application's\n");
            ++failures;
        }
        if (failures != 0) std::_Exit(1);
    }
} const calls_at_exit;

}  // namespace

int main(int argc, char **argv) {
    baton_comm_t early = nullptr;
    if (baton_comm_create(MPI_COMM_WORLD, nullptr, &early) != BATON_ERR_ARGUMENT ||
        std::strstr(baton_last_error(), "MPI_Init") == nullptr) {
        std::fprintf(stderr, "create before MPI_Init: %s\n", baton_last_error());
        ++failures;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &baton::test::environment().rank);
    MPI_Comm_size(MPI_COMM_WORLD, &baton::test::environment().size);
    baton::test::select_device();
    baton_comm_t comm = nullptr;
    if (baton_comm_create(MPI_COMM_WORLD, nullptr, &comm) != BATON_SUCCESS) {
        std::fprintf(stderr, "baton_comm_create: %s\n", baton_last_error());
        ++failures;
    }
    const baton::test::MpiCalls &calls = baton::test::mpi_calls();
    if (calls.receive_in_flight != nullptr || calls.receives == 0) {
        std::fprintf(stderr,
                     calls.receives != 0 ? "a receive is posted over MPI_Finalize\n" : "this test sees no receive\n");
        ++failures;
    }
    Queued queued;
    Meeting meeting(baton::test::environment().size);
    MPI_Finalize();
    queued.expect_done(baton::test::environment().size);
    meeting.wait();
    int value = 0;
    baton_comm_t late = nullptr;
    expect_refused(baton_allreduce(BATON_IN_PLACE, &value, 1, BATON_INT32, BATON_SUM, comm, nullptr),
                   "baton_allreduce");
    expect_refused(baton_barrier(comm, nullptr), "baton_barrier");
    expect_refused(baton_comm_create(MPI_COMM_WORLD, nullptr, &late), "baton_comm_create");
    expect_refused(baton_comm_destroy(comm), "baton_comm_destroy");
    return failures == 0 ? 0 : 1;
}
