#include "transport/host/remote_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sync/region_lookup.hpp"

namespace baton::core {
namespace {

// Linux moves at most 2 GiB - 4 KiB a call (MAX_RW_COUNT); pieces of 1 GiB stay well below.
constexpr std::uint64_t largest_piece = 1ULL << 30;

template <class Transfer>
bool in_pieces(std::uint64_t bytes, const Transfer &transfer) {
    std::uint64_t moved = 0;
    while (moved < bytes) {
        const ssize_t count = transfer(moved, std::min(bytes - moved, largest_piece));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        moved += static_cast<std::uint64_t>(count);
    }
    return true;
}

}  // namespace

HostRemote HostReach::resolve(const CommView &view, int owner, const BufferRef &buffer) const {
    if (buffer.is_in_region()) {
        return {region_address(view, owner, buffer, {}), 0};
    }
    return {buffer.address(), same_process || owner == view.rank ? 0 : pids[static_cast<std::size_t>(owner)]};
}

bool host_write(const HostRemote &destination, const std::byte *source, std::uint64_t bytes) {
    if (bytes == 0) return true;
    if (destination.is_mapped()) {
        std::memcpy(destination.address, source, bytes);
        return true;
    }
    return in_pieces(bytes, [&](std::uint64_t offset, std::uint64_t piece) {
        const iovec local{const_cast<std::byte *>(source) + offset, piece};
        const iovec remote{destination.address + offset, piece};
        return process_vm_writev(destination.process, &local, 1, &remote, 1, 0);
    });
}

bool host_read(std::byte *destination, const HostRemote &source, std::uint64_t bytes) {
    if (bytes == 0) return true;
    if (source.is_mapped()) {
        std::memcpy(destination, source.address, bytes);
        return true;
    }
    return in_pieces(bytes, [&](std::uint64_t offset, std::uint64_t piece) {
        const iovec local{destination + offset, piece};
        const iovec remote{source.address + offset, piece};
        return process_vm_readv(source.process, &local, 1, &remote, 1, 0);
    });
}

baton_result copy_error() { return errno == ESRCH ? BATON_ERR_PEER_DEAD : BATON_ERR_SYSTEM; }

}  // namespace baton::core
