#include "collectives/gpu_order.hpp"

#include "cuda/check.hpp"
#include "cuda/guard.hpp"

namespace baton::core {

GpuOrder::GpuOrder() {
    check_cuda(cudaEventCreateWithFlags(&last_, cudaEventDisableTiming), "creating the order event");
    check_cuda(cudaEventCreateWithFlags(&last_in_capture_, cudaEventDisableTiming), "creating the order event");
}

GpuOrder::~GpuOrder() {
    cudaEventDestroy(last_);
    cudaEventDestroy(last_in_capture_);
}

GpuOrder::Place GpuOrder::place_of(cudaStream_t stream) {
    Place place;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamGetCaptureInfo(stream, &status, &place.capture, nullptr, nullptr, nullptr, nullptr),
               "cudaStreamGetCaptureInfo");
    if (status == cudaStreamCaptureStatusActive) {
        place.stream = reinterpret_cast<unsigned long long>(stream);  // cudaStreamGetId refuses while capturing
        return place;
    }
    place.capture = 0;
    check_cuda(cudaStreamGetId(stream, &place.stream), "cudaStreamGetId");
    return place;
}

void GpuOrder::before(cudaStream_t stream) {
    const Place place = place_of(stream);
    if (any_ && !(place == place_)) {
        const bool same_capture = place.capture != 0 && place.capture == place_.capture;
        const unsigned flags = place.capture != 0 && !same_capture ? cudaEventWaitExternal : cudaEventWaitDefault;
        check_cuda(cudaStreamWaitEvent(stream, same_capture ? last_in_capture_ : last_, flags),
                   "ordering a stream after the last operation");
    }
    place_ = place;
    any_ = true;
    captured_ = captured_ || place.capture != 0;
}

void GpuOrder::after(cudaStream_t stream) {
    const unsigned flags = place_.capture != 0 ? cudaEventRecordExternal : cudaEventRecordDefault;
    check_cuda(cudaEventRecordWithFlags(last_, stream, flags), "recording the order event");
    if (place_.capture != 0) check_cuda(cudaEventRecord(last_in_capture_, stream), "recording the order event");
}

bool GpuOrder::idle() const {
    if (captured_) return false;
    const RelaxedCaptureGuard relaxed;  // a query is forbidden while this thread captures, and would end the capture
    const cudaError_t state = cudaEventQuery(last_);
    if (state == cudaErrorNotReady) cudaGetLastError();
    return state == cudaSuccess;
}

void GpuOrder::drain() const {
    const RelaxedCaptureGuard relaxed;
    cudaEventSynchronize(last_);
}

}  // namespace baton::core
