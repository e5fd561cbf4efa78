#include "memory/cuda_handles.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "cuda/check.hpp"
#include "cuda/driver.hpp"
#include "memory/ipc_mappings.hpp"
#include "memory/pool_mappings.hpp"

namespace baton::core {
namespace {

constexpr CUmemAllocationHandleType by_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

CUmemAccessDesc read_and_write(int device) {
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return access;
}

void *fd_as_handle(int fd) { return reinterpret_cast<void *>(static_cast<std::intptr_t>(fd)); }

/// The calls that PoolMappings counts.
class PoolDriver final : public PoolMappings::Driver {
public:
    void *import_pool(int fd, int device) override {
        CUmemoryPool pool = nullptr;
        check_driver(driver().pool_import_from_shareable_handle(&pool, fd_as_handle(fd), by_fd, 0),
                     "cuMemPoolImportFromShareableHandle");
        const CUmemAccessDesc access = read_and_write(device);
        const CUresult result = driver().pool_set_access(pool, &access, 1);
        if (result != CUDA_SUCCESS) driver().pool_destroy(pool);
        check_driver(result, "cuMemPoolSetAccess");
        return pool;
    }
    void *import_pointer(void *pool, const RegionPost &piece) override {
        CUmemPoolPtrExportData data = {};
        std::memcpy(&data, piece.opaque, sizeof(data));
        CUdeviceptr address = 0;
        check_driver(driver().pool_import_pointer(&address, static_cast<CUmemoryPool>(pool), &data),
                     "cuMemPoolImportPointer");
        return reinterpret_cast<void *>(address);
    }
    void free_pointer(void *address) override {
        check_driver(driver().mem_free(reinterpret_cast<CUdeviceptr>(address)), "cuMemFree of imported pool memory");
    }
    void destroy_pool(void *pool) override {
        check_driver(driver().pool_destroy(static_cast<CUmemoryPool>(pool)), "cuMemPoolDestroy");
    }
};

// Neither is ever destroyed: a communicator that is still there when the process ends has a service thread, which maps
// what peers post.
IpcMappings &ipc_mappings() {
    static auto *const mappings = new IpcMappings;
    return *mappings;
}

PoolMappings &pool_mappings() {
    static auto *const mappings = new PoolMappings(*new PoolDriver);
    return *mappings;
}

}  // namespace

void export_legacy(const PointerInfo &info, RegionPost *post) {
    cudaIpcMemHandle_t handle;
    check_cuda(cudaIpcGetMemHandle(&handle, reinterpret_cast<void *>(info.base)), "cudaIpcGetMemHandle");
    static_assert(sizeof(handle) <= sizeof(post->opaque));
    std::memcpy(post->opaque, &handle, sizeof(handle));
    post->process = process_number();
    post->kind = HandleKind::cuda_ipc;
}

void *import_legacy(const RegionPost &post, int device) {
    cudaIpcMemHandle_t handle;
    std::memcpy(&handle, post.opaque, sizeof(handle));
    cudaError_t result = cudaSuccess;
    void *const address = ipc_mappings().open({device, post.process, post.base}, post.size, [&]() -> void * {
        void *opened = nullptr;
        result = cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess);
        if (result == cudaErrorAlreadyMapped) {
            cudaGetLastError();
            return nullptr;
        }
        check_cuda(result, "cudaIpcOpenMemHandle");
        return opened;
    });
    if (address == nullptr) check_cuda(result, "cudaIpcOpenMemHandle");
    return address;
}

void unimport_legacy(void *address) {
    ipc_mappings().close(address,
                         [](void *mapped) { check_cuda(cudaIpcCloseMemHandle(mapped), "cudaIpcCloseMemHandle"); });
}

UniqueFd export_vmm(const PointerInfo &info, RegionPost *post) {
    CUmemGenericAllocationHandle allocation = 0;
    check_driver(driver().mem_retain_allocation_handle(&allocation, reinterpret_cast<void *>(info.base)),
                 "cuMemRetainAllocationHandle");
    int fd = -1;
    const CUresult result = driver().mem_export_to_shareable_handle(&fd, allocation, by_fd, 0);
    driver().mem_release(allocation);
    check_driver(result, "cuMemExportToShareableHandle");
    post->kind = HandleKind::vmm_fd;
    return UniqueFd(fd);
}

void *import_vmm(const RegionPost &post, int fd, int device) {
    CUmemGenericAllocationHandle allocation = 0;
    check_driver(driver().mem_import_from_shareable_handle(&allocation, fd_as_handle(fd), by_fd),
                 "cuMemImportFromShareableHandle");
    CUdeviceptr address = 0;
    CUresult result = driver().mem_address_reserve(&address, post.size, 0, 0, 0);
    const char *what = "cuMemAddressReserve";
    if (result == CUDA_SUCCESS) {
        what = "cuMemMap";
        result = driver().mem_map(address, post.size, 0, allocation, 0);
        if (result == CUDA_SUCCESS) {
            what = "cuMemSetAccess";
            const CUmemAccessDesc access = read_and_write(device);
            result = driver().mem_set_access(address, post.size, &access, 1);
            if (result != CUDA_SUCCESS) driver().mem_unmap(address, post.size);
        }
        if (result != CUDA_SUCCESS) driver().mem_address_free(address, post.size);
    }
    driver().mem_release(allocation);  // the mapping keeps it alive
    check_driver(result, "{} of {} bytes", what, post.size);
    return reinterpret_cast<void *>(address);
}

void unimport_vmm(const RegionPost &post, void *address) {
    const auto start = reinterpret_cast<CUdeviceptr>(address);
    check_driver(driver().mem_unmap(start, post.size), "cuMemUnmap");
    check_driver(driver().mem_address_free(start, post.size), "cuMemAddressFree");
}

UniqueFd export_from_pool(const PointerInfo &info, RegionPost *post) {
    const auto pool = static_cast<CUmemoryPool>(info.pool);
    int fd = -1;
    check_driver(driver().pool_export_to_shareable_handle(&fd, pool, by_fd, 0), "cuMemPoolExportToShareableHandle");
    UniqueFd held(fd);
    CUmemPoolPtrExportData data = {};
    check_driver(driver().pool_export_pointer(&data, info.base), "cuMemPoolExportPointer");
    static_assert(sizeof(data) <= sizeof(post->opaque));
    std::memcpy(post->opaque, &data, sizeof(data));
    post->process = process_number();
    post->allocation = info.buffer_id;
    post->kind = HandleKind::pool_fd;
    return held;
}

void *import_from_pool(const RegionPost &post, int fd, int device) { return pool_mappings().open(post, fd, device); }

void unimport_from_pool(const RegionPost &post) { pool_mappings().close(post); }

}  // namespace baton::core
