#include "transport/copy_engine/stream_words.hpp"

#include <cuda.h>

#include <vector>

#include "cuda/check.hpp"
#include "cuda/driver.hpp"
#include "util/log.hpp"

namespace baton::core {

StreamWords::StreamWords(const IdleWords &words) : words_(words) {
    check_cuda(cudaHostRegister(words_.memory(), words_.bytes(), cudaHostRegisterPortable | cudaHostRegisterMapped),
               "registering {} bytes of shared memory", words_.bytes());
    void *address = nullptr;
    const cudaError_t result = cudaHostGetDevicePointer(&address, words_.memory(), 0);
    if (result != cudaSuccess) cudaHostUnregister(words_.memory());
    check_cuda(result, "cudaHostGetDevicePointer");
    on_device_ = static_cast<std::byte *>(address);
}

StreamWords::~StreamWords() {
    const cudaError_t result = cudaHostUnregister(words_.memory());
    if (result == cudaSuccess) return;
    cudaGetLastError();
    log(LogLevel::warn, -1, "cudaHostUnregister of {}: {}", static_cast<const void *>(words_.memory()),
        cudaGetErrorString(result));
}

void StreamWords::enqueue_phase(int phase, cudaStream_t stream) const {
    std::vector<CUstreamBatchMemOpParams> batch;
    for (const IdleWords::Operation &operation : words_.operations(phase)) {
        const std::ptrdiff_t offset = reinterpret_cast<std::byte *>(operation.word) - words_.memory();
        const auto address = reinterpret_cast<CUdeviceptr>(on_device_ + offset);
        CUstreamBatchMemOpParams &next = batch.emplace_back();
        if (operation.kind == IdleWords::Operation::Kind::write) {
            next.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
            next.writeValue.address = address;
            next.writeValue.value64 = operation.value;
            next.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
        } else {
            next.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
            next.waitValue.address = address;
            next.waitValue.value64 = operation.value;
            next.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
        }
    }
    check_driver(driver().stream_batch_mem_op(stream, static_cast<unsigned>(batch.size()), batch.data(), 0),
                 "cuStreamBatchMemOp");
}

}  // namespace baton::core
