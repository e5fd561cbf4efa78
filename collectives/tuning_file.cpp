#include "collectives/tuning_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "util/environment.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

std::string read_file(const std::string &path) {
    constexpr std::size_t most = 1 << 20;
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
    if (const char *folder = variable("XDG_CONFIG_HOME")) return std::string(folder) + "/baton/tuning.json";
    if (const char *home = variable("HOME")) return std::string(home) + "/.config/baton/tuning.json";
    return std::nullopt;
}

std::vector<TuningTable> read_tuning_file(const std::string &path) { return parse_tuning(read_file(path), path); }

std::vector<TuningTable> read_tuning(const char *setting) {
    const std::string given = setting == nullptr ? "" : setting;
    if (given == "none") return {};
    if (!given.empty() && given[0] == '{') return parse_tuning(given, "given as text");
    if (!given.empty()) return read_file_in_force(given);
    const std::optional<std::string> path = user_tuning_path();
    std::error_code ignored;
    if (!path || !std::filesystem::exists(*path, ignored)) return {};
    return read_file_in_force(*path);
}

}  // namespace baton::core
