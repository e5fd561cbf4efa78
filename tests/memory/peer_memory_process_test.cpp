#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "memory/doorbell.hpp"
#include "memory/peer_memory.hpp"
#include "memory/region_registry.hpp"
#include "ranks.hpp"
#include "support/child_process.hpp"
#include "support/thrown_by.hpp"
#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

using namespace std::chrono_literals;
using test::thrown_by;
constexpr auto patience = std::chrono::milliseconds(30000);

void expect_all_well(const std::vector<Ended> &ended) {
    for (std::size_t r = 0; r < ended.size(); ++r) {
        EXPECT_EQ(ended[r].exit_code, 0) << "rank " << r << ", signal " << ended[r].signal;
    }
}

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

TEST(PeerMemoryProcesses, MemoryReachesTheOtherProcess) {
    expect_all_well(run_processes(4, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        const int rank = bootstrap.rank();
        auto *memory = static_cast<int *>(domain->allocate(4 * sizeof(int)));
        const auto all = bootstrap.allgather(peers.publish(domain->export_region(domain->classify(memory)), patience));
        for (int r = 0; r < 4; ++r) {
            const auto &place = all[static_cast<std::size_t>(r)];
            auto *theirs = static_cast<int *>(peers.address(r, place));
            ASSERT_NE(theirs, nullptr);
            theirs[rank] = 100 * r + rank;  // every rank writes into every rank's memory
        }
        bootstrap.barrier();
        for (int from = 0; from < 4; ++from) EXPECT_EQ(memory[from], 100 * rank + from);
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
        domain->release(memory);
    }));
}

/// Memory of rank 0 that is full of sevens, and where this rank sees it.
struct MemoryOfFirst {
    MemoryOfFirst(Bootstrap &bootstrap, MemoryDomain &the_domain, PeerMemory &the_peers, std::size_t bytes)
        : domain(the_domain), peers(the_peers) {
        PublishedRegion mine;
        if (bootstrap.rank() == 0) {
            memory = domain.allocate(bytes);
            std::memset(memory, 7, bytes);
            mine = peers.publish(domain.export_region(domain.classify(memory)), patience);
        }
        place = bootstrap.allgather(mine)[0];
        seen = static_cast<const volatile char *>(peers.address(0, place));
    }
    void free_and_retire() {
        domain.release(memory);
        peers.retire(place.slot);
    }

    MemoryDomain &domain;
    PeerMemory &peers;
    void *memory = nullptr;
    PublishedRegion place;
    const volatile char *seen = nullptr;
};

void wait_for_ticks(std::atomic<int> &ticks, int count) {
    for (int tick = ticks, until = tick + count; tick < until; tick = ticks) ticks.wait(tick);
}

/// The peer's service thread does it, without a call of the peer.
TEST(PeerMemoryProcesses, PagesOfFreedMemoryAreGivenBack) {
    expect_all_well(run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        constexpr std::size_t bytes = 1 << 20;
        MemoryOfFirst first(bootstrap, *domain, peers, bytes);
        ASSERT_NE(first.seen, nullptr);
        const volatile char &last = first.seen[bytes - 1];
        EXPECT_EQ(last, 7);
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            first.free_and_retire();
        } else {
            const auto deadline = std::chrono::steady_clock::now() + patience;
            while (last != 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
            EXPECT_EQ(last, 0);
        }
        bootstrap.barrier();
        peers.reclaim();
        peers.leave();
        bootstrap.barrier();
    }));
}

/// A peer that has given up an operation frees memory that others may still be reading in it.
TEST(PeerMemoryProcesses, PagesStayWhereTheCommunicatorIsBroken) {
    expect_all_well(run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        std::atomic<int> ticks{0};
        PeerCallbacks callbacks;
        callbacks.tick = [&] {
            ++ticks;
            ticks.notify_all();
        };
        PeerMemory peers(bootstrap, *domain, std::move(callbacks));
        MemoryOfFirst first(bootstrap, *domain, peers, 1);
        if (bootstrap.rank() == 0) {
            peers.post_error({BATON_ERR_TIMEOUT, "rank 1 is late"});
            first.free_and_retire();
        }
        bootstrap.barrier();
        if (bootstrap.rank() == 1) {
            wait_for_ticks(ticks, 2);
            EXPECT_EQ(*first.seen, 7);
        }
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
    }));
}

TEST(PeerMemoryProcesses, TwoThousandPublicationsKeepNoDescriptors) {
    expect_all_well(run_processes(3, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        auto *memory = static_cast<char *>(domain->allocate(1));
        const std::size_t before = open_files();
        bootstrap.barrier();  // from here on peers' descriptors come and go
        for (int i = 0; i < 2000; ++i) {
            const auto place = peers.publish(domain->export_region(domain->classify(memory)), patience);
            peers.retire(place.slot);
            if (i % 100 == 99) peers.reclaim();
        }
        bootstrap.barrier();
        peers.reclaim();
        EXPECT_EQ(open_files(), before);
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
        domain->release(memory);
    }));
}

std::chrono::nanoseconds processor_time() {
    timespec time = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(PeerMemoryProcesses, AKilledPeerIsReportedOnceAndEndsPublications) {
    const auto ended = run_processes(3, [](Bootstrap &bootstrap) {
        constexpr int victim = 1;
        const auto domain = make_host_domain(false);
        std::atomic<int> reports{0};
        std::string text;
        PeerCallbacks callbacks;
        callbacks.peer_dead = [&, tries = 0](const Failure &dead) mutable {
            EXPECT_EQ(dead.code(), BATON_ERR_PEER_DEAD);
            if (++tries == 1) throw std::bad_alloc();  // does not count as a report
            text = dead.what();
            ++reports;
        };
        std::atomic<int> ticks{0};
        callbacks.tick = [&] {
            ++ticks;
            ticks.notify_all();
        };
        PeerMemory peers(bootstrap, *domain, callbacks);
        const std::vector<pid_t> pids = bootstrap.allgather(::getpid());
        if (bootstrap.rank() == victim) ::kill(::getpid(), SIGKILL);

        const auto start = std::chrono::steady_clock::now();
        while (reports == 0 && std::chrono::steady_clock::now() - start < 30s) std::this_thread::yield();
        EXPECT_EQ(reports, 1);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);  // 20 ms on an idle machine
        EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(pids[victim])), std::string::npos) << text;

        void *memory = domain->allocate(1);
        const Failure failure =
            thrown_by([&] { peers.publish(domain->export_region(domain->classify(memory)), patience); });
        EXPECT_EQ(failure.code(), BATON_ERR_PEER_DEAD);
        EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
        // The service thread goes on, does not report it again, and does not spin on the process that has ended.
        const auto from = std::chrono::steady_clock::now();
        const auto worked_before = processor_time();
        wait_for_ticks(ticks, 3);
        EXPECT_EQ(reports, 1);
        EXPECT_LT(processor_time() - worked_before, (std::chrono::steady_clock::now() - from) / 2);
        peers.leave();
    });
    EXPECT_EQ(ended[0].exit_code, 0);
    EXPECT_EQ(ended[1].signal, SIGKILL);
    EXPECT_EQ(ended[2].exit_code, 0);
}

TEST(PeerMemoryProcesses, ADeathDuringPublishEndsIt) {
    const auto ended = run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        const std::vector<pid_t> pids = bootstrap.allgather(::getpid());
        if (bootstrap.rank() == 1) {
            for (;;) ::pause();
        }
        // A stopped peer answers nothing; killing it from another thread ends the wait.
        test::stop_process(pids[1]);
        std::thread killer([&] {
            const auto soon = std::chrono::steady_clock::now() + 100ms;
            while (std::chrono::steady_clock::now() < soon) std::this_thread::yield();
            ::kill(pids[1], SIGKILL);
        });
        void *memory = domain->allocate(1);
        const auto start = std::chrono::steady_clock::now();
        const Failure failure =
            thrown_by([&] { peers.publish(domain->export_region(domain->classify(memory)), patience); });
        EXPECT_EQ(failure.code(), BATON_ERR_PEER_DEAD) << failure.what();
        EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
        killer.join();
        peers.leave();
    });
    EXPECT_EQ(ended[0].exit_code, 0);
}

TEST(PeerMemoryProcesses, AStoppedPeerIsATimeout) {
    expect_all_well(run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        const std::vector<pid_t> pids = bootstrap.allgather(::getpid());
        if (bootstrap.rank() == 0) {
            test::stop_process(pids[1]);
            void *memory = domain->allocate(1);
            const Failure failure =
                thrown_by([&] { peers.publish(domain->export_region(domain->classify(memory)), 200ms); });
            EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT) << failure.what();
            EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
            ::kill(pids[1], SIGCONT);
        }
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
    }));
}

TEST(PeerMemoryProcesses, LeavingInOrderIsNoDeath) {
    expect_all_well(run_processes(3, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        std::atomic<int> reports{0};
        PeerCallbacks callbacks;
        callbacks.peer_dead = [&](const Failure &) { ++reports; };
        {
            PeerMemory peers(bootstrap, *domain, callbacks);
            bootstrap.barrier();
            peers.leave();
            if (bootstrap.rank() == 2) return;  // ends while the others are still there
            const auto later = std::chrono::steady_clock::now() + 300ms;
            while (std::chrono::steady_clock::now() < later) std::this_thread::yield();
        }
        EXPECT_EQ(reports, 0);
    }));
}

TEST(PeerMemoryProcesses, TooManyOpenFilesAtAPeerIsItsRefusal) {
    expect_all_well(run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        std::optional<NoDescriptorsLeft> limit;
        if (bootstrap.rank() == 1) limit.emplace();
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = domain->allocate(1);
            const Failure failure =
                thrown_by([&] { peers.publish(domain->export_region(domain->classify(memory)), patience); });
            EXPECT_EQ(failure.code(), BATON_ERR_SYSTEM);
            EXPECT_NE(std::string(failure.what()).find("too many open files"), std::string::npos) << failure.what();
        }
        bootstrap.barrier();
        limit.reset();
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {  // the communicator has survived it
            void *memory = domain->allocate(1);
            EXPECT_NO_THROW(peers.publish(domain->export_region(domain->classify(memory)), patience));
        }
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
    }));
}

/// Nobody waits for the rank that cannot come, and all ranks report the same error.
TEST(PeerMemoryProcesses, ARankWithoutDescriptorsFailsOnAllRanks) {
    expect_all_well(run_processes(3, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        std::optional<NoDescriptorsLeft> limit;
        if (bootstrap.rank() == 1) limit.emplace();
        const Failure failure = thrown_by([&] { const PeerMemory peers(bootstrap, *domain, {}); });
        EXPECT_EQ(failure.code(), BATON_ERR_SYSTEM) << failure.what();
        EXPECT_EQ(std::string(failure.what()).find("rank 1: socket"), 0U) << failure.what();
    }));
}

/// Names of the doorbells whose sockets a process has open.
std::vector<std::string> doorbells_of(pid_t pid) {
    std::set<std::string> sockets;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
        std::error_code closed;
        sockets.insert(std::filesystem::read_symlink(entry.path(), closed).string());
    }
    std::vector<std::string> names;
    std::ifstream table("/proc/net/unix");
    for (std::string line; std::getline(table, line);) {
        std::istringstream fields(line);
        std::string skipped, inode, name;
        for (int field = 0; field < 6; ++field) fields >> skipped;
        fields >> inode >> name;
        if (sockets.count("socket:[" + inode + "]") != 0 && name.size() > 1 && name[0] == '@')
            names.push_back(name.substr(1));
    }
    return names;
}

/// Rank 2 sends rank 1 a descriptor in the name of rank 0, behind the one that rank 0 has sent.
TEST(PeerMemoryProcesses, AStrangersDescriptorIsNotTaken) {
    expect_all_well(run_processes(3, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        const int rank = bootstrap.rank();
        auto *memory = static_cast<int *>(domain->allocate(sizeof(int)));
        *memory = 100 + rank;
        const std::vector<pid_t> pids = bootstrap.allgather(::getpid());
        PublishedRegion published;
        if (rank == 0) {
            while (!test::all_threads_stopped(pids[1])) std::this_thread::yield();
            published = peers.publish(domain->export_region(domain->classify(memory)), patience);
        } else if (rank == 2) {
            test::stop_process(pids[1]);
            // Ranks are told in rank order: once this one has mapped the region, rank 1 has been told.
            while (peers.address(0, {0, 1}) == nullptr) std::this_thread::yield();
            const std::vector<std::string> names = doorbells_of(pids[1]);
            EXPECT_FALSE(names.empty());
            const Export exported = domain->export_region(domain->classify(memory));
            constexpr std::uint64_t first_post = 1;
            Doorbell stranger;
            for (const std::string &name : names)
                EXPECT_EQ(stranger.ring(name, 0, first_post, exported.fd.get(), [] { return true; }),
                          Doorbell::Rung::sent);
            ::kill(pids[1], SIGCONT);
        }
        published = bootstrap.allgather(published)[0];
        auto *seen = static_cast<int *>(peers.address(0, published));
        ASSERT_NE(seen, nullptr);
        EXPECT_EQ(*seen, 100);
        bootstrap.barrier();
        peers.leave();
        bootstrap.barrier();
        domain->release(memory);
    }));
}

TEST(PeerMemoryProcesses, ReallocatedMemoryIsANewRegion) {
    expect_all_well(run_processes(2, [](Bootstrap &bootstrap) {
        const auto domain = make_host_domain(false);
        PeerMemory peers(bootstrap, *domain, {});
        RegionRegistry registry(*domain, peers, patience);
        const int other = 1 - bootstrap.rank();
        struct Told {
            PublishedRegion place;
            std::uint64_t offset;
        };
        for (int round = 0; round < 200; ++round) {
            // Freed and allocated again; the system gives the same address most of the time.
            auto *memory = static_cast<int *>(domain->allocate(1 << 16));
            memory[10] = round;
            const auto place = registry.locate(domain->classify(memory + 10), memory + 10, sizeof(int));
            ASSERT_TRUE(place.direct) << place.reason;
            const auto told = bootstrap.allgather(Told{place.place, place.offset});
            const Told &theirs = told[static_cast<std::size_t>(other)];
            auto *seen = static_cast<char *>(peers.address(other, theirs.place));
            ASSERT_NE(seen, nullptr);
            int value = -1;
            std::memcpy(&value, seen + theirs.offset, sizeof(value));
            EXPECT_EQ(value, round);
            bootstrap.barrier();
            domain->release(memory);
            if (round % 50 == 0) peers.reclaim();
        }
        peers.leave();
        bootstrap.barrier();
    }));
}

}  // namespace
}  // namespace baton::core::testing
