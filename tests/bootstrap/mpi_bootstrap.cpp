// Ranks that do not come to connect(), or come late: the others' waits end and name whom they have waited for, and MPI
// can be used afterwards.
#include "bootstrap/mpi_bootstrap.hpp"

#include <numeric>

#include "support/fixture.hpp"
#include "support/mpi_calls.hpp"
#include "support/thrown_by.hpp"

namespace baton::test {
namespace {

struct GaveUp {
    std::vector<int> missing;
};

/// Makes waits throw once they have lasted half a second.
void give_up_soon(core::Bootstrap &bootstrap) {
    bootstrap.set_watch([&bootstrap](std::chrono::nanoseconds waited) {
        if (waited > std::chrono::milliseconds(500)) throw GaveUp{bootstrap.missing()};
    });
}

/// Whom connect() has waited for in vain. What MPI may still use stays until the process ends.
std::vector<int> missing_in(core::MpiBootstrap &bootstrap) {
    give_up_soon(bootstrap);
    try {
        bootstrap.connect();
    } catch (const GaveUp &gave_up) {
        return gave_up.missing;
    }
    ADD_FAILURE() << "connect() has returned";
    return {};
}

class MpiBootstrap : public ::testing::Test {
protected:
    void SetUp() override {
        if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
    }
    /// MPI still makes communicators.
    void TearDown() override {
        barrier();
        const MpiComm copy = MpiComm::duplicate(MPI_COMM_WORLD);
        core::MpiBootstrap bootstrap(copy);
        bootstrap.connect();
        bootstrap.barrier();
    }
    static int late_one() { return world_size() - 1; }
    static bool is_late_one() { return world_rank() == late_one(); }
    static std::vector<int> others() {
        std::vector<int> ranks(static_cast<std::size_t>(late_one()));
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
};

TEST_F(MpiBootstrap, ARankThatNeverComesIsNamed) {
    const MpiComm users = MpiComm::duplicate(MPI_COMM_WORLD);
    core::MpiBootstrap bootstrap(users);
    if (!is_late_one()) {
        EXPECT_EQ(missing_in(bootstrap), std::vector<int>{late_one()});
    }
    barrier();
}

/// The late rank finds that nobody is there any more.
TEST_F(MpiBootstrap, ARankThatComesWhenTheOthersHaveGivenUp) {
    const MpiComm users = MpiComm::duplicate(MPI_COMM_WORLD);
    core::MpiBootstrap bootstrap(users);
    if (!is_late_one()) missing_in(bootstrap);
    barrier();
    if (is_late_one()) {
        EXPECT_EQ(missing_in(bootstrap), others());
    }
}

/// The late rank's first calls meet what was given up, its next ones the others' next attempt: nobody goes on.
TEST_F(MpiBootstrap, AnotherAttemptOnTheSameCommunicatorIsRefused) {
    const MpiComm users = MpiComm::duplicate(MPI_COMM_WORLD);
    core::MpiBootstrap first(users);
    if (!is_late_one()) missing_in(first);
    barrier();
    core::MpiBootstrap second(users);
    const core::Failure failure = thrown_by([&] { second.connect(); });
    EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH) << failure.what();
    barrier();
}

/// The others hear of it wherever they wait, before or after it, and MPI can still be used.
TEST_F(MpiBootstrap, ARankThatGivesUpEndsTheOthersWaits) {
    for (int attempt = 0; attempt < 3; ++attempt) {
        core::MpiBootstrap bootstrap(MPI_COMM_WORLD);
        bootstrap.connect();
        if (is_late_one()) {
            bootstrap.give_up({BATON_ERR_MEMORY, "no room"});
            bootstrap.give_up({BATON_ERR_CUDA, "what follows from it"});
            bootstrap.abandon({});
            continue;
        }
        for (int wait = 0; wait < 2; ++wait) {
            const core::Failure failure = thrown_by(
                [&] { attempt == 1 ? static_cast<void>(bootstrap.allgather_strings("here")) : bootstrap.barrier(); });
            EXPECT_EQ(failure.code(), BATON_ERR_MEMORY);
            EXPECT_EQ(failure.what(), fmt::format("rank {} has given up: no room", late_one()));
        }
        bootstrap.give_up({BATON_ERR_MEMORY, "as another has"});
    }
}

/// MPI allows no receive to stay posted across MPI_Finalize, which a program may call before baton_comm_destroy.
TEST_F(MpiBootstrap, NothingIsInFlightOnceNobodyGivesUpAnyMore) {
    core::MpiBootstrap bootstrap(MPI_COMM_WORLD);
    bootstrap.connect();
    bootstrap.barrier();
    EXPECT_NE(mpi_calls().receive_in_flight, nullptr);
    bootstrap.nobody_gives_up_any_more();
    EXPECT_EQ(mpi_calls().receive_in_flight, nullptr);
    mpi_calls().sends = 0;
    bootstrap.give_up({BATON_ERR_MEMORY, "too late"});
    EXPECT_EQ(mpi_calls().sends, 0);
    bootstrap.barrier();
}

/// The rank that comes last to a meeting, after all the others, hears of it too.
TEST_F(MpiBootstrap, WordsCountBeforeAWaitThatIsOverAtOnce) {
    core::MpiBootstrap bootstrap(MPI_COMM_WORLD);
    bootstrap.connect();
    const core::Failure late(BATON_ERR_TIMEOUT, "waited");
    if (is_late_one()) {
        barrier();
        EXPECT_EQ(thrown_by([&] { bootstrap.barrier(); }).code(), BATON_ERR_TIMEOUT);
        return;
    }
    bootstrap.set_watch([&](std::chrono::nanoseconds waited) {
        if (waited > std::chrono::milliseconds(500)) throw core::Failure(late);
    });
    EXPECT_EQ(thrown_by([&] { bootstrap.barrier(); }).code(), BATON_ERR_TIMEOUT);
    bootstrap.give_up(late);
    bootstrap.abandon({});
    barrier();
}

TEST_F(MpiBootstrap, SlowIsNotLate) {
    core::MpiBootstrap bootstrap(MPI_COMM_WORLD);
    give_up_soon(bootstrap);
    if (is_late_one()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    bootstrap.connect();
    EXPECT_TRUE(bootstrap.missing().empty());
    bootstrap.barrier();
}

}  // namespace
}  // namespace baton::test
