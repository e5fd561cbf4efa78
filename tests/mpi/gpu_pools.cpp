// Stream-ordered memory: from the device's pool, which peers cannot map, and from pools that are exported.
#include <cstdlib>
#include <optional>
#include <span>

#include "gpu_memory.hpp"

namespace baton::test {
namespace {

class GpuPools : public GpuMemory {
protected:
    static bool has_exportable_pools() {
        int handles = 0;
        EXPECT_CUDA(cudaDeviceGetAttribute(&handles, cudaDevAttrMemoryPoolSupportedHandleTypes, environment().device));
        return (handles & cudaMemHandleTypePosixFileDescriptor) != 0;
    }
    static cudaMemPool_t exportable_pool() {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
        properties.location = {cudaMemLocationTypeDevice, environment().device};
        cudaMemPool_t pool = nullptr;
        EXPECT_CUDA(cudaMemPoolCreate(&pool, &properties));
        return pool;
    }
    Bytes input(std::uint64_t seed, std::size_t count) const {
        return make_input(BATON_FLOAT32, BATON_SUM, seed, rank(), count);
    }
    /// Enqueues an allgather, or a reduce_scatter, with input and output side by side in `memory`, and copies the
    /// output out.
    void enqueue(bool gathers, void *memory, std::size_t count, const Buffer &result) {
        const std::size_t input_bytes = (gathers ? 1 : n()) * count * 4;
        auto *output = static_cast<std::byte *>(memory) + input_bytes;
        if (gathers) {
            EXPECT_OK(baton_allgather(memory, output, count, BATON_FLOAT32, comm(), stream_));
        } else {
            EXPECT_OK(baton_reduce_scatter(memory, output, count, BATON_FLOAT32, BATON_SUM, comm(), stream_));
        }
        EXPECT_CUDA(cudaMemcpyAsync(result.data(), output, room(count) - input_bytes, cudaMemcpyDefault, stream_));
    }
    void expect(bool gathers, const Buffer &result, std::size_t count, std::uint64_t seed) {
        gathers ? expect_gathered(result, count, seed) : expect_reduced(result, count, seed);
    }
    void expect_gathered(const Buffer &result, std::size_t count, std::uint64_t seed) {
        for (std::size_t r = 0; r < n(); ++r) {
            const Bytes wanted = make_input(BATON_FLOAT32, BATON_SUM, seed, static_cast<int>(r), count);
            EXPECT_TRUE(same_bytes(wanted, result.download(r * count * 4, count * 4), BATON_FLOAT32))
                << "seed " << seed << ", block " << r;
        }
    }
    /// Checks this rank's block of a reduce_scatter.
    void expect_reduced(const Buffer &result, std::size_t count, std::uint64_t seed) {
        const Bytes all = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), n() * count);
        const std::span wanted = std::span(all).subspan(static_cast<std::size_t>(rank()) * count * 4, count * 4);
        EXPECT_TRUE(same_bytes(wanted, result.download(0, count * 4), BATON_FLOAT32)) << "seed " << seed;
    }
};

TEST_F(GpuPools, OfTheDevice) {
    int supported = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, environment().device));
    if (supported == 0) GTEST_SKIP() << "no memory pools";
    for (std::size_t count : {1000, 200000}) {
        void *memory = nullptr;
        ASSERT_CUDA(cudaMallocAsync(&memory, room(count), stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        expect_usable(memory, count, count, "cudaMallocAsync");
        ASSERT_CUDA(cudaFreeAsync(memory, stream_));
    }
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
}

/// Memory that peers map: freed and allocated again in the same place, longer and shorter, beside another communicator
/// that lets go of what it has mapped; then from another pool.
TEST_F(GpuPools, Exportable) {
    if (!has_exportable_pools()) GTEST_SKIP() << "no pools that can be exported";
    auto other = std::make_unique<Communicator>();
    cudaMemPool_t pool = nullptr;
    for (std::uint64_t i = 0; i < 16; ++i) {
        if (i % 8 == 0) pool = exportable_pool();
        if (i == 12) other.reset();
        const std::size_t count = i % 3 == 0 ? 1000 : 300000 * (i % 5 + 1);  // for kernels, and for copy engines
        void *memory = nullptr, *before = nullptr;                           // moves it, over the places of others
        ASSERT_CUDA(cudaMallocFromPoolAsync(&before, 1 + i % 4 * 1000000, pool, stream_));
        ASSERT_CUDA(cudaMallocFromPoolAsync(&memory, room(count), pool, stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        if (other) {
            ASSERT_OK(baton_allreduce(BATON_IN_PLACE, memory, count, BATON_FLOAT32, BATON_MAX, *other, stream_));
            ASSERT_CUDA(cudaStreamSynchronize(stream_));
        }
        expect_usable(memory, count, i, "piece " + std::to_string(i));
        ASSERT_CUDA(cudaFreeAsync(memory, stream_));
        ASSERT_CUDA(cudaFreeAsync(before, stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        if (i % 8 == 7) {
            EXPECT_CUDA(cudaMemPoolDestroy(pool));
        }
        if (HasFailure()) return;
    }
}

/// Memory is freed in a stream's order, right after its last call, while a peer has not come to that call. The peer
/// finds the memory all the same, whether the next call's memory takes its place or only lets the end of the first be
/// noticed.
TEST_F(GpuPools, FreedBeforeALatePeerComes) {
    if (!has_exportable_pools()) GTEST_SKIP() << "no pools that can be exported";
    const char *const transport = std::getenv("BATON_TRANSPORT");
    if (transport != nullptr && std::string(transport) == "zero_sm")
        GTEST_SKIP() << "an allgather waits for the peers' calls there";
    for (std::uint64_t i = 0; i < 24; ++i) {
        const int late = static_cast<int>(i) % size();
        const bool in_its_place = i % 4 < 2, gathers = i % 8 < 4;  // peers write to the output, or read the input
        const std::size_t count = i % 3 == 0 ? 1000 : i % 3 == 1 ? 300000 : 1500000;
        const std::size_t all = n() * count * 4, input_bytes = gathers ? count * 4 : all;
        cudaMemPool_t pool = exportable_pool();
        const Buffer first_result(comm(), all), next_result(comm(), all);
        void *first = nullptr, *next = nullptr, *fresh = nullptr;
        ASSERT_CUDA(cudaMalloc(&fresh, room(count)));
        ASSERT_CUDA(cudaMallocFromPoolAsync(&first, room(count), pool, stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        copy_memory(first, input(2 * i, input_bytes / 4).data(), input_bytes, true);
        copy_memory(fresh, input(2 * i + 1, input_bytes / 4).data(), input_bytes, true);

        std::optional<Graph> graph;
        if (rank() == late) barrier();
        const auto first_call = [&] { enqueue(gathers, first, count, first_result); };
        if (i % 16 < 8) {
            first_call();
        } else {
            graph.emplace(stream_, cudaStreamCaptureModeThreadLocal, first_call);
            graph->launch(stream_);
        }
        ASSERT_CUDA(cudaFreeAsync(first, stream_));
        if (in_its_place) {
            ASSERT_CUDA(cudaMallocFromPoolAsync(&next, room(count), pool, stream_));
            EXPECT_EQ(next, first) << "nothing is tested";
            ASSERT_CUDA(cudaMemcpyAsync(next, fresh, input_bytes, cudaMemcpyDeviceToDevice, stream_));
        } else {
            next = fresh;
        }
        enqueue(gathers, next, count, next_result);
        if (rank() != late) barrier();
        ASSERT_CUDA(cudaStreamSynchronize(stream_)) << "round " << i;

        expect(gathers, first_result, count, 2 * i);
        expect(gathers, next_result, count, 2 * i + 1);
        if (in_its_place) {
            ASSERT_CUDA(cudaFreeAsync(next, stream_));
            ASSERT_CUDA(cudaStreamSynchronize(stream_));
        }
        ASSERT_CUDA(cudaMemPoolDestroy(pool));
        barrier();  // cudaFree waits for kernels, and for what they wait for
        ASSERT_CUDA(cudaFree(fresh));
        if (HasFailure()) return;
    }
}

/// Whether peers will reach the memory is known before they do. In zero-SM mode they do not, as only kernels could.
TEST_F(GpuPools, ExplainedBeforeTheFirstUse) {
    if (!has_exportable_pools()) GTEST_SKIP() << "no pools that can be exported";
    constexpr std::size_t count = 1 << 20;
    cudaMemPool_t pool = exportable_pool();
    void *memory = nullptr;
    ASSERT_CUDA(cudaMallocFromPoolAsync(&memory, room(count), pool, stream_));
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    const auto is_zero_copy = [&] {
        char text[2000] = "";
        EXPECT_OK(baton_explain(comm(), BATON_ALLREDUCE, count, BATON_FLOAT32, BATON_SUM, BATON_IN_PLACE, memory, text,
                                sizeof(text)));
        return std::string(text).find("zero copy") != std::string::npos;
    };
    const bool before = is_zero_copy();
    expect_usable(memory, count, 1, "a pool's memory");
    EXPECT_EQ(is_zero_copy(), before);
    ASSERT_CUDA(cudaFreeAsync(memory, stream_));
    ASSERT_CUDA(cudaStreamSynchronize(stream_));
    ASSERT_CUDA(cudaMemPoolDestroy(pool));
}

}  // namespace
}  // namespace baton::test
