#include "util/failure.hpp"

#include <cstring>
#include <new>
#include <system_error>

namespace baton::core {
namespace {

// Made while the library is loaded, because later there may be no memory for them. Never destroyed: a service thread
// may report them while the process ends.
const Failure *const no_memory = new Failure(BATON_ERR_MEMORY, "out of host memory");
const std::runtime_error *const no_words = new std::runtime_error("there is no memory for saying what has failed");

}  // namespace

Failure Failure::without_words(baton_result code) noexcept { return {code, *no_words}; }

Failure vfailure_of(baton_result code, fmt::string_view format, fmt::format_args args) noexcept {
    return failure_saying(code, [&] { return fmt::vformat(format, args); });
}

Failure as_failure(const std::exception &exception) noexcept {
    if (const auto *failure = dynamic_cast<const Failure *>(&exception)) return *failure;
    if (dynamic_cast<const std::bad_alloc *>(&exception) != nullptr) return *no_memory;
    if (dynamic_cast<const std::system_error *>(&exception) != nullptr)
        return failure_of(BATON_ERR_SYSTEM, "{}", exception.what());
    return failure_of(BATON_ERR_INTERNAL, "{}", exception.what());
}

const char *errno_text(int error_number) noexcept {
    const char *const text = ::strerrordesc_np(error_number);
    return text != nullptr ? text : "unknown error";
}

}  // namespace baton::core
