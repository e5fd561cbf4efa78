// Stands in for domain_cuda.cpp, mapped_domain_cuda.cpp and gpu_pointer_cuda.cpp in a build without the CUDA toolkit.
#include "memory/gpu_pointer.hpp"
#include "memory/memory_domain.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

[[noreturn]] void no_cuda() {
    fail(BATON_ERR_UNSUPPORTED, "this Baton was built without CUDA; build it where nvcc is found");
}

}  // namespace

std::unique_ptr<MemoryDomain> make_cuda_domain(Movers) { no_cuda(); }
std::unique_ptr<MemoryDomain> make_mapped_domain(std::string) { no_cuda(); }

bool classify_on_gpu(const void *, PointerInfo *) noexcept { return false; }

}  // namespace baton::core
