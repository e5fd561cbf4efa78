#include "atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <system_error>

#include "world.hpp"

namespace baton::bench {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string &path, int error) {
    bench::cannot_write(path, std::generic_category().message(error));
}

/// Where a chain of links ends, even at a file that does not exist: weakly_canonical() would return such a link itself.
fs::path end_of_links(fs::path name, std::error_code &error) {
    constexpr int most = 40;  // the kernel's limit
    std::error_code none;
    for (int links = 0; !error && fs::is_symlink(fs::symlink_status(name, none)); ++links) {
        if (links == most) {
            error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
        } else {
            name = name.parent_path() / fs::read_symlink(name, error);
        }
    }
    return name;
}

/// The same name for every spelling of a path, also if there is no file yet. A pipe keeps the name given, which may be
/// its only one.
std::string one_name(const std::string &path) {
    std::error_code error;
    if (fs::is_other(fs::status(path, error))) {
        return path;
    }
    fs::path name = fs::absolute(path, error);
    if (!error) {
        name = end_of_links(name, error);
    }
    if (!error) {
        name = fs::weakly_canonical(name, error);
    }
    if (error) {
        cannot_write(path, error.value());
    }
    return name.string();
}

/// Whether both exist and are the same file. std::filesystem::equivalent() does not compare pipes.
bool are_one(const std::string &path, const std::string &other) {
    struct stat one {};
    struct stat two {};
    return stat(path.c_str(), &one) == 0 && stat(other.c_str(), &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/// Gives `file` the group, the permissions and the owner of the file at `path` that it replaces, as far as it may and
/// the file system has any. The group's permissions only if it got the group.
void take_permissions_of(const std::string &path, int file) {
    struct stat replaced {};
    if (stat(path.c_str(), &replaced) != 0 || !S_ISREG(replaced.st_mode)) {
        return;
    }
    constexpr auto as_it_is = static_cast<uid_t>(-1);
    const bool of_group = fchown(file, as_it_is, replaced.st_gid) == 0;
    [[maybe_unused]] const int changed = fchmod(file, replaced.st_mode & (of_group ? 0777 : 0707));
    // Last, since who gives a file away may no longer change it. If we may not give it away, it stays ours.
    [[maybe_unused]] const int given = fchown(file, replaced.st_uid, as_it_is);
}

bool put(std::FILE *file, const std::string &text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

void cannot_write(const std::string &path, const std::string &reason) {
    throw Error(fmt::format("cannot write {}: {}", path, reason), 2);
}

AtomicFile::AtomicFile(const std::string &path) : path_(one_name(path)) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
        cannot_write(path, EISDIR);
    }
    printed_ = are_one(path, "/dev/stdout");
    if (printed_ || fs::is_other(status)) {
        path_ = draft_ = path;
        return;
    }
    const fs::path folder = fs::path(path_).parent_path();
    if (!fs::is_directory(folder, error)) {
        const bool is_typed = !fs::is_symlink(fs::symlink_status(path, error));
        cannot_write(path,
                     fmt::format("there is no folder {}", (is_typed ? fs::path(path).parent_path() : folder).string()));
    }
    // The name does not contain the file's own, which may be as long as names can be.
    draft_ = (folder / fmt::format(".baton.{}.{:x}", getpid(), std::hash<std::string>{}(path_))).string();
    // Tried, because no mode tells what a file system allows. Removed at once, because the measurements that follow may
    // be interrupted. If there is such a file, an earlier process with the same number left it.
    unlink(draft_.c_str());
    const int file = open(draft_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) {
        cannot_write(path, errno);
    }
    close(file);
    unlink(draft_.c_str());
}

bool AtomicFile::is(const std::string &path) const { return one_name(path_) == one_name(path) || are_one(path_, path); }

AtomicFile::~AtomicFile() {
    if (drafted_) {
        unlink(draft_.c_str());
    }
}

void AtomicFile::draft(const std::string &text) {
    if (printed_) {
        held_ = text;
        return;
    }
    const bool regular = draft_ != path_;
    std::FILE *file = std::fopen(draft_.c_str(), regular ? "wxe" : "we");
    if (file == nullptr) {
        cannot_write(path_, errno);
    }
    drafted_ = regular;
    if (regular) {
        take_permissions_of(path_, fileno(file));
    }
    // The data reach the disk before the name does: else a crash could leave an empty file under it.
    const bool written = put(file, text) && (!regular || fsync(fileno(file)) == 0);
    const int error = errno;
    if (std::fclose(file) != 0 || !written) {
        cannot_write(path_, written ? errno : error);
    }
}

void AtomicFile::publish() {
    if (printed_ && !put(stdout, held_)) {
        cannot_write(path_, errno);
    }
    if (drafted_ && std::rename(draft_.c_str(), path_.c_str()) != 0) {
        cannot_write(path_, errno);
    }
    drafted_ = false;
}

}  // namespace baton::bench
