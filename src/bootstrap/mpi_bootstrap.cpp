#include <sched.h>

#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

constexpr int max_ranks = 64;

void check(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(BATON_ERR_MPI, "{}: {}", what, text);
}

/// "node1 (ranks 0, 1) and node2 (ranks 2, 3)"
std::string describe_hosts(const std::vector<std::string> &host_of_rank) {
    std::map<std::string, std::string> ranks_of_host;
    for (std::size_t r = 0; r < host_of_rank.size(); ++r) {
        std::string &list = ranks_of_host[host_of_rank[r]];
        list += fmt::format("{}{}", list.empty() ? "" : ", ", r);
    }
    std::string text;
    for (const auto &[host, list] : ranks_of_host) {
        text += fmt::format("{}{} (ranks {})", text.empty() ? "" : " and ", host, list);
    }
    return text;
}

/// Ranks on the calling rank's host, by MPI's own judgement.
int ranks_on_this_host(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    int size = 0;
    check(MPI_Comm_size(node, &size), "MPI_Comm_size");
    check(MPI_Comm_free(&node), "MPI_Comm_free");
    return size;
}

}  // namespace

MpiBootstrap::MpiBootstrap(MPI_Comm comm) {
    int initialized = 0;
    int finalized = 0;
    check(MPI_Initialized(&initialized), "MPI_Initialized");
    check(MPI_Finalized(&finalized), "MPI_Finalized");
    if (initialized == 0) fail(BATON_ERR_ARGUMENT, "mpi_comm: MPI_Init has not been called");
    if (finalized != 0) fail(BATON_ERR_ARGUMENT, "mpi_comm: MPI_Finalize has been called");
    if (comm == MPI_COMM_NULL) fail(BATON_ERR_ARGUMENT, "mpi_comm is MPI_COMM_NULL");
    int inter = 0;
    check(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    if (inter != 0) {
        fail(BATON_ERR_UNSUPPORTED,
             "mpi_comm is an inter-communicator; make an intra-communicator of it with "
             "MPI_Intercomm_merge");
    }
    check(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
    if (size_ > max_ranks) {
        fail(BATON_ERR_UNSUPPORTED, "mpi_comm has {} ranks; Baton takes at most {}", size_, max_ranks);
    }
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    // The duplicate is this object's own: its errors become Failures instead of ending the job.
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    if (ranks_on_this_host(comm_) == size_) return;

    // Every rank is on this path or none is: where one host does not hold all ranks, no host does.
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    check(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
    const std::vector<std::string> hosts = allgather_strings(std::string(host, static_cast<std::size_t>(length)));
    MPI_Comm_free(&comm_);
    fail(BATON_ERR_UNSUPPORTED,
         "the ranks of mpi_comm lie on different hosts: {}; Baton connects the ranks of one host "
         "(split mpi_comm with MPI_Comm_split_type and MPI_COMM_TYPE_SHARED)",
         describe_hosts(hosts));
}

MpiBootstrap::~MpiBootstrap() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (comm_ != MPI_COMM_NULL && !abandoned_ && finalized == 0) MPI_Comm_free(&comm_);
}

bool MpiBootstrap::abandon(std::chrono::nanoseconds) {
    abandoned_ = true;
    return true;
}

/// A collective in flight and the memory that MPI reads and writes meanwhile.
struct MpiBootstrap::Active {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::byte> mine;
    std::vector<std::byte> all;

    /// MPI may use it until MPI_Finalize. Reachable for ever, so that leak checkers see that it is kept on purpose.
    static void keep(std::unique_ptr<Active> active) {
        static std::mutex mutex;
        static auto *kept = new std::vector<std::unique_ptr<Active>>;
        const std::lock_guard lock(mutex);
        kept->push_back(std::move(active));
    }
};

void MpiBootstrap::wait(std::unique_ptr<Active> &active, const char *what) {
    // MPI has no way to be woken, and progresses only in its calls. Most waits are short; a long one leaves the
    // processor to the ranks that are waited for.
    constexpr auto short_wait = std::chrono::milliseconds(20);
    constexpr auto pause = std::chrono::microseconds(200);
    const auto start = Clock::now();
    const auto complete = [&] {
        int done = 0;
        check(MPI_Test(&active->request, &done, MPI_STATUS_IGNORE), what);
        return done != 0;
    };
    try {
        while (!complete()) {
            try {
                look(start);
            } catch (...) {
                // What ended the wait may have happened after the wait's end: a peer went on and died, for instance.
                if (complete()) return;
                throw;
            }
            if (Clock::now() - start < short_wait) {
                ::sched_yield();
            } else {
                std::this_thread::sleep_for(pause);
            }
        }
    } catch (...) {
        abandoned_ = true;
        Active::keep(std::move(active));
        throw;
    }
}

void MpiBootstrap::allgather(const void *mine, std::size_t bytes, void *all) {
    if (bytes > INT_MAX) fail(BATON_ERR_INTERNAL, "bootstrap allgather of {} bytes per rank", bytes);
    look(Clock::now());
    const int count = static_cast<int>(bytes);
    auto active = std::make_unique<Active>();
    active->mine.resize(bytes);
    active->all.resize(bytes * static_cast<std::size_t>(size_));
    if (bytes != 0) std::memcpy(active->mine.data(), mine, bytes);
    check(MPI_Iallgather(active->mine.data(), count, MPI_BYTE, active->all.data(), count, MPI_BYTE, comm_,
                         &active->request),
          "MPI_Iallgather");
    wait(active, "MPI_Iallgather");
    if (bytes != 0) std::memcpy(all, active->all.data(), active->all.size());
}

void MpiBootstrap::barrier() {
    look(Clock::now());
    auto active = std::make_unique<Active>();
    check(MPI_Ibarrier(comm_, &active->request), "MPI_Ibarrier");
    wait(active, "MPI_Ibarrier");
}

}  // namespace baton::core
