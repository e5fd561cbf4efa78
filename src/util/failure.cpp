#include "util/failure.hpp"

#include <new>
#include <system_error>

namespace baton::core {

Failure as_failure(const std::exception &exception) {
    if (const auto *failure = dynamic_cast<const Failure *>(&exception)) return *failure;
    if (dynamic_cast<const std::bad_alloc *>(&exception) != nullptr) return {BATON_ERR_MEMORY, "out of host memory"};
    if (dynamic_cast<const std::system_error *>(&exception) != nullptr) return {BATON_ERR_SYSTEM, exception.what()};
    return {BATON_ERR_INTERNAL, exception.what()};
}

std::string errno_text(int error_number) { return std::generic_category().message(error_number); }

}  // namespace baton::core
