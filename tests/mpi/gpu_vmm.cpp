// Memory mapped in reserved address space (VMM): shareable by file descriptor or not, in chunks, and mapped anew.
#include "gpu_memory.hpp"

namespace baton::test {
namespace {

class GpuVmm : public GpuMemory {};

/// A range mapped from physical allocations side by side, shareable by file descriptor or not at all. A chunk's worth
/// of address space after it is reserved but not mapped.
class VmmRange {
public:
    VmmRange(std::size_t bytes, CUmemAllocationHandleType type, std::size_t chunks = 1) : handles_(chunks) {
        property_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        property_.requestedHandleTypes = type;
        property_.location = {CU_MEM_LOCATION_TYPE_DEVICE, {environment().device}};
        std::size_t granularity = 0;
        EXPECT_EQ(CUDA_SUCCESS,
                  driver_function<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
                      &granularity, &property_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        chunk_ = (bytes / chunks + granularity) / granularity * granularity;
        EXPECT_EQ(CUDA_SUCCESS, driver_function<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(
                                    &address_, size() + chunk_, 0, 0, 0));
        map();
    }
    ~VmmRange() {
        unmap();
        EXPECT_EQ(CUDA_SUCCESS,
                  driver_function<decltype(cuMemAddressFree)>("cuMemAddressFree")(address_, size() + chunk_));
    }
    VmmRange(const VmmRange &) = delete;
    VmmRange &operator=(const VmmRange &) = delete;

    /// Maps other physical memory in the same place. Nothing may use the range.
    void map_anew() {
        unmap();
        map();
    }
    void *data() const { return reinterpret_cast<void *>(address_); }
    std::size_t size() const { return handles_.size() * chunk_; }

private:
    void map() {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            EXPECT_EQ(CUDA_SUCCESS,
                      driver_function<decltype(cuMemCreate)>("cuMemCreate")(&handles_[i], chunk_, &property_, 0));
            EXPECT_EQ(CUDA_SUCCESS, driver_function<decltype(cuMemMap)>("cuMemMap")(address_ + i * chunk_, chunk_, 0,
                                                                                    handles_[i], 0));
        }
        CUmemAccessDesc access{};
        access.location = property_.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        EXPECT_EQ(CUDA_SUCCESS,
                  driver_function<decltype(cuMemSetAccess)>("cuMemSetAccess")(address_, size(), &access, 1));
    }
    void unmap() {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            EXPECT_EQ(CUDA_SUCCESS, driver_function<decltype(cuMemUnmap)>("cuMemUnmap")(address_ + i * chunk_, chunk_));
            EXPECT_EQ(CUDA_SUCCESS, driver_function<decltype(cuMemRelease)>("cuMemRelease")(handles_[i]));
        }
    }

    CUmemAllocationProp property_{};
    std::vector<CUmemGenericAllocationHandle> handles_;
    CUdeviceptr address_ = 0;
    std::size_t chunk_ = 0;
};

/// Like PyTorch's expandable segments: chunks of address space, mapped side by side, used as one buffer.
TEST_F(GpuVmm, InSeveralChunks) {
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

TEST_F(GpuVmm, Shareable) {
    for (std::size_t count : {1000, 700000}) {
        VmmRange range(room(count), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        expect_usable(range.data(), count, count, "VMM memory with a file descriptor");
    }
}

/// The peers must not go on with what they have mapped before.
TEST_F(GpuVmm, MappedAnewInTheSamePlace) {
    constexpr std::size_t count = 700000;
    VmmRange range(room(count), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    for (std::uint64_t i = 0; i < 6 && !HasFailure(); ++i) {
        if (i > 0) range.map_anew();
        expect_usable(range.data(), count, i, "mapping " + std::to_string(i));
    }
}

/// Memory that cannot be exported works through a copy, and registration says why.
TEST_F(GpuVmm, NotShareable) {
    for (std::size_t count : {1000, 700000}) {
        VmmRange range(room(count), CU_MEM_HANDLE_TYPE_NONE);
        EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_register(comm(), range.data(), count * 4));
        expect_usable(range.data(), count, count, "VMM memory without a handle");
    }
}

TEST_F(GpuVmm, KindsThatDifferByRank) {
    constexpr std::size_t count = 400000;
    void *plain = nullptr;
    ASSERT_CUDA(cudaMalloc(&plain, room(count)));
    VmmRange range(room(count), rank() % 3 == 0 ? CU_MEM_HANDLE_TYPE_NONE : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    expect_usable(rank() % 2 == 0 ? plain : range.data(), count, 4, "kinds that differ");
    ASSERT_CUDA(cudaFree(plain));
}

}  // namespace
}  // namespace baton::test
