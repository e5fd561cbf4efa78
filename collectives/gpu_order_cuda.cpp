#include "collectives/gpu_order.hpp"

#include "cuda/check.hpp"

namespace baton::core {

GpuOrder::GpuOrder() {
    check_cuda(cudaEventCreateWithFlags(&last_, cudaEventDisableTiming), "creating the order event");
}

GpuOrder::~GpuOrder() { cudaEventDestroy(last_); }

GpuOrder::Place GpuOrder::place_of(cudaStream_t stream) {
    Place place;
    check_cuda(cudaStreamGetId(stream, &place.stream), "cudaStreamGetId");
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check_cuda(cudaStreamGetCaptureInfo(stream, &status, &place.capture, nullptr, nullptr, nullptr, nullptr),
               "cudaStreamGetCaptureInfo");
    if (status != cudaStreamCaptureStatusActive) place.capture = 0;
    return place;
}

void GpuOrder::before(cudaStream_t stream) {
    const Place place = place_of(stream);
    if (any_ && !(place == place_)) {
        const unsigned flags = place.capture != 0 ? cudaEventWaitExternal : cudaEventWaitDefault;
        check_cuda(cudaStreamWaitEvent(stream, last_, flags), "ordering a stream after the last operation");
    }
    place_ = place;
    any_ = true;
}

void GpuOrder::after(cudaStream_t stream) {
    const unsigned flags = place_.capture != 0 ? cudaEventRecordExternal : cudaEventRecordDefault;
    check_cuda(cudaEventRecordWithFlags(last_, stream, flags), "recording the order event");
}

bool GpuOrder::idle() const {
    const cudaError_t state = cudaEventQuery(last_);
    if (state == cudaErrorNotReady) cudaGetLastError();
    return state == cudaSuccess;
}

void GpuOrder::drain() const { cudaEventSynchronize(last_); }

}  // namespace baton::core
