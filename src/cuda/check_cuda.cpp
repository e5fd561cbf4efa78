#include "cuda/check.hpp"

#include "cuda/driver.hpp"

namespace baton::core {

void fail_cuda(cudaError_t error, const std::string &what) {
    cudaGetLastError();
    const baton_result code = error == cudaErrorMemoryAllocation ? BATON_ERR_MEMORY : BATON_ERR_CUDA;
    fail(code, "{}: {} ({})", what, cudaGetErrorName(error), cudaGetErrorString(error));
}

void fail_driver(CUresult error, const std::string &what) {
    const char *name = nullptr;
    const char *text = nullptr;
    driver().get_error_name(error, &name);
    driver().get_error_string(error, &text);
    const baton_result code = error == CUDA_ERROR_OUT_OF_MEMORY ? BATON_ERR_MEMORY : BATON_ERR_CUDA;
    fail(code, "{}: {} ({})", what, name != nullptr ? name : "unknown error", text != nullptr ? text : "no text");
}

}  // namespace baton::core
