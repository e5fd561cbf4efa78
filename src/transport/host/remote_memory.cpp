#include "transport/host/remote_memory.hpp"

#include <dirent.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "sync/region_lookup.hpp"
#include "util/process_watch.hpp"

namespace baton::core {
namespace {

// Linux moves at most 2 GiB - 4 KiB per call (MAX_RW_COUNT); pieces of 1 GiB stay well below.
constexpr std::uint64_t largest_piece = 1ULL << 30;

/// The numbers of a process's threads other than the first. A process's own number is its first thread's, and the
/// system copies by it only until that thread has left (as by pthread_exit in main()). The number of any other thread
/// works as well.
class OtherThreads {
public:
    /// Returns the next number, whose thread may have left by now. Returns 0 after the last, with errno ESRCH, or if
    /// the threads cannot be listed, with the reason in errno.
    std::int32_t next_of(std::int32_t process) {
        if (!folder_) {
            char path[32];
            std::snprintf(path, sizeof(path), "/proc/%d/task", process);
            folder_.reset(::opendir(path));
            const int reason = errno;
            if (!folder_ && !ProcessWatch(process, 0, ProcessWatch::Means::polling).ended()) {
                errno = reason;
                return 0;
            }
        }
        while (const dirent *entry = folder_ ? ::readdir(folder_.get()) : nullptr) {
            std::int32_t thread = 0;  // stays 0 for "." and ".."
            std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
            if (thread != 0 && thread != process) return thread;
        }
        errno = ESRCH;
        return 0;
    }

private:
    struct Close {
        void operator()(DIR *folder) const { ::closedir(folder); }
    };
    std::unique_ptr<DIR, Close> folder_;
};

template <class Transfer>
bool in_pieces(std::int32_t process, std::uint64_t bytes, const Transfer &transfer) {
    OtherThreads others;
    std::int32_t thread = process;
    std::uint64_t moved = 0;
    while (moved < bytes) {
        const ssize_t count = transfer(thread, moved, std::min(bytes - moved, largest_piece));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == ESRCH && (thread = others.next_of(process)) != 0) continue;
        if (count <= 0) return false;
        moved += static_cast<std::uint64_t>(count);
    }
    return true;
}

}  // namespace

HostRemote HostReach::resolve(const CommView &view, int owner, const BufferRef &buffer) const {
    if (buffer.is_in_region()) {
        return {region_address(view, owner, buffer, cached_region(view, owner, buffer)), 0};
    }
    return {buffer.address(), same_process || owner == view.rank ? 0 : pids[static_cast<std::size_t>(owner)]};
}

bool host_write(const HostRemote &destination, const std::byte *source, std::uint64_t bytes) {
    if (bytes == 0) return true;
    if (destination.is_mapped()) {
        std::memcpy(destination.address, source, bytes);
        return true;
    }
    return in_pieces(destination.process, bytes, [&](pid_t thread, std::uint64_t offset, std::uint64_t piece) {
        const iovec local{const_cast<std::byte *>(source) + offset, piece};
        const iovec remote{destination.address + offset, piece};
        return process_vm_writev(thread, &local, 1, &remote, 1, 0);
    });
}

bool host_read(std::byte *destination, const HostRemote &source, std::uint64_t bytes) {
    if (bytes == 0) return true;
    if (source.is_mapped()) {
        std::memcpy(destination, source.address, bytes);
        return true;
    }
    return in_pieces(source.process, bytes, [&](pid_t thread, std::uint64_t offset, std::uint64_t piece) {
        const iovec local{destination + offset, piece};
        const iovec remote{source.address + offset, piece};
        return process_vm_readv(thread, &local, 1, &remote, 1, 0);
    });
}

baton_result copy_error() { return errno == ESRCH ? BATON_ERR_PEER_DEAD : BATON_ERR_SYSTEM; }

}  // namespace baton::core
