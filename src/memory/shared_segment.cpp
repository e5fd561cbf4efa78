#include "memory/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "util/failure.hpp"
#include "util/random_name.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {
namespace {

/// How one rank's part of a collective step went; all ranks exchange these, so that all of them fail together.
struct Outcome {
    baton_result code = BATON_SUCCESS;
    char text[232] = "";
    char name[64] = "";
};

void agree(const std::vector<Outcome> &outcomes) {
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
        if (outcomes[r].code != BATON_SUCCESS)
            fail(outcomes[r].code, "shared segment: rank {}: {}", r, outcomes[r].text);
    }
}

template <class Step>
Outcome attempt(Step &&step) {
    Outcome outcome;
    try {
        step(outcome);
    } catch (const Failure &failure) {
        outcome.code = failure.code();
        std::strncpy(outcome.text, failure.what(), sizeof(outcome.text) - 1);
    }
    return outcome;
}

std::shared_ptr<void> map(int fd, std::size_t bytes) {
    const int flags = fd >= 0 ? MAP_SHARED | MAP_POPULATE : MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    void *address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (address == MAP_FAILED) {
        fail(errno == ENOMEM ? BATON_ERR_MEMORY : BATON_ERR_SYSTEM, "mmap of {} bytes: {}", bytes, errno_text(errno));
    }
    return {address, [bytes](void *start) { ::munmap(start, bytes); }};
}

UniqueFd create(const std::string &name, std::size_t bytes) {
    UniqueFd fd(::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    if (!fd) fail(BATON_ERR_SYSTEM, "shm_open({}): {}", name, errno_text(errno));
    if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
        const int error = errno;
        ::shm_unlink(name.c_str());
        fail(BATON_ERR_MEMORY, "cannot size {} to {} bytes: {}", name, bytes, errno_text(error));
    }
    return fd;
}

UniqueFd open_checked(const std::string &name, std::size_t bytes) {
    UniqueFd fd(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0));
    if (!fd) {
        fail(BATON_ERR_SYSTEM, "shm_open({}): {} (all ranks need the same /dev/shm; containers: --ipc=host)", name,
             errno_text(errno));
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
    int error = 0;
    do {
        error = ::posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    if (error == 0) return;
    struct statvfs space = {};
    const bool known = ::fstatvfs(fd, &space) == 0;
    fail(BATON_ERR_MEMORY, "{} bytes of /dev/shm are needed, {} are free: {} (containers: --shm-size)", total,
         known ? fmt::format("{}", space.f_bavail * space.f_frsize) : "an unknown number", errno_text(error));
}

}  // namespace

SharedSegment::SharedSegment(Bootstrap &bootstrap, std::size_t bytes_per_rank) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_per_rank_ = std::max(page, (bytes_per_rank + page - 1) / page * page);
    total_bytes_ = bytes_per_rank_ * static_cast<std::size_t>(bootstrap.size());
    const bool creator = bootstrap.rank() == 0;

    if (bootstrap.same_process()) {
        // One mapping for all threads: they share its addresses, and a race detector sees that they do.
        const Outcome made = attempt([&](Outcome &) {
            if (creator) mapping_ = map(-1, total_bytes_);
        });
        agree(bootstrap.allgather(made));
        const auto *first = bootstrap.allgather<const std::shared_ptr<void> *>(&mapping_)[0];
        if (!creator) mapping_ = *first;
        base_ = static_cast<std::byte *>(mapping_.get());
        bootstrap.barrier();  // rank 0's mapping_ has been copied by everybody
        return;
    }

    UniqueFd fd;
    const std::vector<Outcome> created = bootstrap.allgather(attempt([&](Outcome &outcome) {
        if (!creator) return;
        const std::string name = random_name("/baton-");
        std::strncpy(outcome.name, name.c_str(), sizeof(outcome.name) - 1);
        fd = create(name, total_bytes_);
    }));
    agree(created);
    const std::vector<Outcome> mapped = bootstrap.allgather(attempt([&](Outcome &) {
        if (!creator) fd = open_checked(created[0].name, total_bytes_);
        reserve(fd.get(), bytes_per_rank_ * static_cast<std::size_t>(bootstrap.rank()), bytes_per_rank_, total_bytes_);
    }));
    if (creator) ::shm_unlink(created[0].name);
    agree(mapped);
    // Only now, when all pages exist, may they be touched.
    const Outcome last = attempt([&](Outcome &) { mapping_ = map(fd.get(), total_bytes_); });
    agree(bootstrap.allgather(last));
    base_ = static_cast<std::byte *>(mapping_.get());
}

}  // namespace baton::core
