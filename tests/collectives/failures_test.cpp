#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "thread_ranks.hpp"

namespace baton::test {
namespace {

using core::Communicator;
using core::Failure;

/// The first error that the rank sees, in `call` or within 15 s.
Failure error_of(Communicator &comm, const std::function<void()> &call) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    try {
        call();
        while (std::chrono::steady_clock::now() < give_up) {
            comm.throw_if_broken();
            std::this_thread::yield();
        }
    } catch (const Failure &failure) {
        return failure;
    }
    return {BATON_SUCCESS, "nothing has failed"};
}

TEST(ThreadFailures, DifferentCountsAreAMismatchOnEveryRank) {
    with_ranks({.size = 4}, [](Communicator &comm) {
        std::vector<std::byte> send(4096);
        std::vector<std::byte> recv(4096 * 4);
        const std::size_t count = comm.rank() == 2 ? 11 : 10;
        const Failure failure = error_of(comm, [&] { allgather(comm, send.data(), recv.data(), count, BATON_INT32); });
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH) << failure.what();
        EXPECT_NE(std::string(failure.what()).find("count 11"), std::string::npos) << failure.what();
        EXPECT_NE(std::string(failure.what()).find("count 10"), std::string::npos) << failure.what();
    });
}

TEST(ThreadFailures, DifferentOperationsAreAMismatchWhateverTheirAlgorithms) {
    with_ranks({.size = 3}, [](Communicator &comm) {
        std::vector<std::byte> send(1 << 20);
        std::vector<std::byte> recv(3 << 20);
        const Failure failure = error_of(comm, [&] {
            if (comm.rank() == 0) {
                allreduce(comm, send.data(), recv.data(), 1 << 18, BATON_FLOAT32, BATON_SUM);
            } else {
                allgather(comm, send.data(), recv.data(), 5, BATON_INT8);
            }
        });
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH) << failure.what();
        EXPECT_NE(std::string(failure.what()).find("allreduce"), std::string::npos) << failure.what();
        EXPECT_NE(std::string(failure.what()).find("allgather"), std::string::npos) << failure.what();
    });
}

TEST(ThreadFailures, AMessageOfAnotherCountIsAMismatch) {
    for (const std::size_t other : {101, 50000}) {
        with_ranks({.size = 2}, [&](Communicator &comm) {
            std::vector<std::byte> buffer(60000);
            const Failure failure = error_of(comm, [&] {
                if (comm.rank() == 0) {
                    run(comm, {send_request(comm, buffer.data(), 100, 1)});
                } else {
                    run(comm, {recv_request(comm, buffer.data(), other, 0)});
                }
            });
            EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH) << failure.what();
        });
    }
}

TEST(ThreadFailures, ARankThatDoesNotComeIsATimeoutThatNamesIt) {
    with_ranks({.size = 3, .timeout_seconds = 0.3}, [](Communicator &comm) {
        if (comm.rank() == 1) {
            EXPECT_EQ(error_of(comm, [] {}).code(), BATON_ERR_TIMEOUT);
            return;
        }
        const auto start = std::chrono::steady_clock::now();
        const Failure failure = error_of(comm, [&] { barrier(comm); });
        EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
        EXPECT_NE(std::string(failure.what()).find("for rank 1"), std::string::npos) << failure.what();
        EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(250));
    });
}

/// A receiver waits for the sender's header, a sender that pushes for the receiver's reply.
TEST(ThreadFailures, ATimeoutOfAMessageSaysWhatOfItIsMissing) {
    for (const HostWay way : {HostWay::pull, HostWay::push, HostWay::line, HostWay::staged}) {
        for (const bool sends : {false, true}) {
            ThreadConfig config = thread_config(2, way);
            config.timeout_seconds = 0.1;
            with_ranks(config, [&](Communicator &comm) {
                std::vector<std::byte> buffer(100000);
                const auto call = [&] {
                    if (comm.rank() == 1) return;
                    run(comm, {sends ? send_request(comm, buffer.data(), buffer.size(), 1)
                                     : recv_request(comm, buffer.data(), buffer.size(), 1)});
                };
                const Failure failure = error_of(comm, call);
                EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT) << failure.what();
                if (sends && way == HostWay::staged) return;  // waits until pieces are taken
                const char *const missing = sends ? "for its matching call" : "for its message";
                EXPECT_NE(std::string(failure.what()).find(missing), std::string::npos)
                    << name_of(way) << ": " << failure.what();
            });
        }
    }
}

TEST(ThreadFailures, AbortEndsTheOthersWaits) {
    with_ranks({.size = 4}, [](Communicator &comm) {
        if (comm.rank() == 3) comm.abort();
        const Failure failure = error_of(comm, [&] { barrier(comm); });
        EXPECT_EQ(failure.code(), BATON_ERR_ABORTED);
        EXPECT_NE(std::string(failure.what()).find("rank 3"), std::string::npos) << failure.what();
    });
}

TEST(ThreadFailures, AbortEndsACollectiveWait) {
    with_ranks({.size = 4}, [](Communicator &comm) {
        if (comm.rank() == 3) comm.abort();
        const Failure failure = error_of(comm, [&] { comm.turn().windows().create(100, [] {}); });
        EXPECT_EQ(failure.code(), BATON_ERR_ABORTED);
        EXPECT_NE(std::string(failure.what()).find("rank 3"), std::string::npos) << failure.what();
    });
}

/// Rank 0 waits in the destruction, which is collective; the others wait in a call that rank 0 never makes.
TEST(ThreadFailures, DestroyingWhileOthersWaitIsATimeoutOnEveryRank) {
    with_ranks({.size = 3, .timeout_seconds = 1}, [](Communicator &comm) {
        try {
            comm.rank() == 0 ? comm.turn_unless_destroyed().shut_down() : barrier(comm);
            ADD_FAILURE() << "no error";
        } catch (const Failure &failure) {
            EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT) << failure.what();
        }
    });
}

/// Another thread asks for the communicator's state all along.
TEST(ThreadFailures, StateQueriesMayComeWhileItIsDestroyed) {
    for (int round = 0; round < 5; ++round) {
        with_ranks({.size = 2}, [](Communicator &comm) {
            std::atomic<bool> asked{false};
            std::thread other([&] {
                const Failure end = error_of(comm, [&] {
                    baton_info info{};
                    for (;; asked.store(true)) {
                        comm.throw_if_broken();
                        info = comm.info();
                    }
                });
                EXPECT_EQ(end.code(), BATON_ERR_ARGUMENT) << end.what();
            });
            while (!asked.load()) std::this_thread::yield();
            comm.turn_unless_destroyed().shut_down();
            other.join();
        });
    }
}

TEST(ThreadFailures, OneRanksWrongArgumentsAreAllRanksError) {
    with_ranks({.size = 3}, [](Communicator &comm) {
        const auto refuse = [&] {
            if (comm.rank() == 2) throw Failure(BATON_ERR_ARGUMENT, "window is NULL");
        };
        try {
            comm.turn().windows().create(100, refuse);
            ADD_FAILURE() << "no error";
        } catch (const Failure &failure) {
            EXPECT_EQ(failure.code(), BATON_ERR_ARGUMENT);
            EXPECT_NE(std::string(failure.what()).find("window is NULL"), std::string::npos) << failure.what();
        }
        barrier(comm);
        const core::Turn turn = comm.turn();
        turn.windows().destroy(turn.windows().create(100, [] {}));
    });
}

}  // namespace
}  // namespace baton::test
