#include "memory/gpu_pointer.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "cuda/driver.hpp"
#include "cuda/guard.hpp"
#include "memory/gpu_pointer_query.hpp"

namespace baton::core {
namespace {

/// Narrows `info` to one mapping: an address reservation (VMM, pools) may hold several, and a region is one of them.
/// Pools hand out allocations, so a buffer lies in one; chunks of VMM are mapped side by side to be used as one.
void narrow_to_mapping(CUdeviceptr address, PointerInfo *info) {
    CUdeviceptr base = 0;
    std::size_t size = 0;
    if (driver().mem_get_address_range(&base, &size, address) == CUDA_SUCCESS) {
        info->base = base;
        info->size = size;
        info->chunk = info->pool == nullptr;
    }
}

}  // namespace

CUresult query_gpu_pointer(const void *pointer, PointerInfo *info) {
    *info = PointerInfo{};
    CUmemorytype type = static_cast<CUmemorytype>(0);
    int device = -1;
    CUdeviceptr base = 0;
    std::size_t size = 0;
    unsigned long long buffer_id = 0;
    int legacy_ipc = 0;
    unsigned long long handle_types = 0;
    CUmemoryPool pool = nullptr;
    int managed = 0;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                        CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
                                        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                        CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&type, &device, &base, &size, &buffer_id, &legacy_ipc, &handle_types, &pool, &managed};
    const auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const CUresult result = driver().pointer_get_attributes(std::size(attributes), attributes, values, address);
    if (result != CUDA_SUCCESS) return result;

    if (managed != 0) {
        info->kind = PointerInfo::Kind::managed;
    } else if (type == CU_MEMORYTYPE_DEVICE) {
        info->kind = PointerInfo::Kind::device;
    } else {
        return CUDA_SUCCESS;
    }
    info->device = device;
    info->base = base;
    info->size = size;
    info->buffer_id = buffer_id;
    info->legacy_ipc = managed == 0 && legacy_ipc != 0;
    info->posix_fd = managed == 0 && (handle_types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0;
    info->pool = pool;
    if (managed == 0 && !info->legacy_ipc) narrow_to_mapping(address, info);
    return CUDA_SUCCESS;
}

bool classify_on_gpu(const void *pointer, PointerInfo *info) noexcept try {
    if (!has_driver()) return false;
    PointerInfo found;
    CUresult result = query_gpu_pointer(pointer, &found);
    int devices = 0;
    if (result != CUDA_SUCCESS && cudaGetDeviceCount(&devices) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    // This thread may have no context, though another one has allocated the memory. Existing contexts are borrowed;
    // none is made.
    for (int device = 0; device < devices && result != CUDA_SUCCESS; ++device) {
        unsigned int flags = 0;
        int active = 0;
        if (driver().primary_ctx_get_state(device, &flags, &active) != CUDA_SUCCESS || active == 0) continue;
        const DeviceGuard guard(device);
        result = query_gpu_pointer(pointer, &found);
    }
    if (result != CUDA_SUCCESS || found.kind == PointerInfo::Kind::invalid) return false;
    *info = found;
    return true;
} catch (...) {
    return false;
}

}  // namespace baton::core
