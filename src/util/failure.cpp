#include "util/failure.hpp"

#include <new>
#include <system_error>

namespace baton::core {
namespace {

// Made while the library is loaded, because later there may be no memory for it. Never destroyed: a service thread may
// report it while the process ends.
const Failure *const no_memory = new Failure(BATON_ERR_MEMORY, "out of host memory");

}  // namespace

Failure as_failure(const std::exception &exception) noexcept try {
    if (const auto *failure = dynamic_cast<const Failure *>(&exception)) return *failure;
    if (dynamic_cast<const std::bad_alloc *>(&exception) != nullptr) return *no_memory;
    if (dynamic_cast<const std::system_error *>(&exception) != nullptr) return {BATON_ERR_SYSTEM, exception.what()};
    return {BATON_ERR_INTERNAL, exception.what()};
} catch (const std::bad_alloc &) {
    return *no_memory;
}

std::string errno_text(int error_number) { return std::generic_category().message(error_number); }

}  // namespace baton::core
