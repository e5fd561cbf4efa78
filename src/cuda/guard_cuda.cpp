#include "cuda/guard.hpp"

#include <map>
#include <mutex>

#include "cuda/check.hpp"
#include "cuda/driver.hpp"

namespace baton::core {
namespace {

/// Retained once per device and never released: the runtime uses the same contexts until the process ends.
CUcontext primary_context(int device) {
    static std::mutex mutex;
    static auto *const contexts = new std::map<int, CUcontext>;
    const std::lock_guard lock(mutex);
    CUcontext &context = (*contexts)[device];
    if (context == nullptr) {
        check_driver(driver().primary_ctx_retain(&context, device), "cuDevicePrimaryCtxRetain for device {}", device);
    }
    return context;
}

}  // namespace

DeviceGuard::DeviceGuard(int device) {
    // Kept from this thread's last guard: calls come here for the same device again and again.
    thread_local int last_device = -1;
    thread_local CUcontext context = nullptr;
    if (device != last_device) {
        context = primary_context(device);
        last_device = device;
    }
    if (driver().ctx_get_current(&before_) == CUDA_SUCCESS && before_ == context) return;
    check_driver(driver().ctx_push_current(context), "cuCtxPushCurrent for device {}", device);
    pushed_ = true;
}

bool DeviceGuard::caller_has_context_of_its_own() const {
    if (!pushed_ || before_ == nullptr) return false;
    CUdevice device = 0;
    check_driver(driver().ctx_push_current(before_), "cuCtxPushCurrent");
    const CUresult found = driver().ctx_get_device(&device);
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
    check_driver(found, "cuCtxGetDevice");
    unsigned int flags = 0;
    int has_primary = 0;
    check_driver(driver().primary_ctx_get_state(device, &flags, &has_primary), "cuDevicePrimaryCtxGetState");
    return has_primary == 0 || before_ != primary_context(device);
}

DeviceGuard::~DeviceGuard() {
    if (!pushed_) return;
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
}

}  // namespace baton::core
