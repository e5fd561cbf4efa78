#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sync/comm_view.hpp"

namespace baton::core {

/// Memory of this or another rank as a host thread can reach it: mapped here, or by the system's single copy. Without
/// an initialiser it holds nothing yet: {} is none.
struct HostRemote {
    std::byte *address;
    std::int32_t process;  // 0: mapped in this process; else the pid for process_vm_readv/writev

    bool is_mapped() const { return process == 0; }
    HostRemote operator+(std::uint64_t bytes) const { return {address + bytes, process}; }
};

/// How ranks of a host communicator reach each other's ordinary memory, agreed by all ranks at creation.
struct HostReach {
    std::vector<std::int32_t> pids;  // by rank
    bool same_process = false;       // ranks are threads: every address is valid
    /// Who only sends copies as well as those who receive. Not where ranks are more than processors: one that has lost
    /// its own in the middle of a copy would hold up the other.
    bool ranks_help = true;

    /// A buffer that a peer's arrival names.
    HostRemote resolve(const CommView &view, int owner, const BufferRef &buffer) const;
};

/// Copies; throw nothing, return false (with errno) if the other process is gone or refuses.
bool host_write(const HostRemote &destination, const std::byte *source, std::uint64_t bytes);
bool host_read(std::byte *destination, const HostRemote &source, std::uint64_t bytes);
/// What the errno that they leave says: the other process has gone (ESRCH), or one of the two buffers cannot be read or
/// written, or the system refuses (EPERM).
baton_result copy_error();

}  // namespace baton::core
