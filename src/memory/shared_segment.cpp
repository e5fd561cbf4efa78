#include "memory/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "bootstrap/agree.hpp"
#include "util/divide.hpp"
#include "util/failure.hpp"
#include "util/file_growth.hpp"
#include "util/random.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {
namespace {

std::shared_ptr<void> map(int fd, std::size_t bytes) {
    const int flags = fd >= 0 ? MAP_SHARED | MAP_POPULATE : MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    void *address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (address == MAP_FAILED) {
        fail(errno == ENOMEM ? BATON_ERR_MEMORY : BATON_ERR_SYSTEM, "mmap of {} bytes: {}", bytes, errno_text(errno));
    }
    return {address, [bytes](void *start) { ::munmap(start, bytes); }};
}

/// The segment's name, at its creator. Unlinked with this object at the latest, however creation ends, unless the
/// process is killed meanwhile.
struct Name {
    ~Name() { unlink(); }
    void unlink() {
        if (!text.empty()) ::shm_unlink(text.c_str());
        text.clear();
    }
    std::string text;
};

UniqueFd create(Name &name, std::size_t bytes) {
    const std::string text = random_name("/baton-");
    UniqueFd fd(::shm_open(text.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    if (!fd) fail(BATON_ERR_SYSTEM, "shm_open({}): {}", text, errno_text(errno));
    name.text = text;
    const FileGrowthGuard no_signal;
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
        fail(BATON_ERR_MEMORY, "cannot size {} to {} bytes: {}", text, bytes, errno_text(errno));
    return fd;
}

UniqueFd open_checked(const std::string &name, std::size_t bytes) {
    UniqueFd fd(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
    if (!fd) {
        const char *const remedy = errno == ENOENT ? " (all ranks need the same /dev/shm; containers: --ipc=host)" : "";
        fail(BATON_ERR_SYSTEM, "shm_open({}): {}{}", name, errno_text(errno), remedy);
    }
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) fail(BATON_ERR_SYSTEM, "fstat({}): {}", name, errno_text(errno));
    if (status.st_uid != ::geteuid() || status.st_size != static_cast<off_t>(bytes)) {
        fail(BATON_ERR_SYSTEM, "{} belongs to user {} and has {} bytes; expected user {} and {} bytes", name,
             status.st_uid, status.st_size, ::geteuid(), bytes);
    }
    return fd;
}

/// Allocates the pages of one slice now. Each rank does its own, so that they come from its NUMA node.
void reserve(int fd, std::size_t offset, std::size_t bytes, std::size_t total) {
    const int error = allocate_pages(fd, offset, bytes);
    if (error == 0) return;
    struct statvfs space = {};
    const bool known = ::fstatvfs(fd, &space) == 0;
    fail(BATON_ERR_MEMORY, "{} bytes of /dev/shm are needed, {} are free: {} (containers: --shm-size)", total,
         known ? fmt::format("{}", space.f_bavail * space.f_frsize) : "an unknown number", errno_text(error));
}

}  // namespace

SharedSegment::SharedSegment(Bootstrap &bootstrap, std::size_t bytes_per_rank) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_per_rank_ = std::max(page, round_up(bytes_per_rank, page));
    total_bytes_ = bytes_per_rank_ * static_cast<std::size_t>(bootstrap.size());
    const bool creator = bootstrap.rank() == 0;

    if (bootstrap.same_process()) {
        // One mapping for all threads: they share its addresses, and a race detector sees that they do.
        agree(bootstrap, [&] {
            if (creator) mapping_ = map(-1, total_bytes_);
        });
        const auto *first = bootstrap.allgather<const std::shared_ptr<void> *>(&mapping_)[0];
        if (!creator) mapping_ = *first;
        base_ = static_cast<std::byte *>(mapping_.get());
        bootstrap.barrier();  // rank 0's mapping_ has been copied by everybody
        return;
    }

    UniqueFd fd;
    Name name;
    agree(bootstrap, [&] {
        if (creator) fd = create(name, total_bytes_);
    });
    const std::string shared = bootstrap.allgather_strings(name.text)[0];
    agree(bootstrap, [&] {
        if (!creator) fd = open_checked(shared, total_bytes_);
        reserve(fd.get(), bytes_per_rank_ * static_cast<std::size_t>(bootstrap.rank()), bytes_per_rank_, total_bytes_);
    });
    name.unlink();
    // Only now, when all pages exist, may they be touched.
    agree(bootstrap, [&] { mapping_ = map(fd.get(), total_bytes_); });
    base_ = static_cast<std::byte *>(mapping_.get());
}

}  // namespace baton::core
