// CUDA graphs: captured once, replayed many times with new data, mixed with eager calls, on two streams.
#include <atomic>
#include <thread>

#include "collective_case.hpp"
#include "gpu_fixture.hpp"
#include "support/arena.hpp"

namespace baton::test {
namespace {

class CudaGraphs : public GpuTest, public ::testing::WithParamInterface<std::size_t> {
protected:
    /// allreduce a -> b, then allgather b -> c: the second depends on the first inside the graph.
    void enqueue(const Buffer &a, const Buffer &b, const Buffer &c, cudaStream_t stream) {
        EXPECT_OK(baton_allreduce(a.data(), b.data(), GetParam(), BATON_FLOAT32, BATON_SUM, comm(), stream));
        EXPECT_OK(baton_allgather(b.data(), c.data(), GetParam(), BATON_FLOAT32, comm(), stream));
    }
    void fill(Buffer &a, std::uint64_t seed) {
        a.upload(make_input(BATON_FLOAT32, BATON_SUM, seed, rank(), GetParam()));
    }
    void expect(const Buffer &c, std::uint64_t seed) {
        const Bytes reduced = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), GetParam());
        Bytes all;
        for (std::size_t r = 0; r < n(); ++r) all.insert(all.end(), reduced.begin(), reduced.end());
        EXPECT_TRUE(same_bytes(all, c.download(), BATON_FLOAT32)) << "seed " << seed;
    }
    std::size_t bytes() const { return GetParam() * 4; }
};

TEST_P(CudaGraphs, ReplayedManyTimesWithNewData) {
    for (Memory memory : {Memory::plain, Memory::baton}) {
        Buffer a(comm(), bytes(), memory), b(comm(), bytes(), memory), c(comm(), bytes() * n(), memory);
        const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] { enqueue(a, b, c, stream_); });
        for (std::uint64_t replay = 0; replay < 25; ++replay) {
            fill(a, replay);
            c.poison();
            graph.launch(stream_);
            ASSERT_CUDA(cudaStreamSynchronize(stream_));
            expect(c, replay);
            if (HasFailure()) return;
        }
    }
}

/// Back to back without a look in between: the epochs that the kernels keep must advance by themselves.
TEST_P(CudaGraphs, ReplayedBackToBack) {
    Buffer a(comm(), bytes()), b(comm(), bytes()), c(comm(), bytes() * n());
    fill(a, 1);
    const Graph graph(stream_, cudaStreamCaptureModeGlobal, [&] { enqueue(a, b, c, stream_); });
    for (int replay = 0; replay < 100; ++replay) graph.launch(stream_);
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    expect(c, 1);
    EXPECT_OK(baton_comm_check(comm()));
}

/// A capture in global mode forbids its own and other threads whatever might synchronise. Eager calls of either do
/// without it, also at first uses of buffers and for copies of what peers cannot reach (managed memory, for long
/// vectors). Before and after the communicator's first captured call.
TEST_P(CudaGraphs, EagerCallsBesideACapture) {
    const Communicator fresh(MPI_COMM_WORLD);
    const baton_comm_t on = fresh.get();
    int concurrent = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, environment().device));
    void *managed = nullptr;
    // Peers map the copy's memory while kernels wait for it, which an arena is there to keep from memcheck.
    if (concurrent != 0 && Arena::get() == nullptr) {
        ASSERT_CUDA(cudaMallocManaged(&managed, 2 * bytes()));
    }
    void *const far_input = managed, *const far_result = static_cast<std::byte *>(managed) + bytes();
    const int next = (rank() + 1) % size();
    const int before = (rank() + size() - 1) % size();
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(on, bytes(), &window, &base));
    for (std::uint64_t round = 0; round < 4; ++round) {
        Buffer a(on, bytes()), b(on, bytes()), c(on, bytes()), d(on, bytes()), e(on, bytes() * n());
        Buffer blocks(on, bytes() * n()), block(on, bytes());
        blocks.upload(make_input(BATON_FLOAT32, BATON_SUM, round, rank(), GetParam() * n()));
        fill(a, round);
        if (managed != nullptr) {
            EXPECT_CUDA(cudaMemcpy(far_input, a.data(), bytes(), cudaMemcpyDefault));
        }
        const auto calls = [&] {
            if (managed != nullptr) {
                EXPECT_OK(baton_allreduce(far_input, far_result, GetParam(), BATON_FLOAT32, BATON_SUM, on, stream_));
            }
            EXPECT_OK(baton_allreduce(a.data(), b.data(), GetParam(), BATON_FLOAT32, BATON_SUM, on, stream_));
            EXPECT_OK(baton_allgather(b.data(), e.data(), GetParam(), BATON_FLOAT32, on, stream_));
            EXPECT_OK(baton_alltoall(BATON_IN_PLACE, e.data(), GetParam(), BATON_FLOAT32, on, stream_));
            EXPECT_OK(
                baton_reduce_scatter(blocks.data(), block.data(), GetParam(), BATON_FLOAT32, BATON_SUM, on, stream_));
            EXPECT_OK(
                baton_sendrecv(b.data(), GetParam(), next, c.data(), GetParam(), before, BATON_FLOAT32, on, stream_));
            EXPECT_OK(baton_put(c.data(), bytes(), next, 0, window, stream_));
            EXPECT_OK(baton_signal(next, window, stream_));
            EXPECT_OK(baton_wait_signal(before, 1, window, stream_));
            EXPECT_OK(baton_get(d.data(), bytes(), rank(), 0, window, stream_));
            EXPECT_OK(baton_barrier(on, stream_));
        };
        const Graph beside(second_, cudaStreamCaptureModeGlobal, [&] {
            if (round == 1) {
                const Communicator made_meanwhile(MPI_COMM_WORLD);
            }
            if (round == 2) {
                EXPECT_OK(baton_reduce_scatter(blocks.data(), block.data(), GetParam(), BATON_FLOAT32, BATON_SUM, on,
                                               second_));
                EXPECT_OK(baton_barrier(on, second_));
            }
            round % 2 == 0 ? calls() : std::thread(calls).join();
        });
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        expect(e, round);
        Bytes sums = reduce_inputs(BATON_FLOAT32, BATON_SUM, round, size(), GetParam() * n());
        sums.erase(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(bytes()) * rank());
        sums.resize(bytes());
        EXPECT_TRUE(same_bytes(sums, block.download(), BATON_FLOAT32)) << "round " << round;
        const Bytes sum = b.download();
        EXPECT_TRUE(same_bytes(sum, c.download(), BATON_FLOAT32));
        EXPECT_TRUE(same_bytes(sum, d.download(), BATON_FLOAT32));
        if (managed != nullptr) {
            Bytes far(bytes());
            EXPECT_CUDA(cudaMemcpy(far.data(), far_result, bytes(), cudaMemcpyDefault));
            EXPECT_TRUE(same_bytes(sum, far, BATON_FLOAT32));
        }
        if (HasFailure()) break;
    }
    EXPECT_OK(baton_window_destroy(window));
    EXPECT_CUDA(cudaFree(managed));
}

TEST_P(CudaGraphs, MixedWithEagerCalls) {
    Buffer a(comm(), bytes()), b(comm(), bytes()), c(comm(), bytes() * n());
    Buffer d(comm(), bytes()), e(comm(), bytes()), f(comm(), bytes() * n());
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] { enqueue(a, b, c, stream_); });
    for (std::uint64_t round = 0; round < 15; ++round) {
        fill(a, round);
        fill(d, round + 1000);
        if (round % 2 == 0) graph.launch(stream_);
        enqueue(d, e, f, stream_);
        if (round % 2 == 1) graph.launch(stream_);
        if (round % 3 == 0) {
            EXPECT_OK(baton_barrier(comm(), stream_));
        }
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        expect(c, round);
        expect(f, round + 1000);
        if (HasFailure()) return;
    }
}

/// Two graphs of one communicator on two streams. Events order the launches, which Baton cannot see.
TEST_P(CudaGraphs, OnTwoStreams) {
    Buffer a(comm(), bytes()), b(comm(), bytes()), c(comm(), bytes() * n());
    Buffer d(comm(), bytes()), e(comm(), bytes()), f(comm(), bytes() * n());
    const Graph first(stream_, cudaStreamCaptureModeThreadLocal, [&] { enqueue(a, b, c, stream_); });
    const Graph second(second_, cudaStreamCaptureModeThreadLocal, [&] { enqueue(d, e, f, second_); });
    cudaEvent_t passed = nullptr;
    ASSERT_CUDA(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming));
    for (std::uint64_t round = 0; round < 15; ++round) {
        fill(a, round);
        fill(d, round + 500);
        first.launch(stream_);
        EXPECT_CUDA(cudaEventRecord(passed, stream_));
        EXPECT_CUDA(cudaStreamWaitEvent(second_, passed, 0));
        second.launch(second_);
        enqueue(d, e, f, second_);
        ASSERT_CUDA(cudaStreamSynchronize(second_));
        expect(c, round);
        expect(f, round + 500);
        if (HasFailure()) break;
    }
    EXPECT_CUDA(cudaEventDestroy(passed));
}

/// The streams know nothing of each other: the communicator has to keep the order of issue.
TEST_P(CudaGraphs, LaunchedBetweenEagerCallsOnAnotherStream) {
    Buffer a(comm(), bytes()), b(comm(), bytes()), c(comm(), bytes() * n());
    Buffer d(comm(), bytes()), e(comm(), bytes()), f(comm(), bytes() * n());
    Buffer g(comm(), bytes()), h(comm(), bytes()), i(comm(), bytes() * n());
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] { enqueue(a, b, c, stream_); });
    for (std::uint64_t round = 0; round < 15; ++round) {
        fill(a, round);
        fill(d, round + 100);
        fill(g, round + 200);
        enqueue(d, e, f, second_);
        graph.launch(stream_);
        enqueue(g, h, i, second_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        ASSERT_CUDA(cudaStreamSynchronize(second_));
        expect(c, round);
        expect(f, round + 100);
        expect(i, round + 200);
        if (HasFailure()) return;
    }
}

/// The operations of a capture follow each other on whichever of its streams they are, also if an eager call came
/// between.
TEST_P(CudaGraphs, OneGraphOnTwoStreams) {
    Buffer a(comm(), bytes()), b(comm(), bytes()), c(comm(), bytes() * n());
    Buffer d(comm(), bytes()), e(comm(), bytes()), f(comm(), bytes() * n());
    const Stream eager(comm(), Stream::Kind::own);
    cudaEvent_t passed = nullptr;
    ASSERT_CUDA(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming));
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
        EXPECT_CUDA(cudaEventRecord(passed, stream_));
        EXPECT_CUDA(cudaStreamWaitEvent(second_, passed, 0));
        enqueue(a, b, c, stream_);
        EXPECT_OK(baton_barrier(comm(), eager));
        enqueue(d, e, f, second_);
        EXPECT_CUDA(cudaEventRecord(passed, second_));
        EXPECT_CUDA(cudaStreamWaitEvent(stream_, passed, 0));
    });
    for (std::uint64_t round = 0; round < 15; ++round) {
        fill(a, round);
        fill(d, round + 300);
        graph.launch(stream_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        expect(c, round);
        expect(f, round + 300);
        if (HasFailure()) break;
    }
    EXPECT_CUDA(cudaEventDestroy(passed));
}

TEST_P(CudaGraphs, TwoCommunicatorsOnTwoStreams) {
    Communicator other;
    Buffer a(comm(), bytes()), b(comm(), bytes()), d(comm(), bytes()), e(comm(), bytes());
    const auto enqueue_one = [&](const Buffer &from, const Buffer &to, baton_comm_t chosen, cudaStream_t stream) {
        EXPECT_OK(baton_allreduce(from.data(), to.data(), GetParam(), BATON_FLOAT32, BATON_SUM, chosen, stream));
    };
    const Graph first(stream_, cudaStreamCaptureModeThreadLocal, [&] { enqueue_one(a, b, comm(), stream_); });
    const Graph second(second_, cudaStreamCaptureModeThreadLocal, [&] { enqueue_one(d, e, other, second_); });
    for (std::uint64_t round = 0; round < 10; ++round) {
        fill(a, round);
        fill(d, round + 9);
        first.launch(stream_);
        second.launch(second_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        ASSERT_CUDA(cudaStreamSynchronize(second_));
        for (const auto &[buffer, seed] : {std::pair{&b, round}, std::pair{&e, round + 9}})
            EXPECT_TRUE(same_bytes(reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), GetParam()),
                                   buffer->download(), BATON_FLOAT32));
    }
}

/// alltoall a -> b, the same in place in a, broadcast b -> c.
TEST_P(CudaGraphs, OfAlltoallAndBroadcast) {
    const CollectiveCase c{.operation = BATON_ALLTOALL, .count = GetParam()};
    const int root = size() - 1;
    Buffer a(comm(), bytes() * n()), b(comm(), bytes() * n()), d(comm(), bytes() * n());
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
        EXPECT_OK(baton_alltoall(a.data(), b.data(), GetParam(), BATON_FLOAT32, comm(), stream_));
        EXPECT_OK(baton_alltoall(BATON_IN_PLACE, a.data(), GetParam(), BATON_FLOAT32, comm(), stream_));
        EXPECT_OK(baton_broadcast(b.data(), d.data(), GetParam() * n(), BATON_FLOAT32, root, comm(), stream_));
    });
    for (std::uint64_t replay = 0; replay < 15; ++replay) {
        CollectiveCase now = c;
        now.seed = replay;
        a.upload(collective_input(now, rank(), size()));
        b.poison();
        d.poison();
        graph.launch(stream_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        EXPECT_TRUE(same_bytes(collective_output(now, rank(), size()), b.download(), BATON_FLOAT32));
        EXPECT_TRUE(same_bytes(collective_output(now, rank(), size()), a.download(), BATON_FLOAT32));
        EXPECT_TRUE(same_bytes(collective_output(now, root, size()), d.download(), BATON_FLOAT32));
        if (HasFailure()) return;
    }
}

TEST_P(CudaGraphs, OfPointToPointCalls) {
    const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
    Buffer out(comm(), bytes()), in(comm(), bytes());
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
        EXPECT_OK(
            baton_sendrecv(out.data(), bytes(), next, in.data(), bytes(), previous, BATON_UINT8, comm(), stream_));
    });
    for (std::uint64_t replay = 0; replay < 20; ++replay) {
        out.upload(make_input(BATON_UINT8, BATON_SUM, replay, rank(), bytes()));
        graph.launch(stream_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        EXPECT_TRUE(same_bytes(make_input(BATON_UINT8, BATON_SUM, replay, previous, bytes()), in.download()));
    }
}

class MessagesInGraphs : public GpuTest {};

/// Several messages of a pair in one launch, in all ways, with numbers that go on at every replay and with eager calls
/// in between.
TEST_F(MessagesInGraphs, GroupsInAGraphBesideEagerOnes) {
    const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
    const std::size_t bytes[] = {1000, 200003, 70000, 16, 2000000};
    struct Message {
        Buffer out, in;
    };
    std::vector<std::unique_ptr<Message>> messages;
    for (const std::size_t size : bytes)
        messages.push_back(std::unique_ptr<Message>(new Message{{comm(), size}, {comm(), size}}));
    const auto exchange = [&] {
        EXPECT_OK(baton_group_begin());
        for (const auto &one : messages) {
            EXPECT_OK(baton_send(one->out.data(), one->out.size(), BATON_UINT8, next, comm(), stream_));
            EXPECT_OK(baton_recv(one->in.data(), one->in.size(), BATON_UINT8, previous, comm(), stream_));
        }
        EXPECT_OK(baton_group_end());
    };
    const auto expect_round = [&](std::uint64_t round, const auto &run) {
        for (const auto &one : messages) {
            one->out.upload(make_input(BATON_UINT8, BATON_SUM, round, rank(), one->out.size()));
            one->in.poison();
        }
        run();
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        for (const auto &one : messages) {
            EXPECT_TRUE(
                same_bytes(make_input(BATON_UINT8, BATON_SUM, round, previous, one->in.size()), one->in.download()))
                << "round " << round << ", " << one->in.size() << " bytes";
        }
    };
    const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, exchange);
    for (std::uint64_t round = 0; round < 10; ++round) {
        expect_round(2 * round, [&] { graph.launch(stream_); });
        expect_round(2 * round + 1, exchange);
    }
}

/// What the stream refuses leaves nothing behind at any rank. With or without a captured call before, and for calls of
/// several steps, of which the first could have been enqueued.
class RefusedCapture : public GpuTest, public ::testing::WithParamInterface<std::tuple<bool, baton_transport>> {};

TEST_P(RefusedCapture, LeavesTheCommunicatorGood) {
    const auto [captured_before, transport] = GetParam();
    baton_config config = default_config();
    config.transport = transport;
    const Communicator communicator(MPI_COMM_WORLD, &config);
    const baton_comm_t comm = communicator.get();
    constexpr std::size_t count = 1000;
    Buffer input(comm, count * 4), output(comm, count * 4);
    const auto allreduce = [&] {
        return baton_allreduce(input.data(), output.data(), count, BATON_FLOAT32, BATON_SUM, comm, stream_);
    };
    EXPECT_OK(allreduce());
    for (std::uint64_t round = 0; round < 3; ++round) {
        ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        if (captured_before) {
            EXPECT_OK(allreduce());
        }
        EXPECT_EQ(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream_)) << "this ends the capture";
        EXPECT_ERROR(BATON_ERR_CUDA, allreduce());
        EXPECT_ERROR(BATON_ERR_CUDA, baton_send(input.data(), 8, BATON_UINT8, rank(), comm, stream_));
        cudaGraph_t graph = nullptr;
        EXPECT_EQ(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream_, &graph));
        cudaGetLastError();
        EXPECT_OK(baton_comm_check(comm));
        input.upload(make_input(BATON_FLOAT32, BATON_SUM, round, rank(), count));
        EXPECT_OK(allreduce());
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        EXPECT_TRUE(same_bytes(reduce_inputs(BATON_FLOAT32, BATON_SUM, round, size(), count), output.download(),
                               BATON_FLOAT32));
        if (HasFailure()) return;
    }
}

/// Another thread may make a capture end in the middle of a call. The output is copied after the operation.
TEST_P(CudaGraphs, ACaptureThatEndsAtAnyTimeLeavesTheCommunicatorGood) {
    Buffer input(comm(), bytes());
    void *output = nullptr;
    ASSERT_CUDA(cudaMallocManaged(&output, bytes()));
    input.upload(make_input(BATON_FLOAT32, BATON_SUM, 1, rank(), GetParam()));
    const auto allreduce = [&] {
        return baton_allreduce(input.data(), output, GetParam(), BATON_FLOAT32, BATON_SUM, comm(), stream_);
    };
    EXPECT_OK(allreduce());
    int refused = 0;
    for (unsigned round = 0; round < 300; ++round) {
        std::atomic<bool> capturing = false;
        ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
        std::thread other([&, round] {
            while (!capturing) std::this_thread::yield();
            for (volatile unsigned wait = 0; wait < round * 5;) wait = wait + 1;
            void *memory = nullptr;
            if (cudaMalloc(&memory, 1) == cudaSuccess) cudaFree(memory);
            cudaGetLastError();
        });
        capturing = true;
        const baton_result result = allreduce();
        other.join();
        cudaGraph_t graph = nullptr;
        cudaStreamEndCapture(stream_, &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        cudaGetLastError();
        if (result != BATON_SUCCESS) ++refused;
        EXPECT_TRUE(result == BATON_SUCCESS || result == BATON_ERR_CUDA) << baton_last_error();
        ASSERT_OK(baton_comm_check(comm())) << "round " << round;
    }
    EXPECT_OK(allreduce());
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    const auto *const result = static_cast<const std::byte *>(output);
    EXPECT_TRUE(same_bytes(reduce_inputs(BATON_FLOAT32, BATON_SUM, 1, size(), GetParam()),
                           Bytes(result, result + bytes()), BATON_FLOAT32));
    EXPECT_CUDA(cudaFree(output));
    RecordProperty("refused", refused);
}

INSTANTIATE_TEST_SUITE_P(AfterACapturedCall, RefusedCapture,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(BATON_TRANSPORT_AUTO, BATON_TRANSPORT_COPY_ENGINE)));
INSTANTIATE_TEST_SUITE_P(Counts, CudaGraphs, ::testing::Values(1, 1000, 50000, 600011));

}  // namespace
}  // namespace baton::test
