// Communicators: several at once, of some of the ranks, in other orders, in threads; created and destroyed many times
// with nothing left behind.
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "collective_case.hpp"
#include "support/process_maps.hpp"

namespace baton::test {
namespace {

/// All collectives once, each checked.
void expect_collectives(baton_comm_t comm, std::uint64_t seed, std::size_t count = 2003) {
    Stream stream(comm, Stream::Kind::own);
    for (baton_operation operation : collective_operations) {
        const CollectiveCase c{.operation = operation, .type = BATON_FLOAT32, .count = count, .seed = seed, .root = 2};
        run_case(c, comm, stream);
    }
}

TEST(Communicators, RankAndSizeAreThoseOfMpi) {
    const MpiComm reversed = MpiComm::split(MPI_COMM_WORLD, 0, -world_rank());
    Communicator comm(reversed);
    EXPECT_EQ(comm.rank(), world_size() - 1 - world_rank());
    EXPECT_EQ(comm.size(), world_size());
    expect_collectives(comm, 1);
}

TEST(Communicators, TheMpiCommunicatorMayBeFreed) {
    std::unique_ptr<Communicator> comm;
    {
        const MpiComm copy = MpiComm::duplicate(MPI_COMM_WORLD);
        comm = std::make_unique<Communicator>(copy);
    }
    expect_collectives(*comm, 2);
}

int refuse_copy(MPI_Comm, int, void *, void *, void *, int *) { return MPI_ERR_OTHER; }

int errors_handled = 0;
void count_error(MPI_Comm *, int *, ...) { ++errors_handled; }

/// By default MPI ends the job of a program that has not set another error handler; that is not Baton's business.
TEST(Communicators, WhatMpiRefusesEndsTheCreationOnly) {
    const MpiComm users = MpiComm::duplicate(MPI_COMM_WORLD);
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(users, key, nullptr);
    baton_comm_t comm = nullptr;
    EXPECT_ERROR(BATON_ERR_MPI, baton_comm_create(users, nullptr, &comm), "MPI_Comm_idup");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(users, &handler);
    EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL) << "it is there again";
    MPI_Errhandler_free(&handler);

    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(users, handler);
    MPI_Errhandler_free(&handler);
    EXPECT_ERROR(BATON_ERR_MPI, baton_comm_create(users, nullptr, &comm), "MPI_Comm_idup");
    EXPECT_EQ(errors_handled, 0);
    MPI_Comm_call_errhandler(users, MPI_ERR_OTHER);
    EXPECT_EQ(errors_handled, 1);

    MPI_Comm_delete_attr(users, key);
    MPI_Comm_free_keyval(&key);
    Communicator after(users);
    MPI_Comm_call_errhandler(users, MPI_ERR_OTHER);
    EXPECT_EQ(errors_handled, 2);
    expect_collectives(after, 3);
}

TEST(Communicators, OfOneRank) {
    Communicator self(MPI_COMM_SELF);
    EXPECT_EQ(self.rank(), 0);
    EXPECT_EQ(self.size(), 1);
    expect_collectives(self, 3);
    expect_collectives(self, 3, 100003);
}

TEST(Communicators, HalvesAndOddEvenBesideTheWhole) {
    const MpiComm half = MpiComm::split(MPI_COMM_WORLD, world_rank() < world_size() / 2 ? 0 : 1, world_rank());
    const MpiComm parity = MpiComm::split(MPI_COMM_WORLD, world_rank() % 2, world_rank());
    Communicator whole, halves(half), parities(parity);
    for (std::uint64_t round = 0; round < 5; ++round) {
        expect_collectives(whole, round);
        expect_collectives(halves, round + 10);
        expect_collectives(parities, round + 20);
    }
}

/// The ranks outside neither create nor wait.
TEST(Communicators, OfSomeRanksOnly) {
    const bool inside = world_rank() != 0 || world_size() == 1;
    const MpiComm some = MpiComm::split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, world_rank());
    if (!inside) return;
    Communicator comm(some);
    expect_collectives(comm, 5);
}

/// Calls of different communicators interleave on the same ranks, and are synchronised only at the end.
TEST(Communicators, SeveralInFlight) {
    std::vector<std::unique_ptr<Communicator>> comms;
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < 4; ++i) {
        comms.push_back(std::make_unique<Communicator>());
        streams.push_back(std::make_unique<Stream>(*comms.back(), Stream::Kind::own));
    }
    std::vector<std::unique_ptr<CollectiveRun>> runs;
    for (std::size_t i = 0; i < 32; ++i)
        runs.push_back(std::make_unique<CollectiveRun>(
            CollectiveCase{.operation = static_cast<baton_operation>(i % 3), .count = 50 + i * 977, .seed = i},
            *comms[i % 4]));
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->start(*streams[i % 4]);
    for (auto &stream : streams) stream->synchronize();
    for (auto &run : runs) run->verify();
    runs.clear();
    streams.clear();
    // Destroyed in another order than created.
    comms.erase(comms.begin() + 1);
    expect_collectives(*comms[1], 9);
}

/// MPI traffic of the user, wildcard receives included, is not touched.
TEST(Communicators, LeaveTheUsersMessagesAlone) {
    int received = -1;
    const int mine = world_rank(), next = (world_rank() + 1) % world_size();
    const int previous = (world_rank() + world_size() - 1) % world_size();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    {
        Communicator comm;
        expect_collectives(comm, 11);
    }
    int done = 0;
    barrier();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    EXPECT_EQ(done, 0) << "something was sent to the user's receive";
    barrier();
    MPI_Send(&mine, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(received, previous);
}

std::size_t entries_of(const char *folder) {
    std::size_t count = 0;
    DIR *directory = opendir(folder);
    if (directory == nullptr) return 0;
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
    return count;
}

/// Lines of this process's memory map that show a segment of Baton whose name still exists.
std::string named_segments() {
    std::string found;
    for (const Mapping &mapping : process_maps("/dev/shm/"))
        if (mapping.line.find("baton") != std::string::npos && mapping.line.find("(deleted)") == std::string::npos)
            found += mapping.line + '\n';
    return found;
}

TEST(Communicators, NoNameStaysInDevShmWhileTheyLive) {
    Communicator comm;
    expect_works(comm);
    EXPECT_EQ(named_segments(), "");
}

TEST(Communicators, CreatedAndDestroyedManyTimes) {
    const int rounds = world_size() > 4 ? 10 : 25;
    std::size_t files = 0, threads = 0;
    for (int i = 0; i < rounds; ++i) {
        {
            Communicator comm;
            expect_works(comm, static_cast<std::uint64_t>(i));
            if (i % 5 == 0) expect_collectives(comm, 3, 60000);
        }
        if (i == 2) {  // what is made once per process exists by now
            files = entries_of("/proc/self/fd");
            threads = entries_of("/proc/self/task");
        }
        if (any_rank(HasFailure())) return;
    }
    EXPECT_EQ(entries_of("/proc/self/fd"), files) << "file descriptors leak";
    EXPECT_EQ(entries_of("/proc/self/task"), threads) << "threads leak";
    EXPECT_EQ(named_segments(), "");
}

/// Files of this process may not grow beyond `bytes`, as on a machine without that much shared memory. Growing one all
/// the same would end the process by a signal if Baton did not hold it back.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        EXPECT_EQ(0, getrlimit(RLIMIT_FSIZE, &before_));
        const rlimit now{bytes, before_.rlim_max};
        EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &now));
    }
    ~FileSizeLimit() { EXPECT_EQ(0, setrlimit(RLIMIT_FSIZE, &before_)); }
    FileSizeLimit(const FileSizeLimit &) = delete;
    FileSizeLimit &operator=(const FileSizeLimit &) = delete;

private:
    rlimit before_{};
};

/// The service thread already runs when memory for data is short: it must end, like everything else.
TEST(Communicators, CreationThatFailsLateLeavesNothing) {
    if (world_size() < 2) GTEST_SKIP() << "one rank needs too little for this";
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    { const Communicator once(MPI_COMM_WORLD, &config); }
    const std::size_t files = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    for (int i = 0; i < 5; ++i) {
        baton_comm_t comm = nullptr;
        {
            const FileSizeLimit limit(400 << 10);
            EXPECT_ERROR(BATON_ERR_MEMORY, baton_comm_create(MPI_COMM_WORLD, &config, &comm), "host memory");
        }
        barrier();
    }
    EXPECT_EQ(entries_of("/proc/self/fd"), files) << "file descriptors leak";
    EXPECT_EQ(entries_of("/proc/self/task"), threads) << "threads leak";
    const Communicator comm(MPI_COMM_WORLD, &config);
    expect_works(comm);
}

/// Peers unmap what a rank has freed, not only when a communicator is alone in its process.
TEST(Communicators, FreedMemoryIsUnmappedBesideOtherCommunicators) {
    Communicator first, second;
    if (on_gpu(first)) GTEST_SKIP() << "a map of the process does not show it; gpu_memory looks at the GPU's memory";
    for (baton_comm_t comm : {first.get(), second.get()}) expect_works(comm);
    const std::size_t before = mapped_host_memory();
    constexpr std::size_t rounds = 20;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        for (baton_comm_t comm : {first.get(), second.get()}) {
            void *memory = nullptr;
            ASSERT_OK(baton_malloc(comm, 10000, &memory));
            barrier();
            ASSERT_OK(baton_free(comm, memory));
            barrier();
            expect_works(comm, i);
        }
    }
    // Two regions per peer and round; and those that the last calls have given up may still be mapped.
    EXPECT_LT(mapped_host_memory(), before + rounds * static_cast<std::size_t>(world_size()) / 2);
}

/// Memory of one communicator may be used on another, which then has a region there.
TEST(Communicators, ForgetMemoryThatAnotherHasFreed) {
    Communicator owner, user;
    const auto regions = [&] { return info_of(user).regions; };
    const std::size_t before = regions();
    constexpr std::size_t bytes = 8 << 20;
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(owner, bytes, &memory));
    {
        Stream stream(user, Stream::Kind::own);
        ASSERT_OK(baton_broadcast(BATON_IN_PLACE, memory, bytes, BATON_INT8, 0, user, stream));
        stream.synchronize();
    }
    const std::size_t used = regions();
    ASSERT_OK(baton_free(owner, memory));
    ASSERT_OK(baton_barrier(user, nullptr));
    EXPECT_EQ(regions(), before) << used << " with it";
}

/// A communicator with all that a thread needs to run many collectives one after the other.
class ThreadsWork {
public:
    explicit ThreadsWork(std::uint64_t seed) {
        for (std::uint64_t i = 0; i < 20; ++i)
            for (baton_operation operation : collective_operations)
                runs_.push_back(std::make_unique<CollectiveRun>(
                    CollectiveCase{.operation = operation, .count = 100 + 700 * i, .seed = seed + i, .root = 2},
                    comm_));
    }

    void run() {
        use_device();
        for (const auto &run : runs_) {
            run->start(stream_);
            if (::testing::Test::HasFatalFailure()) return;
            stream_.synchronize();
            run->verify();
        }
    }

private:
    Communicator comm_;
    Stream stream_{comm_, Stream::Kind::own};
    std::vector<std::unique_ptr<CollectiveRun>> runs_;
};

/// Two threads of each rank, each with a communicator of its own. cudaFree waits for the kernels of all threads of a
/// process. With the first thread of one rank and the second of another in cudaFree, each would wait for a kernel that
/// needs the other. So memory is allocated before both start, and freed when both have ended.
TEST(Communicators, OneForEachThread) {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    ThreadsWork first(300), second(500);
    std::thread other([&] { second.run(); });
    first.run();
    other.join();
}

/// One communicator in several threads' hands, one call at a time.
TEST(Communicators, HandedFromThreadToThread) {
    Communicator comm;
    for (std::uint64_t i = 0; i < 6; ++i) {
        std::thread user([&] {
            use_device();
            expect_collectives(comm, i, 900);
        });
        user.join();
    }
}

/// Calls that have found the communicator before another thread destroys it learn that it is gone.
TEST(Communicators, CallsOfOtherThreadsMeetItsDestruction) {
    for (int round = 0; round < (world_size() > 4 ? 1 : 4); ++round) {
        baton_comm_t comm = nullptr;
        ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, nullptr, &comm));
        std::atomic<int> calling{0};
        const auto call_until_destroyed = [&] {
            int unregistered = 0;
            bool first = true;
            do {
                EXPECT_EQ(baton_deregister(comm, &unregistered), BATON_ERR_ARGUMENT);
                calling += first ? 1 : 0;
                first = false;
            } while (std::strstr(baton_last_error(), "destroyed") == nullptr);
        };
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 4; ++thread) threads.emplace_back(call_until_destroyed);
        while (calling < 4) std::this_thread::yield();
        EXPECT_OK(baton_comm_destroy(comm));
        for (std::thread &thread : threads) thread.join();
    }
}

/// The message of a failure belongs to the thread whose call failed.
TEST(Communicators, LastErrorIsOfTheThread) {
    Communicator comm;
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_allreduce(nullptr, nullptr, 5, BATON_INT8, BATON_SUM, comm, nullptr));
    const std::string mine = baton_last_error();
    std::thread other([&] { EXPECT_STREQ(baton_last_error(), ""); });
    other.join();
    EXPECT_EQ(mine, baton_last_error());
}

/// The others do not come before the destruction has ended, which takes less than the timeout.
TEST(Communicators, AbortEndsADestruction) {
    if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
    baton_config config = default_config();
    config.timeout_seconds = 60;
    baton_comm_t comm = nullptr;
    EXPECT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
    if (world_rank() == 0) {
        const auto start = std::chrono::steady_clock::now();
        std::atomic<bool> ended{false};
        baton_result result = BATON_SUCCESS;
        std::thread destroying([&] {
            result = baton_comm_destroy(comm);
            ended.store(true);
        });
        // An early abort breaks the communicator before its destruction, which then waits for nobody.
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        while (!ended.load()) {
            const baton_result aborted = baton_comm_abort(comm);
            EXPECT_TRUE(aborted == BATON_SUCCESS || aborted == BATON_ERR_ARGUMENT) << baton_result_name(aborted);
            std::this_thread::yield();
        }
        destroying.join();
        EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_ABORTED) << baton_result_name(result);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    }
    barrier();
    if (world_rank() != 0) baton_comm_destroy(comm);  // what broke it may be news here, or known already
    const Communicator next;
    expect_works(next);
}

}  // namespace
}  // namespace baton::test
