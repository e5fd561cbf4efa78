#pragma once

#include <cuda.h>

namespace baton::core {

/// Functions of the CUDA driver that Baton calls, as (member, symbol). Found at run time, so that nothing links libcuda
/// and one binary starts on machines without a driver.
#define BATON_DRIVER_FUNCTIONS(FUNCTION)                                            \
    FUNCTION(init, cuInit)                                                          \
    FUNCTION(get_error_name, cuGetErrorName)                                        \
    FUNCTION(get_error_string, cuGetErrorString)                                    \
    FUNCTION(device_get_uuid, cuDeviceGetUuid)                                      \
    FUNCTION(primary_ctx_retain, cuDevicePrimaryCtxRetain)                          \
    FUNCTION(primary_ctx_get_state, cuDevicePrimaryCtxGetState)                     \
    FUNCTION(ctx_get_current, cuCtxGetCurrent)                                      \
    FUNCTION(ctx_get_device, cuCtxGetDevice)                                        \
    FUNCTION(ctx_push_current, cuCtxPushCurrent)                                    \
    FUNCTION(ctx_pop_current, cuCtxPopCurrent)                                      \
    FUNCTION(pointer_get_attributes, cuPointerGetAttributes)                        \
    FUNCTION(mem_get_address_range, cuMemGetAddressRange)                           \
    FUNCTION(mem_free, cuMemFree)                                                   \
    FUNCTION(mem_retain_allocation_handle, cuMemRetainAllocationHandle)             \
    FUNCTION(mem_export_to_shareable_handle, cuMemExportToShareableHandle)          \
    FUNCTION(mem_import_from_shareable_handle, cuMemImportFromShareableHandle)      \
    FUNCTION(mem_address_reserve, cuMemAddressReserve)                              \
    FUNCTION(mem_address_free, cuMemAddressFree)                                    \
    FUNCTION(mem_map, cuMemMap)                                                     \
    FUNCTION(mem_unmap, cuMemUnmap)                                                 \
    FUNCTION(mem_set_access, cuMemSetAccess)                                        \
    FUNCTION(mem_release, cuMemRelease)                                             \
    FUNCTION(pool_export_to_shareable_handle, cuMemPoolExportToShareableHandle)     \
    FUNCTION(pool_import_from_shareable_handle, cuMemPoolImportFromShareableHandle) \
    FUNCTION(pool_export_pointer, cuMemPoolExportPointer)                           \
    FUNCTION(pool_import_pointer, cuMemPoolImportPointer)                           \
    FUNCTION(pool_set_access, cuMemPoolSetAccess)                                   \
    FUNCTION(pool_destroy, cuMemPoolDestroy)                                        \
    FUNCTION(stream_batch_mem_op, cuStreamBatchMemOp)

struct Driver {
    // cuda.h has renamed the symbol to the version that this build's declarations belong to; decltype follows it.
#define BATON_DECLARE(member, symbol) decltype(&::symbol) member = nullptr;
    BATON_DRIVER_FUNCTIONS(BATON_DECLARE)
#undef BATON_DECLARE
};

/// Finds the driver at the first call. Throws BATON_ERR_UNSUPPORTED, naming what is missing, if there is none or it is
/// too old.
const Driver &driver();

/// Whether driver() would succeed. Never throws.
bool has_driver() noexcept;

}  // namespace baton::core
