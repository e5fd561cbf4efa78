#include "support/stream.hpp"

#include "support/buffer.hpp"
#if BATON_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace baton::test {

Stream::Stream(baton_comm_t comm, Kind kind) : on_gpu_(test::on_gpu(comm)), kind_(kind) {
    if (kind_ == Kind::null) return;
    if (on_gpu_) {
#if BATON_WITH_CUDA
        cudaStream_t stream = nullptr;
        EXPECT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        handle_ = stream;
#endif
    } else {
        baton_host_stream_t stream = nullptr;
        EXPECT_OK(baton_host_stream_create(&stream));
        handle_ = stream;
    }
}

Stream::~Stream() {
    if (handle_ == nullptr) return;
    if (on_gpu_) {
#if BATON_WITH_CUDA
        EXPECT_EQ(cudaSuccess, cudaStreamDestroy(static_cast<cudaStream_t>(handle_)));
#endif
    } else {
        // What a broken communicator left in the queue is for synchronize() to report.
        EXPECT_NE(BATON_ERR_ARGUMENT, baton_host_stream_destroy(static_cast<baton_host_stream_t>(handle_)));
    }
}

void Stream::synchronize() {
    if (on_gpu_) {
#if BATON_WITH_CUDA
        EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(static_cast<cudaStream_t>(handle_)));
#endif
    } else if (handle_ != nullptr) {
        EXPECT_OK(baton_host_stream_synchronize(static_cast<baton_host_stream_t>(handle_)));
    }
}

}  // namespace baton::test
