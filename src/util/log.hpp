#pragma once

#include <fmt/format.h>

#include <exception>
#include <string_view>

namespace baton::core {

/// BATON_LOG=error|warn|info|debug, default warn, read once. Lines go to stderr: "baton[rank] level: text". Whoever
/// first decides that something is an error logs it (at info: the caller gets the message anyway); callers don't log it
/// again. A line that cannot be written, or for which there is no memory, is lost without an error, because destructors
/// and Baton's own threads log as well.
enum class LogLevel : int {
    error = 0,
    warn = 1,
    info = 2,
    debug = 3
};

LogLevel log_level();
void log_line(LogLevel level, int rank, std::string_view text);

template <class... Args>
void log(LogLevel level, int rank, fmt::format_string<Args...> format, Args &&...args) noexcept try {
    if (level <= log_level()) log_line(level, rank, fmt::format(format, std::forward<Args>(args)...));
} catch (const std::exception &) {
}

}  // namespace baton::core
