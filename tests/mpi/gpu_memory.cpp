// Device memory of every kind and age: freed and allocated again, pools, managed, VMM, more than 4 GiB; and host memory
// where it does not belong.
#include <cuda.h>

#include "gpu_fixture.hpp"

namespace baton::test {
namespace {

class GpuMemory : public GpuTest {
protected:
    /// An allreduce in place and an allgather on the caller's memory, checked. The memory holds count * (n + 1) floats.
    void expect_usable(void *memory, std::size_t count, std::uint64_t seed, const std::string &what) {
        const std::size_t bytes = count * 4;
        std::byte *input = static_cast<std::byte *>(memory), *output = input + bytes;
        copy_memory(input, make_input(BATON_FLOAT32, BATON_SUM, seed, rank(), count).data(), bytes, true);
        ASSERT_OK(baton_allreduce(BATON_IN_PLACE, input, count, BATON_FLOAT32, BATON_SUM, comm(), stream_)) << what;
        ASSERT_OK(baton_allgather(input, output, count, BATON_FLOAT32, comm(), stream_)) << what;
        ASSERT_CUDA(cudaStreamSynchronize(stream_));
        const Bytes reduced = reduce_inputs(BATON_FLOAT32, BATON_SUM, seed, size(), count);
        for (std::size_t r = 0; r < n(); ++r) {
            Bytes block(bytes);
            copy_memory(block.data(), output + r * bytes, bytes, true);
            EXPECT_TRUE(same_bytes(reduced, block, BATON_FLOAT32)) << what << ", block " << r;
        }
    }
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
    std::size_t room(std::size_t count) const { return count * 4 * (n() + 1); }
};

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

/// Freed memory is kept alive by the peers that have it mapped: they must let go of it, beside another communicator
/// too.
TEST_F(GpuMemory, FreedMemoryComesBackBesideAnotherCommunicator) {
    Communicator other;
    expect_works(other);
    const baton_info info = info_of(comm());
    barrier();
    std::size_t available = 0, all = 0;
    ASSERT_CUDA(cudaMemGetInfo(&available, &all));
    barrier();
    const std::size_t bytes = available / static_cast<std::size_t>(info.ranks_on_device) / 8;
    // Half as much again as there is; the driver clears what it frees, which takes most of the time.
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

TEST_F(GpuMemory, OfAPool) {
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
/// that lets go of what it has mapped; then of another pool.
TEST_F(GpuMemory, OfAnExportablePool) {
    if (!has_exportable_pools()) GTEST_SKIP() << "no pools that can be exported";
    auto other = std::make_unique<Communicator>();
    cudaMemPool_t pool = nullptr;
    for (std::uint64_t i = 0; i < 16; ++i) {
        if (i % 8 == 0) pool = exportable_pool();
        if (i == 12) other.reset();
        const std::size_t count = i % 3 == 0 ? 1000 : 300000 * (i % 5 + 1);  // the kernels', and the copy engines'
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

/// Whether peers will reach it is known before they do: in zero-SM mode they do not, as only kernels could.
TEST_F(GpuMemory, OfAnExportablePoolIsExplainedBeforeItsFirstUse) {
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

/// The driver's entry points, so that the test needs no libcuda at link time.
template <class Function>
Function driver(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<Function>(function);
}

/// A range mapped from physical allocations side by side, shareable by file descriptor or not at all. A chunk's worth
/// of address space behind it is reserved and not mapped.
class VmmRange {
public:
    VmmRange(std::size_t bytes, CUmemAllocationHandleType type, std::size_t chunks = 1) : handles_(chunks) {
        CUmemAllocationProp property{};
        property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        property.requestedHandleTypes = type;
        property.location = {CU_MEM_LOCATION_TYPE_DEVICE, {environment().device}};
        std::size_t granularity = 0;
        EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
                                    &granularity, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        chunk_ = (bytes / chunks + granularity) / granularity * granularity;
        EXPECT_EQ(CUDA_SUCCESS,
                  driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&address_, size() + chunk_, 0, 0, 0));
        for (std::size_t i = 0; i < chunks; ++i) {
            EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemCreate)>("cuMemCreate")(&handles_[i], chunk_, &property, 0));
            EXPECT_EQ(CUDA_SUCCESS,
                      driver<decltype(&cuMemMap)>("cuMemMap")(address_ + i * chunk_, chunk_, 0, handles_[i], 0));
        }
        CUmemAccessDesc access{};
        access.location = property.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(address_, size(), &access, 1));
    }
    ~VmmRange() {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemUnmap)>("cuMemUnmap")(address_ + i * chunk_, chunk_));
            EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemRelease)>("cuMemRelease")(handles_[i]));
        }
        EXPECT_EQ(CUDA_SUCCESS, driver<decltype(&cuMemAddressFree)>("cuMemAddressFree")(address_, size() + chunk_));
    }
    VmmRange(const VmmRange &) = delete;
    VmmRange &operator=(const VmmRange &) = delete;
    void *data() const { return reinterpret_cast<void *>(address_); }
    std::size_t size() const { return handles_.size() * chunk_; }

private:
    std::vector<CUmemGenericAllocationHandle> handles_;
    CUdeviceptr address_ = 0;
    std::size_t chunk_ = 0;
};

/// As PyTorch's expandable segments are: chunks of address space, mapped side by side, used as one buffer.
TEST_F(GpuMemory, VirtualInSeveralChunks) {
    for (CUmemAllocationHandleType type : {CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_NONE}) {
        for (std::size_t chunks : {2, 3, 7}) {
            const std::size_t count = 900000 + chunks;
            VmmRange range(room(count), type, chunks);
            expect_usable(range.data(), count, chunks, std::to_string(chunks) + " chunks");
            EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_register(comm(), range.data(), range.size()));
            EXPECT_ERROR(BATON_ERR_ARGUMENT,
                         baton_allreduce(BATON_IN_PLACE, range.data(), range.size() / 4 + 1, BATON_FLOAT32, BATON_SUM,
                                         comm(), stream_),
                         "recvbuf");
            if (HasFailure()) return;
        }
    }
}

TEST_F(GpuMemory, VirtualShareable) {
    for (std::size_t count : {1000, 700000}) {
        VmmRange range(room(count), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        expect_usable(range.data(), count, count, "VMM memory with a file descriptor");
    }
}

/// Memory that cannot be exported works through a copy, and registration says why.
TEST_F(GpuMemory, VirtualNotShareable) {
    for (std::size_t count : {1000, 700000}) {
        VmmRange range(room(count), CU_MEM_HANDLE_TYPE_NONE);
        EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_register(comm(), range.data(), count * 4));
        expect_usable(range.data(), count, count, "VMM memory without a handle");
    }
}

TEST_F(GpuMemory, KindsThatDifferByRank) {
    constexpr std::size_t count = 400000;
    void *plain = nullptr;
    ASSERT_CUDA(cudaMalloc(&plain, room(count)));
    VmmRange range(room(count), rank() % 3 == 0 ? CU_MEM_HANDLE_TYPE_NONE : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    expect_usable(rank() % 2 == 0 ? plain : range.data(), count, 4, "kinds that differ");
    ASSERT_CUDA(cudaFree(plain));
}

/// 32 bits of bytes are not enough anywhere on the way.
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
    // A rank's block repeats one pattern, stamped with the number of the piece, so that a shifted piece shows.
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

/// The reverse of bad_arguments' host pointers: device memory on a communicator on the host.
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
