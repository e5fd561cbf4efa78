// Streams as CUDA has them, beyond those that a program makes for itself. What also holds on hosts is in streams.cpp.
#include <thread>

#include "gpu_fixture.hpp"

namespace baton::test {
namespace {

class GpuStreams : public GpuTest {};

/// One handle stands for a stream of each thread, but calls of one thread wait for those of the other all the same.
/// Each call overwrites the input of the one before.
TEST_F(GpuStreams, PerThreadStreamsOfSeveralThreads) {
    constexpr std::size_t count = 300000;
    Buffer a(comm(), count * 4), b(comm(), count * 4);
    a.upload(make_input(BATON_UINT32, BATON_SUM, 3, rank(), count));
    Bytes model = reduce_inputs(BATON_UINT32, BATON_SUM, 3, size(), count);
    ASSERT_OK(baton_allreduce(BATON_IN_PLACE, a.data(), count, BATON_UINT32, BATON_SUM, comm(), cudaStreamPerThread));
    for (int step = 0; step < 40; ++step) {
        Buffer &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
        const auto call = [&] {
            EXPECT_CUDA(cudaSetDevice(environment().device));
            EXPECT_OK(
                baton_allreduce(from.data(), to.data(), count, BATON_UINT32, BATON_SUM, comm(), cudaStreamPerThread));
        };
        step % 3 == 0 ? call() : std::thread(call).join();
        const std::vector<std::span<const std::byte>> before(static_cast<std::size_t>(size()), model);
        model = reduce(BATON_UINT32, BATON_SUM, before);
    }
    ASSERT_OK(baton_barrier(comm(), stream_));
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    EXPECT_TRUE(same_bytes(model, a.download(), BATON_UINT32));
}

TEST_F(GpuStreams, OfAnotherDeviceAreRefused) {
    int devices = 0;
    ASSERT_CUDA(cudaGetDeviceCount(&devices));
    if (devices < 2) GTEST_SKIP() << "one device";
    cudaStream_t foreign = nullptr;
    ASSERT_CUDA(cudaSetDevice((environment().device + 1) % devices));
    EXPECT_CUDA(cudaStreamCreateWithFlags(&foreign, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaSetDevice(environment().device));
    const auto expect_refused = [&](std::size_t count) {
        Buffer buffer(comm(), count * 4);
        EXPECT_ERROR(BATON_ERR_ARGUMENT,
                     baton_allreduce(BATON_IN_PLACE, buffer.data(), count, BATON_FLOAT32, BATON_SUM, comm(), foreign),
                     "stream is of CUDA device");
    };
    expect_refused(1000);
    expect_refused(10000000);
    EXPECT_OK(baton_group_begin());
    expect_refused(1000);  // at once, not behind the steps of others
    EXPECT_OK(baton_barrier(comm(), stream_));
    EXPECT_OK(baton_group_end());
    EXPECT_CUDA(cudaStreamDestroy(foreign));
    expect_works(comm());
}

/// Each context has default streams of its own, and Baton's calls are on those of the primary one.
TEST_F(GpuStreams, DefaultsOfAContextThatTheProgramHasMadeAreRefused) {
    const auto create = driver_function<CUresult(CUcontext *, unsigned int, CUdevice)>("cuCtxCreate");
    const auto destroy = driver_function<CUresult(CUcontext)>("cuCtxDestroy");
    Buffer buffer(comm(), 4000);
    const auto allreduce = [&](cudaStream_t stream) {
        return baton_allreduce(BATON_IN_PLACE, buffer.data(), 1000, BATON_FLOAT32, BATON_SUM, comm(), stream);
    };
    CUcontext own = nullptr;
    ASSERT_EQ(create(&own, 0, environment().device), CUDA_SUCCESS);
    for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread})
        EXPECT_ERROR(BATON_ERR_UNSUPPORTED, allreduce(stream), "stream is a default stream, of a CUDA context");
    EXPECT_OK(baton_group_begin());
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, allreduce(nullptr));  // not at the end
    EXPECT_OK(baton_group_end());
    EXPECT_OK(allreduce(stream_));
    EXPECT_EQ(destroy(own), CUDA_SUCCESS);
    ASSERT_CUDA(cudaSetDevice(environment().device));
    EXPECT_OK(allreduce(nullptr));
    ASSERT_CUDA(cudaDeviceSynchronize());
    expect_works(comm());
}

}  // namespace
}  // namespace baton::test
