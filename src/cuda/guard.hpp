#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace baton::core {

/// Makes a device current for the calling thread, unless it is already, and restores what was before. Pushes the
/// device's primary context: switching back with cudaSetDevice() would create a context on device 0 for threads that
/// never chose a device.
class DeviceGuard {
public:
    explicit DeviceGuard(int device); /* throws Failure */
    ~DeviceGuard();
    DeviceGuard(const DeviceGuard &) = delete;
    DeviceGuard &operator=(const DeviceGuard &) = delete;

    /// Whether the thread was in a context that is no device's primary one (cuCtxCreate).
    bool caller_has_context_of_its_own() const;

private:
    bool pushed_ = false;
    CUcontext before_ = nullptr;  // where pushed_
};

/// Lets the calling thread make calls that stream capture in global mode (in any thread) forbids, such as cudaMalloc.
/// They are Baton's own and no part of the application's graph.
class RelaxedCaptureGuard {
public:
    RelaxedCaptureGuard() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    ~RelaxedCaptureGuard() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    RelaxedCaptureGuard(const RelaxedCaptureGuard &) = delete;
    RelaxedCaptureGuard &operator=(const RelaxedCaptureGuard &) = delete;

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // after the exchange: the mode before
};

/// Both guards, for what makes, frees or fills memory, streams and the like.
struct OnDevice {
    explicit OnDevice(int device) : current(device) {}
    DeviceGuard current;
    RelaxedCaptureGuard relaxed;
};

}  // namespace baton::core
