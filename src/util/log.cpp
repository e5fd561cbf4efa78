#include "util/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "util/environment.hpp"

namespace baton::core {
namespace {

constexpr std::string_view level_names[] = {"error", "warn", "info", "debug"};

LogLevel read_level() {
    const char *text = variable("BATON_LOG");
    if (text == nullptr) return LogLevel::warn;
    for (int i = 0; i < 4; ++i) {
        if (level_names[i] == text) return static_cast<LogLevel>(i);
    }
    fmt::print(stderr, "baton warn: BATON_LOG={} is not error, warn, info or debug; taking warn\n", text);
    return LogLevel::warn;
}

}  // namespace

LogLevel log_level() {
    static const LogLevel level = read_level();
    return level;
}

void log_line(LogLevel level, int rank, std::string_view text) {
    const std::string line = fmt::format("baton[{}] {}: {}\n", rank, level_names[static_cast<int>(level)], text);
    // One write per line, so that the lines of ranks that share a terminal do not mix.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace baton::core
