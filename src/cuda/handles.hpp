#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "cuda/check.hpp"

/// Streams and events that end with their owner.
namespace baton::core {

struct DestroyStream {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

/// Makes a stream of the current device that waits for no other (cudaStreamNonBlocking). Throws as check_cuda() does.
inline Stream make_stream() {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return Stream(stream);
}
/// Makes an event that only orders: it takes no times. Throws likewise.
inline Event make_event() {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
    return Event(event);
}

}  // namespace baton::core
