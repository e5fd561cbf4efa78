#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "baton/baton.h"

namespace baton::core {

/// The one exception inside the library: an error code and the message that the caller will read. The C API turns it
/// into a baton_result and this thread's baton_last_error(); it never crosses the API. A copy shares the message: it
/// takes no memory and does not throw.
class Failure : public std::runtime_error {
public:
    Failure(baton_result code, const std::string &message) : std::runtime_error(message), code_(code) {}
    /// For when there is no memory for a message; says so.
    static Failure without_words(baton_result code) noexcept;

    baton_result code() const { return code_; }

private:
    Failure(baton_result code, const std::runtime_error &words) noexcept : std::runtime_error(words), code_(code) {}

    baton_result code_;
};

Failure vfailure_of(baton_result code, fmt::string_view format, fmt::format_args args) noexcept;

/// A failure with these words, or without_words() if there is no memory for them: the code is known in any case.
template <class... Args>
Failure failure_of(baton_result code, fmt::format_string<Args...> format, Args &&...args) noexcept {
    return vfailure_of(code, format, fmt::make_format_args(args...));
}

template <class... Args>
[[noreturn]] void fail(baton_result code, fmt::format_string<Args...> format, Args &&...args) {
    throw failure_of(code, format, std::forward<Args>(args)...);
}

/// A failure whose message a function builds, or without_words() if there is no memory for that.
template <class Words>
Failure failure_saying(baton_result code, const Words &words) noexcept {
    try {
        return {code, words()};
    } catch (const std::exception &) {
        return Failure::without_words(code);
    }
}

/// An exception as the caller sees it: itself (Failure), no memory (bad_alloc), the system (system_error), or a defect.
Failure as_failure(const std::exception &exception) noexcept;

/// The text of an errno value. Needs no memory.
const char *errno_text(int error_number) noexcept;

}  // namespace baton::core
