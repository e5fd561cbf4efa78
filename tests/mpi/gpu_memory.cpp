// Device memory that is freed and allocated again, managed, or of more than 4 GiB; and host memory where it does not
// belong.
#include <thread>

#include "gpu_memory.hpp"

namespace baton::test {
namespace {

/// The allocator likes to give the same address again; the peers must not read the old memory behind it.
TEST_F(GpuMemory, FreedAndAllocatedAgain) {
    std::size_t same = 0;
    void *before = nullptr;
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::size_t count = i % 3 == 0 ? 300000 : 200000 + 1000 * i;
        void *memory = nullptr;
        ASSERT_CUDA(cudaMalloc(&memory, room(count)));
        same += memory == before ? 1 : 0;
        expect_usable(memory, count, i, "allocation " + std::to_string(i));
        before = memory;
        ASSERT_CUDA(cudaFree(memory));
        if (HasFailure()) return;
    }
    RecordProperty("same_address", static_cast<int>(same));
}

/// If a peer's allocation slows copy engines, a kernel takes over, on some ranks alone (memory/mapped_regions.cpp).
TEST_F(GpuMemory, OfASizeThatSlowsCopyEnginesOnOneRank) {
    const std::size_t count = n() * 250004;
    const std::size_t even = (room(count) + 65535) / 65536 * 65536;
    for (int odd = 0; odd < size() && !HasFailure(); ++odd) {
        void *memory = nullptr;
        ASSERT_CUDA(cudaMalloc(&memory, even + (rank() == odd ? 8 : 0)));
        const std::string what = "odd on rank " + std::to_string(odd);
        expect_usable(memory, count, static_cast<std::uint64_t>(odd), what);
        expect_moved(memory, count, static_cast<std::uint64_t>(odd), what);
        ASSERT_CUDA(cudaFree(memory));
    }
}

/// Regions of freed memory must not pile up.
TEST_F(GpuMemory, RegionsOfFreedMemoryAreGivenUp) {
    for (std::uint64_t i = 0; i < 300; ++i) {
        void *memory = nullptr;
        ASSERT_CUDA(cudaMalloc(&memory, 4 << 20));
        ASSERT_OK(baton_allreduce(BATON_IN_PLACE, memory, 1 << 20, BATON_FLOAT32, BATON_MAX, comm(), stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        ASSERT_CUDA(cudaFree(memory));
    }
    EXPECT_LT(info_of(comm()).regions, 250u);
    expect_works(comm());
}

/// Peers that have freed memory mapped keep it alive. They must let go of it, also beside another communicator, and
/// once graphs are gone that might have been replayed.
TEST_F(GpuMemory, FreedMemoryComesBackBesideAnotherCommunicator) {
    Communicator other;
    expect_works(other);
    for (const baton_comm_t each : {comm(), baton_comm_t{other}}) {
        const Buffer buffer(each, 4000);
        const auto call = [&] {
            EXPECT_OK(baton_allreduce(BATON_IN_PLACE, buffer.data(), 1000, BATON_INT32, BATON_SUM, each, stream_));
        };
        Graph(stream_, cudaStreamCaptureModeThreadLocal, call).launch(stream_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
    }
    const baton_info info = info_of(comm());
    barrier();
    std::size_t available = 0, all = 0;
    ASSERT_CUDA(cudaMemGetInfo(&available, &all));
    barrier();
    const std::size_t bytes = available / static_cast<std::size_t>(info.ranks_on_device) / 8;
    // One and a half times what there is. The driver clears what it frees, which takes most of the time.
    for (std::uint64_t i = 0; i < 12; ++i) {
        void *memory = nullptr;
        ASSERT_CUDA(cudaMalloc(&memory, bytes)) << "round " << i << " of " << bytes << " bytes";
        ASSERT_OK(baton_allreduce(BATON_IN_PLACE, memory, 1 << 20, BATON_FLOAT32, BATON_MAX, comm(), stream_));
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        barrier();
        ASSERT_CUDA(cudaFree(memory));
        expect_works(other, i);
    }
}

/// All ranks unmap it before it is freed: the memory is back when the call returns.
TEST_F(GpuMemory, OfAWindowIsUnmappedOnceItIsDestroyed) {
    if (info_of(comm()).peer_access == 0) GTEST_SKIP() << "windows are host memory";
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), std::size_t{64} << 20, &window, &base));
    const auto type_of = [](const void *pointer) {
        cudaPointerAttributes attributes{};
        EXPECT_CUDA(cudaPointerGetAttributes(&attributes, pointer));
        return attributes.type;
    };
    std::vector<void *> pointers(static_cast<std::size_t>(size()));
    for (int peer = 0; peer < size(); ++peer) {
        void *&pointer = pointers[static_cast<std::size_t>(peer)];
        ASSERT_OK(baton_window_pointer(window, peer, &pointer));
        EXPECT_EQ(cudaMemoryTypeDevice, type_of(pointer)) << "of rank " << peer;
    }
    ASSERT_OK(baton_window_destroy(window));
    for (int peer = 0; peer < size(); ++peer)
        EXPECT_EQ(cudaMemoryTypeUnregistered, type_of(pointers[static_cast<std::size_t>(peer)])) << "of rank " << peer;
    expect_works(comm());
}

/// What graphs may still use stays mapped where it is, but the window goes.
TEST_F(GpuMemory, OfAWindowThatGraphsHaveUsedComesBackWithThem) {
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), 4000, &window, &base));
    {
        const Graph graph(stream_, cudaStreamCaptureModeThreadLocal, [&] {
            EXPECT_OK(baton_allreduce(BATON_IN_PLACE, base, 1000, BATON_INT32, BATON_SUM, comm(), stream_));
        });
        graph.launch(stream_);
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        EXPECT_OK(baton_window_destroy(window));
        expect_works(comm());
    }
    expect_works(comm());
}

bool has_context(int device) {
    const auto state = driver_function<decltype(cuDevicePrimaryCtxGetState)>("cuDevicePrimaryCtxGetState");
    unsigned int flags = 0;
    int active = 0;
    EXPECT_EQ(CUDA_SUCCESS, state(device, &flags, &active));
    return active != 0;
}

/// Given back by a thread that has chosen no device. CUDA would take device 0 for it, and a context there costs
/// hundreds of MiB.
TEST_F(GpuMemory, IsGivenBackWithoutAContextOnAnotherDevice) {
    int devices = 0, provided = 0;
    ASSERT_CUDA(cudaGetDeviceCount(&devices));
    MPI_Query_thread(&provided);
    if (any_rank(devices < 2)) GTEST_SKIP() << "one device";
    if (provided < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "this MPI has no MPI_THREAD_SERIALIZED";
    std::vector<bool> before, after;
    const auto look = [&](std::vector<bool> &contexts) {
        for (int device = 0; device < devices; ++device) contexts.push_back(has_context(device));
    };
    look(before);
    baton_comm_t given = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, nullptr, &given));
    std::thread([&] { EXPECT_OK(baton_comm_destroy(given)); }).join();
    look(after);
    EXPECT_EQ(before, after) << "on device " << environment().device;
    expect_works(comm());
}

TEST_F(GpuMemory, Managed) {
    int supported = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrConcurrentManagedAccess, environment().device));
    if (supported == 0) GTEST_SKIP() << "no concurrent managed access";
    for (std::size_t count : {1000, 200000}) {
        void *memory = nullptr;
        ASSERT_CUDA(cudaMallocManaged(&memory, room(count)));
        expect_usable(memory, count, count, "cudaMallocManaged");
        ASSERT_CUDA(cudaFree(memory));
    }
}

/// 32 bits do not suffice for the bytes anywhere on the way.
TEST_F(GpuMemory, MoreThanFourGiB) {
    baton_info info{};
    info.struct_size = sizeof(info);
    ASSERT_OK(baton_comm_info(comm(), &info));
    const std::size_t block = ((std::size_t{4} << 30) + (std::size_t{64} << 20)) / n() + 13, total = block * n();
    std::size_t available = 0, all = 0;
    ASSERT_CUDA(cudaMemGetInfo(&available, &all));
    const bool short_of_memory =
        available < (total + (std::size_t{1} << 30)) * static_cast<std::size_t>(info.ranks_on_device);
    if (any_rank(short_of_memory)) GTEST_SKIP() << "needs " << (total >> 30) << " GiB for every rank on the GPU";
    void *memory = nullptr;
    ASSERT_CUDA(cudaMalloc(&memory, total));
    std::byte *bytes = static_cast<std::byte *>(memory);
    constexpr std::size_t piece = std::size_t{32} << 20;
    // A rank's block repeats one pattern, stamped with the piece's number, so that a shifted piece shows.
    const auto each_piece = [&](int owner, auto use) {
        Bytes pattern = make_input(BATON_UINT64, BATON_SUM, 4, owner, piece / 8);
        for (std::size_t at = 0, number = 0; at < block; at += piece, ++number) {
            std::memcpy(pattern.data(), &number, sizeof(number));
            use(static_cast<std::size_t>(owner) * block + at, std::span(pattern).first(std::min(piece, block - at)));
        }
    };
    each_piece(rank(), [&](std::size_t at, std::span<const std::byte> content) {
        copy_memory(bytes + at, content.data(), content.size(), true);
    });
    EXPECT_OK(baton_allgather(BATON_IN_PLACE, memory, block, BATON_UINT8, comm(), stream_));
    EXPECT_CUDA(cudaStreamSynchronize(stream_));
    Bytes seen(piece);
    for (int owner = 0; owner < size() && !HasFailure(); ++owner)
        each_piece(owner, [&](std::size_t at, std::span<const std::byte> content) {
            copy_memory(seen.data(), bytes + at, content.size(), true);
            EXPECT_TRUE(same_bytes(content, std::span(seen).first(content.size()))) << "at byte " << at;
        });
    ASSERT_CUDA(cudaFree(memory));
}

/// The reverse of bad_arguments' host pointers: device memory for a communicator on the host.
TEST_F(GpuMemory, DevicePointerOnTheHost) {
    baton_config config = default_config();
    config.transport = BATON_TRANSPORT_HOST;
    Communicator host(MPI_COMM_WORLD, &config);
    Buffer device(comm(), 4000);
    std::vector<int> good(1000);
    EXPECT_ERROR(BATON_ERR_ARGUMENT,
                 baton_allreduce(device.data(), good.data(), 1000, BATON_INT32, BATON_SUM, host, nullptr), "sendbuf",
                 "device");
    EXPECT_ERROR(BATON_ERR_ARGUMENT,
                 baton_allreduce(good.data(), device.data(), 1000, BATON_INT32, BATON_SUM, host, nullptr), "recvbuf",
                 "device");
    expect_works(host);
}

}  // namespace
}  // namespace baton::test
