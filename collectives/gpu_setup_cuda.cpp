#include "collectives/gpu_setup.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>

#include "collectives/kernels.hpp"
#include "cuda/check.hpp"
#include "cuda/driver.hpp"
#include "cuda/guard.hpp"
#include "cuda/handles.hpp"
#include "transport/kernel/launch.hpp"
#include "util/gpu_uuid.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// A Control and its device: the thread that releases it may never have chosen a device, and CUDA would make a context
/// on device 0 for it.
struct PinnedControl {
    Control control;
    int device;
};

}  // namespace

std::uint64_t probe_peers(const CommView &view, int device, const std::function<void()> &barrier) {
    constexpr std::uint64_t value = 0x4261746F6E000000;
    const RelaxedCaptureGuard relaxed;
    std::optional<Stream> stream;
    std::unique_ptr<Control, void (*)(Control *)> result(nullptr, release_control);
    std::exception_ptr failure;
    // A rank that fails comes to the barriers all the same: the others are in them.
    const auto unless_failed = [&failure](const auto &step) {
        if (failure != nullptr) return;
        try {
            step();
        } catch (const std::exception &) {
            failure = std::current_exception();
        }
    };
    const auto probe = [&](bool verify) {
        launch_probe(view, value, verify, verify ? &result->recorded : nullptr, stream->get());
        check_cuda(cudaStreamSynchronize(stream->get()), "probing the peers' memory");
    };
    unless_failed([&] {
        stream = make_stream();
        result.reset(allocate_control());
        probe(false);
    });
    barrier();
    unless_failed([&] { probe(true); });
    barrier();
    // The credit words start at 0: each rank clears its own, after everybody has looked at them.
    unless_failed([&] {
        clear_device(device, view.own().credit(0, 0), sizeof(SemaphoreWords) * static_cast<std::size_t>(view.size));
    });
    barrier();
    if (failure != nullptr) std::rethrow_exception(failure);
    return result->recorded;
}

void preload_kernels() {
    const RelaxedCaptureGuard relaxed;
    for (const void *kernel : all_kernels()) {
        cudaFuncAttributes attributes;
        check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
    }
}

Control *allocate_control() {
    const RelaxedCaptureGuard relaxed;
    int device = 0;
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    void *memory = nullptr;
    check_cuda(cudaHostAlloc(&memory, sizeof(PinnedControl), cudaHostAllocPortable | cudaHostAllocMapped),
               "allocating pinned memory");
    std::memset(memory, 0, sizeof(PinnedControl));
    auto *const pinned = static_cast<PinnedControl *>(memory);
    pinned->device = device;
    return &pinned->control;
}

void release_control(Control *control) {
    auto *const pinned = reinterpret_cast<PinnedControl *>(control);  // its first member
    try {
        const OnDevice here(pinned->device);
        check_cuda(cudaFreeHost(pinned), "cudaFreeHost");
    } catch (const std::exception &failure) {
        log(LogLevel::warn, -1, "pinned memory was not freed: {}", failure.what());
    }
}

DeviceIdentity device_identity(int device) {
    cudaDeviceProp properties;
    check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return {properties.name, gpu_uuid_text(properties.uuid.bytes), properties.major, properties.multiProcessorCount};
}

int first_out_of_reach(int device, const std::vector<std::string> &uuids) {
    int devices = 0;
    check_cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    for (int other = 0; other < devices; ++other) {
        // Not by cudaGetDeviceProperties: it takes milliseconds.
        CUuuid uuid = {};
        int access = 0;
        if (other == device || driver().device_get_uuid(&uuid, other) != CUDA_SUCCESS) continue;
        const auto found = std::find(uuids.begin(), uuids.end(), gpu_uuid_text(uuid.bytes));
        if (found == uuids.end()) continue;
        check_cuda(cudaDeviceCanAccessPeer(&access, device, other), "cudaDeviceCanAccessPeer");
        if (access == 0) return static_cast<int>(found - uuids.begin());
    }
    return -1;
}

void clear_device(int device, void *memory, std::size_t bytes) {
    const OnDevice here(device);
    const Stream stream = make_stream();
    check_cuda(cudaMemsetAsync(memory, 0, bytes, stream.get()), "cudaMemsetAsync");
    check_cuda(cudaStreamSynchronize(stream.get()), "clearing device memory");
}

}  // namespace baton::core
