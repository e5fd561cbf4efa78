// In the zero-SM mode the GPU's front end waits, not a kernel. These waits too end by the timeout and by an abort, and
// they end for everything that is queued.
#include <atomic>
#include <thread>

#include "gpu_fixture.hpp"
#include "support/broken.hpp"

namespace baton::test {
namespace {

constexpr double patience = 1.0;
constexpr std::size_t count = 100000;

int absent() { return world_size() - 1; }
bool is_absent() { return world_rank() == absent(); }

/// Holds a stream until it is opened, without using the GPU.
class Gate {
public:
    explicit Gate(cudaStream_t stream) { EXPECT_CUDA(cudaLaunchHostFunc(stream, &Gate::wait, this)); }
    ~Gate() { open_ = true; }
    void open() { open_ = true; }

private:
    static void wait(void *gate) {
        while (!static_cast<Gate *>(gate)->open_) std::this_thread::yield();
    }
    std::atomic<bool> open_{false};
};

class ZeroSmWaits : public ::testing::Test {
protected:
    void SetUp() override {
        if (environment().device < 0) GTEST_SKIP() << "no GPU";
        if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
        ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }
    void TearDown() override {
        if (stream_ == nullptr) return;
        EXPECT_CUDA(cudaStreamDestroy(stream_));
    }
    void start(double timeout_seconds) {
        comm_ = std::make_unique<FragileComm>(timeout_seconds, MPI_COMM_WORLD, BATON_TRANSPORT_ZERO_SM);
        send_ = std::make_unique<Buffer>(*comm_, count * 4);
        recv_ = std::make_unique<Buffer>(*comm_, count * 4 * static_cast<std::size_t>(world_size()));
        gather();  // registers the buffers
        EXPECT_CUDA(cudaStreamSynchronize(stream_));
    }
    void gather() { EXPECT_OK(baton_allgather(send_->data(), recv_->data(), count, BATON_FLOAT32, *comm_, stream_)); }
    /// The stream comes to its end, and another communicator works.
    void go_on() {
        EXPECT_CUDA(cudaStreamSynchronize(stream_));
        barrier();
        recv_.reset();
        send_.reset();
        comm_.reset();
        Communicator fresh;
        expect_works(fresh);
    }
    void expect_timeout() {
        const Breakage breakage = await_breakage(*comm_, BATON_SUCCESS, nullptr);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_NE(breakage.message.find("for rank " + std::to_string(absent())), std::string::npos)
            << "the rank waited for is not named: " << breakage.message;
        EXPECT_LT(breakage.seconds, patience * 8);
    }

    cudaStream_t stream_ = nullptr;
    std::unique_ptr<FragileComm> comm_;
    std::unique_ptr<Buffer> send_, recv_;
};

/// All hosts have issued the calls; one rank's stream does not come to them.
TEST_F(ZeroSmWaits, AStreamThatDoesNotComeIsATimeoutThatNamesItsRank) {
    start(patience);
    std::unique_ptr<Gate> gate;
    if (is_absent()) gate = std::make_unique<Gate>(stream_);
    for (int i = 0; i < 5; ++i) gather();
    expect_timeout();
    if (!is_absent()) {
        EXPECT_CUDA(cudaStreamSynchronize(stream_)) << "all five must have been let go";
    }
    barrier();
    if (gate) gate->open();
    go_on();
}

/// One rank leaves out a replay, and no host is there to notice.
TEST_F(ZeroSmWaits, AReplayThatARankLeavesOutIsATimeoutThatNamesIt) {
    start(patience);
    const Graph replay(stream_, cudaStreamCaptureModeThreadLocal, [&] { gather(); });
    replay.launch(stream_);
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    barrier();
    if (!is_absent()) replay.launch(stream_);
    expect_timeout();
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
    go_on();
}

/// A graph's copies have the addresses of the calls that it was captured with. Replays that meet other calls would
/// write to the wrong buffers.
TEST_F(ZeroSmWaits, ACallThatOneRankCapturesIsAMismatch) {
    start(300);
    if (is_absent()) {
        EXPECT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    }
    EXPECT_ERROR(BATON_ERR_MISMATCH,
                 baton_allgather(send_->data(), recv_->data(), count, BATON_FLOAT32, *comm_, stream_));
    if (is_absent()) {
        cudaGraph_t graph = nullptr;
        EXPECT_CUDA(cudaStreamEndCapture(stream_, &graph));
        EXPECT_CUDA(cudaGraphDestroy(graph));
    }
    go_on();
}

TEST_F(ZeroSmWaits, AnAbortLetsTheStreamsGo) {
    start(30);
    std::unique_ptr<Gate> gate;
    if (is_absent()) gate = std::make_unique<Gate>(stream_);
    for (int i = 0; i < 5; ++i) gather();
    barrier();
    if (is_absent()) {
        EXPECT_OK(baton_comm_abort(*comm_));
    }
    const Breakage breakage = await_breakage(*comm_, BATON_SUCCESS, nullptr);
    EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(breakage.code)) << breakage.message;
    if (gate) gate->open();
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
    EXPECT_LT(breakage.seconds, 10);
    go_on();
}

/// The hosts wait for a rank that has not issued the call.
TEST_F(ZeroSmWaits, AnAbortLetsTheHostsGo) {
    start(300);
    const auto began = std::chrono::steady_clock::now();
    if (is_absent()) {
        EXPECT_OK(baton_comm_abort(*comm_));
    } else {
        EXPECT_ERROR(BATON_ERR_ABORTED,
                     baton_allgather(send_->data(), recv_->data(), count, BATON_FLOAT32, *comm_, stream_));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
    go_on();
}

/// Many waits together last longer than the timeout, but none of them does.
TEST_F(ZeroSmWaits, ASlowRankIsNotAnAbsentOne) {
    start(patience);
    const auto delay = [](void *) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience / 4);
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    };
    for (int i = 0; i < 12; ++i) {
        if (is_absent()) {
            EXPECT_CUDA(cudaLaunchHostFunc(stream_, delay, nullptr));
        }
        gather();
    }
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
    EXPECT_OK(baton_comm_check(*comm_));
    go_on();
}

}  // namespace
}  // namespace baton::test
