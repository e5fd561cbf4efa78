#include "cuda/driver.hpp"

#include <cuda_runtime_api.h>

#include <string>

#include "util/failure.hpp"

namespace baton::core {
namespace {

/// All functions exist since CUDA 12.0, in the versions that cuda.h declares.
constexpr unsigned int driver_api_version = 12000;

struct Loaded {
    Driver driver;
    std::string error;

    Loaded() {
#define BATON_FIND(member, symbol) find(driver.member, #symbol);
        BATON_DRIVER_FUNCTIONS(BATON_FIND)
#undef BATON_FIND
        if (error.empty() && driver.init(0) != CUDA_SUCCESS) error = "the CUDA driver does not start (cuInit failed)";
    }

    template <class Function>
    void find(Function &function, const char *symbol) {
        if (!error.empty()) return;
        void *address = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
        const cudaError_t result =
            cudaGetDriverEntryPointByVersion(symbol, &address, driver_api_version, cudaEnableDefault, &found);
        if (result != cudaSuccess) {
            cudaGetLastError();  // the caller of a later CUDA call must not find it
            error = fmt::format("no usable CUDA driver: {}", cudaGetErrorString(result));
        } else if (found != cudaDriverEntryPointSuccess || address == nullptr) {
            error = fmt::format("the CUDA driver is too old: it lacks {} (CUDA 12.0 or newer is needed)", symbol);
        } else {
            function = reinterpret_cast<Function>(address);
        }
    }
};

const Loaded &loaded() {
    // Never destroyed: service threads may still call while the process ends.
    static const auto *const once = new Loaded;
    return *once;
}

}  // namespace

const Driver &driver() {
    if (!loaded().error.empty()) throw Failure(BATON_ERR_UNSUPPORTED, loaded().error);
    return loaded().driver;
}

bool has_driver() noexcept {
    try {
        return loaded().error.empty();
    } catch (...) {
        return false;
    }
}

}  // namespace baton::core
