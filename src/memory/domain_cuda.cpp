#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "cuda/check.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver.hpp"
#include "cuda/guard.hpp"
#include "cuda/handles.hpp"
#include "memory/cuda_handles.hpp"
#include "memory/gpu_pointer_query.hpp"
#include "memory/memory_domain.hpp"
#include "memory/readable.hpp"
#include "util/divide.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// The driver hands out device memory in blocks of this size, and an IPC handle opens the whole block: allocations are
/// rounded up to it, so that peers never see memory that is not Baton's.
constexpr std::size_t block_bytes = std::size_t{2} << 20;

class CudaDomain final : public MemoryDomain {
public:
    CudaDomain(int device, Movers movers) : device_(device), movers_(movers) {
        const OnDevice here(device_);
        stream_ = make_stream();
    }

    ~CudaDomain() override {
        try {
            const OnDevice here(device_);
            stream_.reset();
            cudaGetLastError();
        } catch (const std::exception &failure) {
            static_cast<void>(stream_.release());  // without its device it cannot be destroyed
            log(LogLevel::warn, -1, "device {} was not left in order: {}", device_, failure.what());
        }
    }

    bool on_gpu() const override { return true; }

    PointerInfo classify(const void *pointer) const override {
        PointerInfo info;
        if (pointer == nullptr) return info;
        const DeviceGuard here(device_);
        check_driver(query_gpu_pointer(pointer, &info), "cuPointerGetAttributes of {}", pointer);
        if (info.kind == PointerInfo::Kind::invalid && readable(pointer)) info.kind = PointerInfo::Kind::host;
        if (info.pool != nullptr && movers_ == Movers::copies_alone) info.posix_fd = false;
        return info;
    }

    void *allocate(std::size_t bytes) override {
        if (bytes > SIZE_MAX - block_bytes) fail(BATON_ERR_MEMORY, "cannot allocate {} bytes", bytes);
        const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), block_bytes);
        const OnDevice here(device_);
        void *pointer = nullptr;
        check_cuda(cudaMalloc(&pointer, size), "cudaMalloc of {} bytes on device {}", size, device_);
        const std::lock_guard lock(stream_mutex_);
        cudaError_t result = cudaMemsetAsync(pointer, 0, size, stream_.get());
        if (result == cudaSuccess) result = cudaStreamSynchronize(stream_.get());
        if (result != cudaSuccess) cudaFree(pointer);
        check_cuda(result, "cudaMemsetAsync of {} bytes on device {}", size, device_);
        return pointer;
    }

    void release(void *pointer) override {
        const OnDevice here(device_);
        check_cuda(cudaFree(pointer), "cudaFree of {}", pointer);
    }

    Export export_region(const PointerInfo &info) override {
        Export result;
        result.reason = why_not(info);
        if (!result.reason.empty()) return result;
        result.post.base = info.base;
        result.post.size = info.size;
        try {
            const OnDevice here(device_);
            if (info.legacy_ipc) {
                export_legacy(info, &result.post);
            } else if (info.pool != nullptr) {
                result.fd = export_from_pool(info, &result.post);
            } else {
                result.fd = export_vmm(info, &result.post);
            }
        } catch (const Failure &failure) {
            result.post.kind = HandleKind::none;
            result.code = failure.code();
            result.reason = failure.what();
        }
        return result;
    }

    void *import_region(int owner, const RegionPost &post, UniqueFd fd) override {
        const OnDevice here(device_);
        switch (post.kind) {
            case HandleKind::cuda_ipc:
                return import_legacy(post, device_);
            case HandleKind::vmm_fd:
                return import_vmm(post, fd.get(), device_);
            case HandleKind::pool_fd:
                return import_from_pool(post, fd.get(), device_);
            default:
                fail(BATON_ERR_UNSUPPORTED, "rank {} exported memory that a GPU cannot map", owner);
        }
    }

    void unimport_region(const RegionPost &post, void *address) override {
        const OnDevice here(device_);
        switch (post.kind) {
            case HandleKind::cuda_ipc:
                return unimport_legacy(address);
            case HandleKind::vmm_fd:
                return unimport_vmm(post, address);
            case HandleKind::pool_fd:
                return unimport_from_pool(post);
            default:
                return;
        }
    }

    void *allocate_shared_with_kernels(std::size_t bytes) override {
        const OnDevice here(device_);
        void *memory = nullptr;
        check_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
                   "cudaHostAlloc of {} bytes", bytes);
        std::memset(memory, 0, bytes);
        return memory;
    }

    void release_shared_with_kernels(void *memory) override {
        const OnDevice here(device_);
        check_cuda(cudaFreeHost(memory), "cudaFreeHost");
    }

private:
    /// Why memory cannot be exported at all; empty if it can.
    std::string why_not(const PointerInfo &info) const {
        switch (info.kind) {
            case PointerInfo::Kind::managed:
                return "managed memory cannot be exported";
            case PointerInfo::Kind::host:
            case PointerInfo::Kind::pinned:
                return "host memory is not exported by a communicator on GPUs";
            case PointerInfo::Kind::invalid:
                return "it is not mapped memory";
            case PointerInfo::Kind::device:
                break;
        }
        if (info.pool != nullptr && movers_ == Movers::copies_alone) {
            return "only kernels of the peers may reach memory of a CUDA memory pool, and zero-SM mode has none";
        }
        if (info.legacy_ipc || info.posix_fd) return "";
        if (info.pool != nullptr) {
            return "its CUDA memory pool cannot be exported; create the pool with "
                   "cudaMemHandleTypePosixFileDescriptor, or use cudaMalloc";
        }
        return "it has no exportable handle; give cuMemCreate CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, or use "
               "cudaMalloc";
    }

    const int device_;
    const Movers movers_;
    std::mutex stream_mutex_;  // guards what follows
    // Runs one thing at a time. The legacy default stream would wait for the application's kernels, which may wait for
    // this.
    Stream stream_;
};

}  // namespace

std::unique_ptr<MemoryDomain> make_cuda_domain(Movers movers) {
    driver();  // throws, naming what is missing
    const int device = current_gpu();
    if (device < 0) fail(BATON_ERR_UNSUPPORTED, "this process sees no usable GPU");
    return std::make_unique<CudaDomain>(device, movers);
}

}  // namespace baton::core
