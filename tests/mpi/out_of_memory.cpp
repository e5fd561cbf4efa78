// Host memory runs out in the middle of a call. Either the call has started nothing and can be made again, or all ranks
// learn that the communicator is broken. Nobody waits for the timeout.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <functional>
#include <string>

#include "support/failing_new.hpp"
#include "support/fixture.hpp"

namespace {

// What allocations_left becomes when creation has come so far on this thread:
thread_local long from_meeting_on = -1;  // that it waits for the others
thread_local long from_segment_on = -1;  // that the ranks share memory

}  // namespace

extern "C" __attribute__((visibility("default"))) int MPI_Iscatter(const void *sent, int sent_count,
                                                                   MPI_Datatype sent_type, void *received,
                                                                   int received_count, MPI_Datatype received_type,
                                                                   int root, MPI_Comm comm, MPI_Request *request) {
    if (from_meeting_on >= 0) baton::test::allocations_left = std::exchange(from_meeting_on, -1);
    return PMPI_Iscatter(sent, sent_count, sent_type, received, received_count, received_type, root, comm, request);
}

extern "C" __attribute__((visibility("default"))) int shm_unlink(const char *name) {
    if (from_segment_on >= 0) baton::test::allocations_left = std::exchange(from_segment_on, -1);
    static const auto real = reinterpret_cast<int (*)(const char *)>(::dlsym(RTLD_NEXT, "shm_unlink"));
    return real(name);
}

namespace baton::test {
namespace {

class OutOfMemory : public ::testing::Test {
protected:
    void SetUp() override {
        baton_host_stream_t stream = nullptr;
        allocations_left = 0;
        const baton_result result = baton_host_stream_create(&stream);
        allocations_left = -1;
        if (result == BATON_ERR_MEMORY) return;
        EXPECT_OK(baton_host_stream_destroy(stream));
        GTEST_SKIP() << "the library has an operator new of its own: libstdc++ is linked into it (-static-libstdc++)";
    }
    /// Makes the call again and again, each time with a later allocation of rank 0's that fails, until none does.
    static void run(const std::function<baton_result(baton_comm_t)> &call, const char *tuning = nullptr) {
        for (long allocation = 0, more = 1; more != 0; ++allocation) {
            baton_config config = default_config();
            config.transport = BATON_TRANSPORT_HOST;
            config.timeout_seconds = 10;
            config.tuning = tuning;
            baton_comm_t comm = nullptr;
            ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
            world_rank() == 0 ? fail_once(comm, call, allocation, &more) : answer(comm, call, allocation);
            MPI_Bcast(&more, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            EXPECT_OK(baton_comm_destroy(comm));
        }
    }

private:
    static void fail_once(baton_comm_t comm, const std::function<baton_result(baton_comm_t)> &call, long allocation,
                          long *more) {
        allocations_left = allocation;
        baton_result result = call(comm);
        *more = allocations_left < 0 ? 1 : 0;
        allocations_left = -1;
        if (result == BATON_ERR_MEMORY && baton_comm_check(comm) == BATON_SUCCESS) result = call(comm);
        EXPECT_EQ(result, baton_comm_check(comm)) << "allocation " << allocation;
        EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_MEMORY)
            << baton_result_name(result) << ", allocation " << allocation;
    }
    static void answer(baton_comm_t comm, const std::function<baton_result(baton_comm_t)> &call, long allocation) {
        const baton_result result = call(comm);
        EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_MEMORY)
            << baton_result_name(result) << ": " << baton_last_error() << ", allocation " << allocation;
    }
};

TEST_F(OutOfMemory, InAMessage) {
    std::vector<int> from(256, 5), to(256);
    run([&](baton_comm_t comm) {
        return world_rank() == 0 ? baton_send(from.data(), from.size(), BATON_INT32, 1, comm, nullptr)
                                 : baton_recv(to.data(), to.size(), BATON_INT32, 0, comm, nullptr);
    });
    if (world_rank() == 1) {
        EXPECT_EQ(to, std::vector<int>(256, 5));
    }
}

TEST_F(OutOfMemory, InAReduction) {
    std::vector<int> from(1 << 18, 5), to(1 << 18);
    run([&](baton_comm_t comm) {
        return baton_allreduce(from.data(), to.data(), from.size(), BATON_INT32, BATON_SUM, comm, nullptr);
    });
    EXPECT_EQ(to, std::vector<int>(1 << 18, 10));
}

/// A pull in place has two parts on the stream, the second with the copy of its result. If there is no memory for that,
/// the peers have been told of the first already.
TEST_F(OutOfMemory, BetweenThePartsOfACall) {
    const auto size = static_cast<std::size_t>(world_size());
    const std::string pulls = R"({"version": 1, "tables": [{"gpu": "host", "link": "shared memory", "ranks": )" +
                              std::to_string(size) +
                              R"(, "operations": {"alltoall": [{"algorithm": "pull", "mover": "host"}]}}]})";
    std::vector<int> blocks(size << 14, 5);
    baton_host_stream_t stream = nullptr;
    ASSERT_OK(baton_host_stream_create(&stream));
    const auto exchange = [&](baton_comm_t comm) {
        const baton_result issued = baton_alltoall(BATON_IN_PLACE, blocks.data(), 1 << 14, BATON_INT32, comm, stream);
        const baton_result run = baton_host_stream_synchronize(stream);
        return issued != BATON_SUCCESS ? issued : run;
    };
    run(exchange, pulls.c_str());
    EXPECT_OK(baton_host_stream_destroy(stream));
}

/// A call that was not collected for want of memory is not in the group.
TEST_F(OutOfMemory, InAGroup) {
    std::vector<int> from(1000, 5), to(1000), word(1, world_rank()), heard(1);
    // Ranks after rank 0 may find the communicator broken by it before they have collected their own calls.
    const auto collect = [](baton_comm_t comm, const auto &call) {
        baton_result result = call();
        if (result == BATON_ERR_MEMORY && world_rank() == 0) result = call();
        if (world_rank() == 0 || baton_comm_check(comm) == BATON_SUCCESS) {
            EXPECT_OK(result);
        }
    };
    run([&](baton_comm_t comm) {
        EXPECT_OK(baton_group_begin());
        collect(comm, [&] {
            return baton_allreduce(from.data(), to.data(), from.size(), BATON_INT32, BATON_SUM, comm, nullptr);
        });
        collect(comm, [&] {
            return world_rank() == 0 ? baton_send(word.data(), 1, BATON_INT32, 1, comm, nullptr)
                                     : baton_recv(heard.data(), 1, BATON_INT32, 0, comm, nullptr);
        });
        return baton_group_end();
    });
}

/// Nothing is left that the group's end would look at. This shows by memory that is freed before the end, which then
/// refuses the call that was collected, by its name.
TEST_F(OutOfMemory, WhatWasNotCollectedLeavesNothingInTheGroup) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    const Communicator comm(MPI_COMM_SELF, &config);
    int word = 5;
    for (const bool message : {true, false}) {
        baton_result result = BATON_ERR_MEMORY;
        for (long allocation = 0; result == BATON_ERR_MEMORY; ++allocation) {
            SCOPED_TRACE(allocation);
            void *memory = nullptr;
            ASSERT_OK(baton_malloc(comm, 40, &memory));
            ASSERT_OK(baton_group_begin());
            if (message && allocation % 2 != 0) {
                EXPECT_OK(baton_send(&word, 1, BATON_INT32, 0, comm, nullptr));
            }
            allocations_left = allocation / 2;
            result = message ? baton_send(&word, 1, BATON_INT32, 0, comm, nullptr)
                             : baton_allreduce(BATON_IN_PLACE, memory, 10, BATON_INT32, BATON_SUM, comm, nullptr);
            allocations_left = -1;
            if (message) {
                EXPECT_OK(baton_recv(memory, 1, BATON_INT32, 0, comm, nullptr));
            }
            EXPECT_OK(baton_free(comm, memory));
            const baton_result end = baton_group_end();
            if (!message && result == BATON_ERR_MEMORY) {
                EXPECT_EQ(end, BATON_SUCCESS) << baton_last_error();
                continue;
            }
            EXPECT_EQ(end, BATON_ERR_ARGUMENT);
            EXPECT_EQ(std::string(baton_last_error())
                          .find(message ? "baton_group_end: baton_recv was" : "baton_group_end: baton_allreduce was"),
                      0u)
                << baton_last_error();
        }
    }
}

TEST_F(OutOfMemory, WhereAThreadIsStartedLeavesTheCallersSignals) {
    baton_result result = BATON_ERR_MEMORY;
    for (long allocation = 0; result == BATON_ERR_MEMORY; ++allocation) {
        baton_host_stream_t stream = nullptr;
        allocations_left = allocation;
        result = baton_host_stream_create(&stream);
        allocations_left = -1;
        sigset_t blocked;
        ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
        EXPECT_EQ(sigismember(&blocked, SIGINT), 0) << "allocation " << allocation;
        if (result == BATON_SUCCESS) {
            EXPECT_OK(baton_host_stream_destroy(stream));
        }
    }
    EXPECT_EQ(result, BATON_SUCCESS) << baton_last_error();
}

/// On one rank, between two meetings of all ranks. The others learn of it, and nobody takes one meeting for another.
TEST_F(OutOfMemory, WhileAWindowComesAndGoes) {
    for (const bool goes : {false, true}) {
        for (long allocation = 0, more = 1; more != 0; ++allocation) {
            baton_config config = default_config();
            config.transport = BATON_TRANSPORT_HOST;
            config.timeout_seconds = 10;
            baton_comm_t comm = nullptr;
            ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
            baton_window_t window = nullptr;
            void *base = nullptr;
            if (goes) {
                ASSERT_OK(baton_window_create(comm, 100, &window, &base));
            }
            const baton_info before = info_of(comm);
            if (world_rank() == 0) allocations_left = allocation;
            baton_result result = goes ? baton_window_destroy(window) : baton_window_create(comm, 100, &window, &base);
            more = allocations_left < 0 && world_rank() == 0 ? 1 : 0;
            allocations_left = -1;
            if (!goes && result == BATON_ERR_MEMORY && baton_comm_check(comm) == BATON_SUCCESS) {
                const baton_info after = info_of(comm);
                EXPECT_EQ(after.regions, before.regions) << "allocation " << allocation;
                EXPECT_EQ(after.host_bytes, before.host_bytes) << "allocation " << allocation;
            }
            if (result == BATON_SUCCESS) result = baton_barrier(comm, nullptr);
            EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_MEMORY)
                << baton_result_name(result) << ": " << baton_last_error() << ", allocation " << allocation;
            baton_result first = result;
            MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD);
            EXPECT_EQ(result, first) << "allocation " << allocation;
            MPI_Bcast(&more, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            EXPECT_OK(baton_comm_destroy(comm));
            if (HasFailure()) return;
        }
    }
}

/// An attempt that failed on the way to the peers takes none of the rank's regions.
TEST_F(OutOfMemory, WhileMemoryIsMadeKnown) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    config.timeout_seconds = 10;
    baton_comm_t comm = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
    baton_result result = BATON_ERR_MEMORY;
    for (long allocation = 0; world_rank() == 0 && result == BATON_ERR_MEMORY; ++allocation) {
        void *memory = nullptr;
        allocations_left = allocation;
        result = baton_malloc(comm, 100, &memory);
        allocations_left = -1;
        if (result == BATON_SUCCESS) {
            EXPECT_OK(baton_free(comm, memory));
        }
    }
    EXPECT_TRUE(world_rank() != 0 || result == BATON_SUCCESS) << baton_result_name(result);
    for (int region = 0; world_rank() == 0 && region < 1024; ++region) {
        void *memory = nullptr;
        ASSERT_OK(baton_malloc(comm, 100, &memory)) << "region " << region;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_OK(baton_comm_destroy(comm));
}

/// The peer that was not told may be the only one, so no other call could make memory known.
TEST_F(OutOfMemory, OfTheSystemsWhilePeersAreTold) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    config.timeout_seconds = 10;
    baton_comm_t comm = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
    if (world_rank() == 0) {
        void *memory = nullptr;
        no_message_leaves = true;
        EXPECT_EQ(baton_malloc(comm, 100, &memory), BATON_ERR_SYSTEM);
        no_message_leaves = false;
        EXPECT_EQ(baton_comm_check(comm), BATON_ERR_SYSTEM);
    }
    EXPECT_EQ(baton_barrier(comm, nullptr), BATON_ERR_SYSTEM) << baton_last_error();
    EXPECT_OK(baton_comm_destroy(comm));
}

/// Not one byte is left, not even for the message of the failure.
TEST_F(OutOfMemory, ThatLasts) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    baton_comm_t comm = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_SELF, &config, &comm));
    const auto with = [](long allocations, const std::function<baton_result()> &call) {
        none_after_that = true;
        allocations_left = allocations;
        const baton_result result = call();
        allocations_left = -1;
        none_after_that = false;
        return result;
    };
    for (long allocations = 0;; ++allocations) {
        void *memory = nullptr;
        const baton_result result = with(allocations, [&] { return baton_malloc(comm, 100, &memory); });
        if (result == BATON_SUCCESS) {
            EXPECT_OK(baton_free(comm, memory));
            break;
        }
        ASSERT_EQ(result, BATON_ERR_MEMORY) << baton_last_error();
        EXPECT_STRNE(baton_last_error(), "");
    }
    EXPECT_EQ(with(0, [&] { return baton_barrier(nullptr, nullptr); }), BATON_ERR_ARGUMENT);
    EXPECT_STRNE(baton_last_error(), "");
    expect_works(comm);
    EXPECT_OK(baton_comm_destroy(comm));
}

/// Creation fails on one rank: all ranks have a communicator, or none, and nobody waits for the timeout. Memory does
/// not run out while the ranks tell each other of the machine: without memory nlohmann's JSON ends the process.
TEST_F(OutOfMemory, OnOneRankInCreation) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    std::vector<baton_comm_t> made;
    // Whether rank 0 has made fewer allocations than `allocations` since it began to count.
    const auto create = [&](long &counts_from, long allocations) {
        MPI_Comm ranks = MPI_COMM_NULL;  // after a failed attempt the next needs a new one
        MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
        if (world_rank() == 0) counts_from = allocations;
        baton_comm_t comm = nullptr;
        const baton_result result = baton_comm_create(ranks, &config, &comm);
        EXPECT_EQ(counts_from, -1) << "creation has not come there";
        int done = allocations_left >= 0 || counts_from >= 0 ? 1 : 0;
        allocations_left = -1;
        EXPECT_TRUE(result == BATON_SUCCESS || (result == BATON_ERR_MEMORY && done == 0))
            << baton_result_name(result) << ": " << baton_last_error() << ", allocation " << allocations;
        if (result == BATON_SUCCESS) made.push_back(comm);
        int succeeded = result == BATON_SUCCESS ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &succeeded, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_TRUE(succeeded == 0 || succeeded == world_size()) << "allocation " << allocations;
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return done != 0 || (succeeded != 0 && succeeded != world_size());
    };
    constexpr long before_the_machine_is_read = 40;
    const auto start = std::chrono::steady_clock::now();
    for (long allocations = 0; allocations < before_the_machine_is_read; ++allocations)
        EXPECT_FALSE(create(from_meeting_on, allocations));
    for (long allocations = 0; !create(from_segment_on, allocations); ++allocations) {
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
    for (const baton_comm_t comm : made) EXPECT_OK(baton_comm_destroy(comm));
}

/// The last steps of creation on rank 0. What fails there leaves nothing that other communicators would stumble over.
TEST_F(OutOfMemory, AtTheEndOfCreation) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    const auto create = [&](long allocations, baton_comm_t *comm) {
        allocations_left = allocations;
        const baton_result result = baton_comm_create(MPI_COMM_SELF, &config, comm);
        const long left = allocations_left;
        allocations_left = -1;
        return std::pair(result, left);
    };
    constexpr long plenty = 1 << 30;
    baton_comm_t comm = nullptr;
    const auto [first, left] = create(plenty, &comm);
    ASSERT_EQ(first, BATON_SUCCESS);
    EXPECT_OK(baton_comm_destroy(comm));
    baton_comm_t other = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &other));
    for (long missing = 1; missing <= 6; ++missing) {
        const baton_result result = create(plenty - left - missing, &comm).first;
        EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_MEMORY) << baton_last_error();
        if (result == BATON_SUCCESS) {
            EXPECT_OK(baton_comm_destroy(comm));
        }
        // A window that is gone is to be unmapped, when all communicators of the process are asked.
        baton_window_t window = nullptr;
        void *base = nullptr;
        ASSERT_OK(baton_window_create(other, 4096, &window, &base));
        ASSERT_OK(baton_window_destroy(window));
        ASSERT_OK(baton_barrier(other, nullptr));
        void *memory = nullptr;
        ASSERT_OK(baton_malloc(other, 4096, &memory));
        ASSERT_OK(baton_free(other, memory));
    }
    EXPECT_OK(baton_comm_destroy(other));
}

}  // namespace
}  // namespace baton::test
