#include "bootstrap/mpi_bootstrap.hpp"

#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>
#include <utility>

#include "bootstrap/agree.hpp"
#include "bootstrap/mpi_farewell.hpp"
#include "bootstrap/mpi_requests.hpp"
#include "util/environment.hpp"
#include "util/failure.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

/// Tells this host from others: its name, and in a second line the number that its kernel drew when it started, since
/// two hosts may have one name.
std::string host_identity() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
    constexpr const char *path = "/proc/sys/kernel/random/boot_id";
    errno = 0;
    std::ifstream file(path);
    std::string boot;
    std::getline(file, boot);
    if (file.bad() && errno == 0) throw std::bad_alloc();  // the stream does not pass on what new has thrown
    // Without this file the name must do. A rank that alone has none counts as on another host.
    if (file.fail() && errno != ENOENT && errno != 0) fail(BATON_ERR_SYSTEM, "{}: {}", path, errno_text(errno));
    return std::string(name, static_cast<std::size_t>(length)) + '\n' + boot;
}

/// "node1 (ranks 0, 1) and node2 (ranks 2, 3)"
std::string describe_hosts(const std::vector<std::string> &identity_of_rank) {
    std::map<std::string, std::vector<std::size_t>> ranks_of_host;
    for (std::size_t rank = 0; rank < identity_of_rank.size(); ++rank)
        ranks_of_host[identity_of_rank[rank]].push_back(rank);
    std::vector<std::string> hosts;
    for (const auto &[identity, ranks] : ranks_of_host) {
        hosts.push_back(fmt::format("{} ({} {})", identity.substr(0, identity.find('\n')),
                                    ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", ")));
    }
    return fmt::format("{}", fmt::join(hosts, " and "));
}

/// While it lives, MPI returns failures on the user's communicator, whose error handler ends the job as a rule. MPI
/// looks for the handler when it finds the failure, so this covers requests that are tested meanwhile, and no others.
class ErrorsReturn {
public:
    explicit ErrorsReturn(MPI_Comm comm) : comm_(comm) {
        check_mpi(MPI_Comm_get_errhandler(comm_, &before_), "MPI_Comm_get_errhandler");
        const int set = MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        if (set != MPI_SUCCESS) MPI_Errhandler_free(&before_);
        check_mpi(set, "MPI_Comm_set_errhandler");
    }
    ~ErrorsReturn() {
        MPI_Comm_set_errhandler(comm_, before_);
        MPI_Errhandler_free(&before_);
    }
    ErrorsReturn(const ErrorsReturn &) = delete;
    ErrorsReturn &operator=(const ErrorsReturn &) = delete;

private:
    const MPI_Comm comm_;
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

/// What a rank tells of itself when the roll is called.
struct MpiBootstrap::Present {
    std::uint32_t number = 0;  // of the roll
    ProcessIdentity process;
};

MpiBootstrap::MpiBootstrap(MPI_Comm comm) : users_(comm) {
    if (comm == MPI_COMM_NULL) fail(BATON_ERR_ARGUMENT, "mpi_comm is MPI_COMM_NULL");
    int inter = 0;
    check_mpi(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    if (inter != 0) {
        fail(BATON_ERR_UNSUPPORTED,
             "mpi_comm is an inter-communicator; make an intra-communicator of it with "
             "MPI_Intercomm_merge");
    }
    check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    if (size_ > max_ranks) {
        fail(BATON_ERR_UNSUPPORTED, "mpi_comm has {} ranks; Baton takes at most {}", size_, max_ranks);
    }
}

int MpiBootstrap::all_ranks() const {
    // Those of this node, if Open MPI says how many; else those of other nodes count too.
    if (const char *const here = variable("OMPI_COMM_WORLD_LOCAL_SIZE"); here != nullptr) {
        if (const int ranks = std::atoi(here); ranks > 0) return ranks;
    }
    int world = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
    return world;
}

void MpiBootstrap::connect() {
    const ErrorsReturn errors_return(users_);
    // The roll is called twice. A rank that comes when the others have given up hears of them in the first roll, and of
    // nobody in the second. So no rank waits in duplicate() for one that will not come: after that, Open MPI 4 makes no
    // more communicators on the ranks that waited.
    //
    // All memory for these steps is allocated first: between the rolls and the duplicate, a rank that fails alone
    // cannot tell the others.
    const auto ranks = static_cast<std::size_t>(size_);
    const auto a_roll = [ranks] {
        return std::make_unique<MpiRequests>(ranks, ranks * sizeof(Present), ranks * sizeof(Present));
    };
    std::unique_ptr<MpiRequests> rolls[] = {a_roll(), a_roll()};
    auto duplication = std::make_unique<MpiRequests>(1);
    auto farewell = std::make_unique<MpiFarewell>(rank_, size_);
    const ProcessIdentity process = own_process();
    watches_.reserve(ranks);

    call_the_roll({1, process}, rolls[0]);
    call_the_roll({2, process}, rolls[1]);
    duplicate(duplication);
    farewell_ = std::move(farewell);
    farewell_->listen(comm_);
    require_one_host();
}

/// Each rank scatters. A scatter is complete when its root has come, so the open ones name the missing ranks. (Where
/// MPI scatters along a tree, ranks behind a missing one count as missing too.) What is scattered is who the rank is,
/// and the number of the roll: a roll that a rank has given up still meets the ones that others call later, and then
/// the numbers differ.
void MpiBootstrap::call_the_roll(const Present &mine, std::unique_ptr<MpiRequests> &active) {
    for (std::size_t rank = 0; rank < active->requests.size(); ++rank)
        std::memcpy(&active->sent[rank * sizeof(Present)], &mine, sizeof(Present));
    for (int root = 0; root < size_; ++root) {
        const auto index = static_cast<std::size_t>(root);
        check_begun(
            MPI_Iscatter(active->sent.data(), sizeof(Present), MPI_BYTE, &active->received[index * sizeof(Present)],
                         sizeof(Present), MPI_BYTE, root, users_, &active->requests[index]),
            "MPI_Iscatter", active);
    }
    roll_ = active.get();
    wait(active, "MPI_Iscatter");
    roll_ = nullptr;
    watches_.clear();
    for (int rank = 0; rank < size_; ++rank) {
        Present theirs;
        std::memcpy(&theirs, &active->received[static_cast<std::size_t>(rank) * sizeof(Present)], sizeof(Present));
        if (theirs.number != mine.number) {
            fail(
                BATON_ERR_MISMATCH,
                "rank {} of mpi_comm is in another attempt to create a communicator; after an attempt that has failed, "
                "give another mpi_comm to the next",
                rank);
        }
        if (rank != rank_ && theirs.process.pid_namespace == mine.process.pid_namespace)
            watches_.push_back({rank, ProcessWatch(theirs.process.pid, ProcessWatch::Means::polling), {}});
    }
}

/// Throws if a process has ended and the wait has not, although what it sent last has had time to come.
void MpiBootstrap::look_for_dead(Clock::time_point now) {
    constexpr auto last_words = std::chrono::milliseconds(500);
    for (Watched &one : watches_) {
        if (!one.watch.ended()) continue;
        if (!one.ended_at) one.ended_at = now;
        if (now - *one.ended_at < last_words) continue;
        fail(BATON_ERR_PEER_DEAD, "the process of rank {} (pid {}) has ended", one.rank, one.watch.pid());
    }
}

std::vector<int> MpiBootstrap::missing() const {
    std::vector<int> ranks;
    for (int rank = 0; roll_ != nullptr && rank < size_; ++rank) {
        if (roll_->requests[static_cast<std::size_t>(rank)] != MPI_REQUEST_NULL) ranks.push_back(rank);
    }
    return ranks;
}

void MpiBootstrap::duplicate(std::unique_ptr<MpiRequests> &active) {
    check_begun(MPI_Comm_idup(users_, &active->duplicate, active->requests.data()), "MPI_Comm_idup", active);
    wait(active, "MPI_Comm_idup");
    comm_ = active->duplicate;
    // The duplicate is this object's own: its errors become Failures instead of ending the job.
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

/// Called before a wait too, which may be over as soon as it begins.
void MpiBootstrap::look_and_listen(Clock::time_point since) {
    call_watch(since);
    if (farewell_) farewell_->throw_if_heard();
}

void MpiBootstrap::give_up(const Failure &failure) noexcept {
    if (farewell_) farewell_->say(failure);
}

void MpiBootstrap::nobody_gives_up_any_more() noexcept {
    if (farewell_) farewell_->end();
}

void MpiBootstrap::require_one_host() {
    std::string mine;
    agree(*this, [&] { mine = host_identity(); });
    const std::vector<std::string> identities = allgather_strings(mine);
    const auto same = [&](const std::string &identity) { return identity == identities[0]; };
    if (std::all_of(identities.begin(), identities.end(), same)) return;
    fail_alike(BATON_ERR_UNSUPPORTED,
               "the ranks of mpi_comm lie on different hosts: {}; Baton connects the ranks of one host "
               "(split mpi_comm with MPI_Comm_split_type and MPI_COMM_TYPE_SHARED)",
               describe_hosts(identities));
}

MpiBootstrap::~MpiBootstrap() {
    farewell_.reset();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (comm_ != MPI_COMM_NULL && !abandoned_ && finalized == 0) MPI_Comm_free(&comm_);
}

bool MpiBootstrap::abandon(std::chrono::nanoseconds) {
    abandoned_ = true;
    return true;
}

void MpiBootstrap::wait(std::unique_ptr<MpiRequests> &active, const char *what) {
    // MPI has no way to be woken, and progresses only in its calls. Most waits are short; a long one leaves the
    // processor to the ranks that are waited for.
    constexpr auto short_wait = std::chrono::milliseconds(20);
    constexpr auto pause = std::chrono::microseconds(200);
    constexpr auto between_looks_for_dead = std::chrono::milliseconds(50);
    const auto start = Clock::now();
    auto next_look_for_dead = start + between_looks_for_dead;
    try {
        while (!active->complete(what)) {
            try {
                look_and_listen(start);
                if (const auto now = Clock::now(); now >= next_look_for_dead) {
                    look_for_dead(now);
                    next_look_for_dead = now + between_looks_for_dead;
                }
            } catch (...) {
                // What ended the wait may have happened after it was complete: a peer went on and died, for instance.
                if (active->complete(what)) return;
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
        Kept::keep(std::move(active));
        throw;
    }
}

void MpiBootstrap::allgather(const void *mine, std::size_t bytes, void *all) {
    if (bytes > INT_MAX) fail(BATON_ERR_INTERNAL, "bootstrap allgather of {} bytes per rank", bytes);
    look_and_listen(Clock::now());
    const int count = static_cast<int>(bytes);
    auto active = std::make_unique<MpiRequests>(1, bytes, bytes * static_cast<std::size_t>(size_));
    if (bytes != 0) std::memcpy(active->sent.data(), mine, bytes);
    check_begun(MPI_Iallgather(active->sent.data(), count, MPI_BYTE, active->received.data(), count, MPI_BYTE, comm_,
                               active->requests.data()),
                "MPI_Iallgather", active);
    wait(active, "MPI_Iallgather");
    if (bytes != 0) std::memcpy(all, active->received.data(), active->received.size());
}

void MpiBootstrap::barrier() {
    look_and_listen(Clock::now());
    auto active = std::make_unique<MpiRequests>(1);
    check_begun(MPI_Ibarrier(comm_, active->requests.data()), "MPI_Ibarrier", active);
    wait(active, "MPI_Ibarrier");
}

}  // namespace baton::core
