#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "baton/baton.h"

namespace baton::core {

/// The one exception of the library's inside: an error code and the message that the caller will read. The C API turns
/// it into a baton_result and this thread's baton_last_error(); it never crosses the API. A copy shares the message: it
/// takes no memory and does not throw.
class Failure : public std::runtime_error {
public:
    Failure(baton_result code, const std::string &message) : std::runtime_error(message), code_(code) {}
    baton_result code() const { return code_; }

private:
    baton_result code_;
};

template <class... Args>
[[noreturn]] void fail(baton_result code, fmt::format_string<Args...> format, Args &&...args) {
    throw Failure(code, fmt::format(format, std::forward<Args>(args)...));
}

/// What any exception is to the caller: itself, no memory (std::bad_alloc), or a defect. Where there is no memory for
/// its words, that is what it says.
Failure as_failure(const std::exception &exception) noexcept;

/// The text of an errno value, thread-safe.
std::string errno_text(int error_number);

}  // namespace baton::core
