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
#include "bootstrap/bootstrap.hpp"
#include "util/environment.hpp"
#include "util/failure.hpp"
#include "util/kept.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

void check(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail(BATON_ERR_MPI, "{}: {}", what, text);
}

/// Tells this host from others: the name that people give it, and in a second line the number that its kernel drew when
/// it started, as two hosts may have one name.
std::string host_identity() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
    constexpr const char *path = "/proc/sys/kernel/random/boot_id";
    errno = 0;
    std::ifstream file(path);
    std::string boot;
    std::getline(file, boot);
    if (file.bad() && errno == 0) throw std::bad_alloc();  // a stream keeps to itself what new has thrown
    // Where there is no such file there is none for the other ranks.
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

}  // namespace

/// What a rank says of itself in a roll.
struct MpiBootstrap::Present {
    std::uint32_t number = 0;  // of the roll
    ProcessIdentity process;
};

/// Collectives in flight and the memory that MPI reads and writes meanwhile. Where a wait is given up it is kept: MPI
/// may use it until MPI_Finalize.
struct MpiBootstrap::Active : Kept {
    std::vector<MPI_Request> requests;
    std::vector<std::byte> mine;
    std::vector<std::byte> all;
    MPI_Comm duplicate = MPI_COMM_NULL;

    explicit Active(std::size_t count = 1) : requests(count, MPI_REQUEST_NULL) {}

    bool complete(const char *what) {
        bool all_done = true;
        for (MPI_Request &request : requests) {
            int done = 0;
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
            all_done = all_done && done != 0;
        }
        return all_done;
    }
};

/// What this rank tells the others where it gives up, and what it hears of the first one that does. What MPI reads and
/// writes lives in `active`.
struct MpiBootstrap::Farewell {
    explicit Farewell(int size) : active(std::make_unique<Active>(static_cast<std::size_t>(size))) {
        active->mine.resize(sizeof(LastWords));
        active->all.resize(sizeof(LastWords));
    }
    /// The receive is this rank's own request, the sends are those of the others.
    MPI_Request &to(int rank) const { return active->requests[static_cast<std::size_t>(rank)]; }

    std::unique_ptr<Active> active;
    LastWords said;
    LastWords heard;
};

MpiBootstrap::MpiBootstrap(MPI_Comm comm) : users_(comm) {
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
    check(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
    if (size_ > max_ranks) {
        fail(BATON_ERR_UNSUPPORTED, "mpi_comm has {} ranks; Baton takes at most {}", size_, max_ranks);
    }
}

int MpiBootstrap::all_ranks() const {
    // Of this node, where Open MPI says so; else those of other nodes count, too.
    if (const char *const here = variable("OMPI_COMM_WORLD_LOCAL_SIZE"); here != nullptr) {
        if (const int ranks = std::atoi(here); ranks > 0) return ranks;
    }
    int world = 0;
    check(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
    return world;
}

void MpiBootstrap::connect() {
    // Twice: a rank that comes when the others have given up hears of them in the first, and of nobody in the second.
    // So no rank waits in duplicate() for one that will not come, after which Open MPI 4 makes no communicator any
    // more on the ranks that waited.
    call_the_roll(1);
    call_the_roll(2);
    duplicate();
    require_one_host();
}

/// Each rank scatters: a scatter is complete when its root has come, so the open ones name the missing ranks. (Where
/// MPI scatters along a tree, ranks behind a missing one count as missing, too.) What is scattered is the number of the
/// roll: a roll that a rank has given up still meets the ones that others call later, and then the numbers differ. With
/// it goes who the rank is.
void MpiBootstrap::call_the_roll(std::uint32_t number) {
    const auto ranks = static_cast<std::size_t>(size_);
    const Present mine{number, own_process()};
    auto active = std::make_unique<Active>(ranks);
    active->mine.resize(ranks * sizeof(Present));
    active->all.resize(ranks * sizeof(Present));
    for (std::size_t rank = 0; rank < ranks; ++rank)
        std::memcpy(&active->mine[rank * sizeof(Present)], &mine, sizeof(Present));
    try {
        for (int root = 0; root < size_; ++root) {
            const auto index = static_cast<std::size_t>(root);
            check(MPI_Iscatter(active->mine.data(), sizeof(Present), MPI_BYTE, &active->all[index * sizeof(Present)],
                               sizeof(Present), MPI_BYTE, root, users_, &active->requests[index]),
                  "MPI_Iscatter");
        }
    } catch (const Failure &) {
        Kept::keep(std::move(active));
        throw;
    }
    roll_ = active.get();
    wait(active, "MPI_Iscatter");
    roll_ = nullptr;
    watches_.clear();
    for (int rank = 0; rank < size_; ++rank) {
        Present theirs;
        std::memcpy(&theirs, &active->all[static_cast<std::size_t>(rank) * sizeof(Present)], sizeof(Present));
        if (theirs.number != number) {
            fail(
                BATON_ERR_MISMATCH,
                "rank {} of mpi_comm is in another attempt to create a communicator; after an attempt that has failed, "
                "give another mpi_comm to the next",
                rank);
        }
        if (rank != rank_ && theirs.process.pid_namespace == mine.process.pid_namespace)
            watches_.push_back(
                {rank, {theirs.process.pid, theirs.process.start_time, ProcessWatch::Means::polling}, {}});
    }
}

/// Throws where a process has ended and the wait has not, although what it sent last has had time to come.
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

void MpiBootstrap::duplicate() {
    auto farewell = std::make_unique<Farewell>(size_);
    auto active = std::make_unique<Active>();
    check(MPI_Comm_idup(users_, &active->duplicate, active->requests.data()), "MPI_Comm_idup");
    wait(active, "MPI_Comm_idup");
    comm_ = active->duplicate;
    // The duplicate is this object's own: its errors become Failures instead of ending the job.
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Irecv(farewell->active->all.data(), sizeof(LastWords), MPI_BYTE, MPI_ANY_SOURCE, 0, comm_,
                    &farewell->to(rank_)),
          "MPI_Irecv");
    farewell_ = std::move(farewell);
}

/// Throws once another rank has given up.
void MpiBootstrap::require_heard_none() {
    if (!farewell_) return;
    LastWords &heard = farewell_->heard;
    if (heard.rank < 0) {
        int done = 0;
        check(MPI_Test(&farewell_->to(rank_), &done, MPI_STATUS_IGNORE), "MPI_Irecv");
        if (done == 0) return;
        std::memcpy(&heard, farewell_->active->all.data(), sizeof(LastWords));
    }
    heard.raise();
}

void MpiBootstrap::give_up(const Failure &failure) noexcept {
    if (!farewell_ || farewell_->heard.rank >= 0 || farewell_->said.rank >= 0) return;
    farewell_->said.set(rank_, failure);
    std::memcpy(farewell_->active->mine.data(), &farewell_->said, sizeof(LastWords));
    // Where MPI cannot send it, there is nobody left to tell: the others wait for their timeout.
    for (int rank = 0; rank < size_; ++rank) {
        if (rank != rank_)
            MPI_Isend(farewell_->active->mine.data(), sizeof(LastWords), MPI_BYTE, rank, 0, comm_,
                      &farewell_->to(rank));
    }
}

void MpiBootstrap::require_one_host() {
    std::string mine;
    agree(*this, [&] { mine = host_identity(); });
    const std::vector<std::string> identities = allgather_strings(mine);
    const auto same = [&](const std::string &identity) { return identity == identities[0]; };
    if (std::all_of(identities.begin(), identities.end(), same)) return;
    fail(BATON_ERR_UNSUPPORTED,
         "the ranks of mpi_comm lie on different hosts: {}; Baton connects the ranks of one host "
         "(split mpi_comm with MPI_Comm_split_type and MPI_COMM_TYPE_SHARED)",
         describe_hosts(identities));
}

MpiBootstrap::~MpiBootstrap() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (farewell_ && finalized == 0 && farewell_->heard.rank < 0) {
        MPI_Cancel(&farewell_->to(rank_));
        MPI_Wait(&farewell_->to(rank_), MPI_STATUS_IGNORE);
    }
    if (farewell_ && farewell_->said.rank >= 0) Kept::keep(std::move(farewell_->active));
    if (comm_ != MPI_COMM_NULL && !abandoned_ && finalized == 0) MPI_Comm_free(&comm_);
}

bool MpiBootstrap::abandon(std::chrono::nanoseconds) {
    abandoned_ = true;
    return true;
}

void MpiBootstrap::wait(std::unique_ptr<Active> &active, const char *what) {
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
                look(start);
                require_heard_none();
                if (const auto now = Clock::now(); now >= next_look_for_dead) {
                    look_for_dead(now);
                    next_look_for_dead = now + between_looks_for_dead;
                }
            } catch (...) {
                // What ended the wait may have happened after the wait's end: a peer went on and died, for instance.
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
    look(Clock::now());
    const int count = static_cast<int>(bytes);
    auto active = std::make_unique<Active>();
    active->mine.resize(bytes);
    active->all.resize(bytes * static_cast<std::size_t>(size_));
    if (bytes != 0) std::memcpy(active->mine.data(), mine, bytes);
    check(MPI_Iallgather(active->mine.data(), count, MPI_BYTE, active->all.data(), count, MPI_BYTE, comm_,
                         active->requests.data()),
          "MPI_Iallgather");
    wait(active, "MPI_Iallgather");
    if (bytes != 0) std::memcpy(all, active->all.data(), active->all.size());
}

void MpiBootstrap::barrier() {
    look(Clock::now());
    auto active = std::make_unique<Active>();
    check(MPI_Ibarrier(comm_, active->requests.data()), "MPI_Ibarrier");
    wait(active, "MPI_Ibarrier");
}

}  // namespace baton::core
