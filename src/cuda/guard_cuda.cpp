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
    check_driver(driver().ctx_push_current(primary_context(device)), "cuCtxPushCurrent for device {}", device);
}

DeviceGuard::~DeviceGuard() {
    CUcontext popped = nullptr;
    driver().ctx_pop_current(&popped);
}

}  // namespace baton::core
