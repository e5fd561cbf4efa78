#include "collectives/tuning_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "util/environment.hpp"
#include "util/failure.hpp"
#include "util/json_field.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// The text of a file. Refuses a pipe, say, whose other end may never come.
std::string read_file(const std::string &path) {
    constexpr std::size_t most = 1 << 20;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (std::filesystem::is_other(status))
        fail(BATON_ERR_ARGUMENT, "tuning file {} cannot be read: it is not a regular file", path);
    errno = 0;
    std::ifstream file(path);
    std::string text(most + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    // A folder opens, but does not read.
    if (!file.is_open() || file.bad()) {
        fail(BATON_ERR_ARGUMENT, "tuning file {} cannot be read: {}", path, errno_text(errno));
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > most)
        fail(BATON_ERR_ARGUMENT, "tuning file {}: larger than {} KiB, as no tuning file is", path, most / 1024);
    return text;
}

std::vector<TuningTable> read_file_in_force(const std::string &path) {
    try {
        return read_tuning_file(path);
    } catch (const Failure &failure) {
        fail(failure.code(), "{} (correct it, or set BATON_TUNING to another file, or to none)", failure.what());
    }
}

}  // namespace

std::optional<std::string> user_tuning_path() {
    const char *const folder = variable("XDG_CONFIG_HOME");
    if (folder != nullptr && folder[0] == '/') return std::string(folder) + "/baton/tuning.json";
    if (const char *home = variable("HOME")) return std::string(home) + "/.config/baton/tuning.json";
    return std::nullopt;
}

std::vector<TuningTable> read_tuning_file(const std::string &path) { return parse_tuning(read_file(path), path); }

std::vector<TuningTable> read_tuning(const char *setting) {
    const std::string given = setting == nullptr ? "" : setting;
    if (given == "none") return {};
    if (is_json_text(given)) return parse_tuning(given, "given as text");
    if (!given.empty()) return read_file_in_force(given);
    const std::optional<std::string> path = user_tuning_path();
    if (!path) return {};
    std::error_code error;
    if (std::filesystem::status(*path, error).type() == std::filesystem::file_type::not_found) return {};
    if (error == std::errc::permission_denied) {
        // In a container, say, whose user is not the owner of its home folder, and need not have such a file.
        log(LogLevel::warn, 0, "no tuning file is used: {} cannot be looked at: {}", *path, error.message());
        return {};
    }
    return read_file_in_force(*path);
}

}  // namespace baton::core
