#include "tune/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "collectives/tuning_file.hpp"
#include "environment.hpp"
#include "util/failure.hpp"

namespace baton::bench::tune {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string &path, int error) {
    throw Error(fmt::format("cannot write {}: {}", path, core::errno_text(error)));
}

}  // namespace

std::string file_to_write(const std::string &asked_for) {
    if (!asked_for.empty()) {
        return asked_for;
    }
    const char *setting = std::getenv("BATON_TUNING");
    const std::string given = setting == nullptr ? "" : setting;
    if (!given.empty() && given != "none" && given[0] != '{') {
        return given;
    }
    const auto path = core::user_tuning_path();
    if (!path) {
        throw Error("there is no home folder to write to: give --file");
    }
    return *path;
}

std::vector<core::TuningTable> tables_of(const std::string &path) {
    return fs::exists(path) ? core::read_tuning(path.c_str()) : std::vector<core::TuningTable>();
}

std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured) {
    for (core::TuningTable &table : tables) {
        if (table.key == measured.key) {
            for (const auto &[operation, rows] : measured.operations) {
                table.operations[operation] = rows;
            }
            return tables;
        }
    }
    tables.push_back(measured);
    return tables;
}

AtomicFile::AtomicFile(const std::string &path) : path_(fs::weakly_canonical(path).string()) {
    std::error_code error;
    fs::create_directories(fs::path(path_).parent_path(), error);
    draft_ = fmt::format("{}.{}", path_, getpid());
    const int file = open(draft_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) {
        cannot_write(path, errno);
    }
    close(file);
}

AtomicFile::~AtomicFile() {
    if (!draft_.empty()) {
        unlink(draft_.c_str());
    }
}

void AtomicFile::write(const std::string &text) {
    std::FILE *file = std::fopen(draft_.c_str(), "w");
    if (file == nullptr) {
        cannot_write(path_, errno);
    }
    // Before the name, the data: else a crash could leave an empty file under it.
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0 &&
                         fsync(fileno(file)) == 0;
    const int error = errno;
    if (std::fclose(file) != 0 || !written || std::rename(draft_.c_str(), path_.c_str()) != 0) {
        cannot_write(path_, written ? errno : error);
    }
    draft_.clear();
}

}  // namespace baton::bench::tune
