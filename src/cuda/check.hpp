#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "util/failure.hpp"

namespace baton::core {

/// Throw Failure(BATON_ERR_CUDA, "what: name (text)"), or the same with BATON_ERR_MEMORY where the device has no more.
[[noreturn]] void fail_cuda(cudaError_t error, const std::string &what);
[[noreturn]] void fail_driver(CUresult error, const std::string &what);

/// Returns if `error` is success. Else clears the runtime's per-thread error, so that the application does not find it
/// there, and throws. `what` names the call and its purpose; it is formatted only then.
template <class... Args>
void check_cuda(cudaError_t error, fmt::format_string<Args...> what, Args &&...args) {
    if (error != cudaSuccess) fail_cuda(error, fmt::format(what, std::forward<Args>(args)...));
}

template <class... Args>
void check_driver(CUresult error, fmt::format_string<Args...> what, Args &&...args) {
    if (error != CUDA_SUCCESS) fail_driver(error, fmt::format(what, std::forward<Args>(args)...));
}

}  // namespace baton::core
