// A rank is killed while the others wait for it, or for nobody. They learn of it within about a second, can destroy the
// communicator, and the survivors can make another. The rank that dies cannot take part in an orderly end, so this
// binary has a main of its own: survivors leave a report per rank in $BATON_TEST_REPORTS and skip MPI_Finalize.
// peer_death.sh starts one test at a time and reads the reports.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bootstrap/mpi_bootstrap.hpp"
#include "support/broken.hpp"
#include "util/failure.hpp"

namespace baton::test {
namespace {

int victim() { return world_size() - 1; }

std::string report_path(const std::string &name) { return std::string(std::getenv("BATON_TEST_REPORTS")) + '/' + name; }

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The steady clock is common to the machine, so survivors can tell how long ago the victim died.
[[noreturn]] void die() {
    { std::ofstream(report_path("death.tmp")) << std::fixed << now(); }
    std::rename(report_path("death.tmp").c_str(), report_path("death").c_str());
    raise(SIGKILL);
    std::abort();
}

double seconds_since_death() {
    std::ifstream file(report_path("death"));
    double death = 0;
    return file >> death ? now() - death : -1;
}

class PeerDeath : public ::testing::Test {
protected:
    void SetUp() override {
        survivors_ = std::make_unique<MpiComm>(
            MpiComm::split(MPI_COMM_WORLD, world_rank() == victim() ? MPI_UNDEFINED : 0, world_rank()));
        comm_ = std::make_unique<FragileComm>(30);
        expect_works(*comm_);
        barrier();
    }

    /// Expects what every survivor must see of a call that will never complete.
    void expect_peer_dead(baton_result result, Stream *stream) {
        const Breakage breakage = await_breakage(*comm_, result, stream);
        const double late = seconds_since_death();
        EXPECT_STREQ("BATON_ERR_PEER_DEAD", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_NE(breakage.message.find("rank " + std::to_string(victim())), std::string::npos) << breakage.message;
        EXPECT_GE(late, 0) << "seen dead before it died";
        EXPECT_LT(late, 1.5);
        expect_stays_broken(*comm_, BATON_ERR_PEER_DEAD);
    }

    /// Destruction waits for nobody, and the machine, GPU included, still works for the rest.
    void go_on() {
        comm_.reset();
        Communicator rest(*survivors_);
        expect_works(rest);
    }

    std::unique_ptr<MpiComm> survivors_;
    std::unique_ptr<FragileComm> comm_;
};

TEST_F(PeerDeath, WhileOthersReduce) {
    if (world_rank() == victim()) die();
    {
        Buffer buffer(*comm_, 4000);
        Stream stream(*comm_, Stream::Kind::own);
        expect_peer_dead(baton_allreduce(BATON_IN_PLACE, buffer.data(), 1000, BATON_INT32, BATON_SUM, *comm_, stream),
                         &stream);
    }
    go_on();
}

TEST_F(PeerDeath, WhileOthersReduceMuch) {
    if (world_rank() == victim()) die();
    {
        Buffer buffer(*comm_, 8 << 20);
        Stream stream(*comm_, Stream::Kind::own);
        expect_peer_dead(
            baton_allreduce(BATON_IN_PLACE, buffer.data(), 2 << 20, BATON_INT32, BATON_SUM, *comm_, stream), &stream);
    }
    go_on();
}

TEST_F(PeerDeath, WhileOthersWaitInABarrier) {
    if (world_rank() == victim()) die();
    {
        Stream stream(*comm_, Stream::Kind::null);
        expect_peer_dead(baton_barrier(*comm_, stream), &stream);
    }
    go_on();
}

TEST_F(PeerDeath, WhileOthersReceive) {
    if (world_rank() == victim()) die();
    {
        Buffer buffer(*comm_, 1 << 20);
        Stream stream(*comm_, Stream::Kind::own);
        expect_peer_dead(baton_recv(buffer.data(), 1 << 20, BATON_UINT8, victim(), *comm_, stream), &stream);
    }
    go_on();
}

TEST_F(PeerDeath, WhileOthersWaitForASignal) {
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(*comm_, 1000, &window, &base));
    barrier();  // else some ranks would still be in the call above
    if (world_rank() == victim()) die();
    {
        Stream stream(*comm_, Stream::Kind::own);
        expect_peer_dead(baton_wait_signal(victim(), 1, window, stream), &stream);
    }
    go_on();
}

TEST_F(PeerDeath, WhileOthersCreateAWindow) {
    if (world_rank() == victim()) die();
    baton_window_t window = nullptr;
    void *base = nullptr;
    expect_peer_dead(baton_window_create(*comm_, 1000, &window, &base), nullptr);
    go_on();
}

/// Nobody waits for anything; baton_comm_check tells.
TEST_F(PeerDeath, WhileOthersAreIdle) {
    if (world_rank() == victim()) die();
    expect_peer_dead(BATON_SUCCESS, nullptr);
    go_on();
}

/// Between two ticks of the others' service threads, like a program that ends because of an error.
TEST_F(PeerDeath, AfterItHasSaidWhy) {
    if (world_rank() == victim()) {
        EXPECT_OK(baton_comm_abort(*comm_));
        die();
    }
    while (seconds_since_death() < 0.3) std::this_thread::yield();
    EXPECT_ERROR(BATON_ERR_ABORTED, baton_comm_check(*comm_), "rank " + std::to_string(victim()));
    go_on();
}

/// In the middle of a stream of calls; what was complete before stays right.
TEST_F(PeerDeath, InTheMiddleOfManyCalls) {
    {
        constexpr std::size_t count = 20000;
        Buffer buffer(*comm_, count * 4);
        Stream stream(*comm_, Stream::Kind::own);
        const int fatal = 20;
        baton_result result = BATON_SUCCESS;
        for (int i = 0; i < 200 && result == BATON_SUCCESS; ++i) {
            if (world_rank() == victim() && i == fatal) {
                stream.synchronize();
                die();
            }
            result = baton_allreduce(BATON_IN_PLACE, buffer.data(), count, BATON_INT32, BATON_SUM, *comm_, stream);
        }
        expect_peer_dead(result, &stream);
    }
    go_on();
}

/// In the meetings of creation and destruction, where no service thread watches.
TEST_F(PeerDeath, WhileOthersMeet) {
    const MpiComm users = MpiComm::duplicate(MPI_COMM_WORLD);
    {
        core::MpiBootstrap bootstrap(users);
        bootstrap.connect();
        if (world_rank() == victim()) die();
        try {
            bootstrap.barrier();
            ADD_FAILURE() << "the dead have come";
        } catch (const core::Failure &failure) {
            EXPECT_EQ(failure.code(), BATON_ERR_PEER_DEAD) << failure.what();
            EXPECT_NE(std::string(failure.what()).find("rank " + std::to_string(victim())), std::string::npos)
                << failure.what();
        }
        EXPECT_LT(seconds_since_death(), 1.5);
    }
    go_on();
}

}  // namespace
}  // namespace baton::test

int main(int argc, char **argv) {
    using baton::test::environment;
    testing::InitGoogleTest(&argc, argv);
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &environment().rank);
    MPI_Comm_size(MPI_COMM_WORLD, &environment().size);
    baton::test::select_device();
    // With the process id, the script can tell whether anything of this job is left.
    std::ofstream(baton::test::report_path("pid." + std::to_string(environment().rank))) << getpid() << '\n';
    int failed = RUN_ALL_TESTS();
    if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
        std::printf("failed: the filter matches no test\n");
        failed = 1;
    }
    std::ofstream(baton::test::report_path("result." + std::to_string(environment().rank)))
        << (failed ? "failed" : "passed");
    std::fflush(nullptr);
    _exit(failed);  // MPI_Finalize would wait for the dead
}
