#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sync/comm_view.hpp"

namespace baton::core {

/// Memory of this or another rank as a host thread reaches it: mapped here, or by the system's single copy. {} means
/// none; without an initialiser the members are indeterminate.
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
    /// Ranks that only send copy as well, not just those that receive. False with more ranks than processors: a rank
    /// that has lost its processor in the middle of a copy would hold up the other.
    bool ranks_help = true;

    /// Where the buffer is that `owner`'s arrival names.
    HostRemote resolve(const CommView &view, int owner, const BufferRef &buffer) const;
};

/// Copy `bytes`. Throw nothing; return false, with errno, if the other process is gone or the copy is refused.
bool host_write(const HostRemote &destination, const std::byte *source, std::uint64_t bytes);
bool host_read(std::byte *destination, const HostRemote &source, std::uint64_t bytes);
/// The error for the errno that they leave: BATON_ERR_PEER_DEAD if the other process has gone (ESRCH), else
/// BATON_ERR_SYSTEM: a buffer cannot be read or written, or the system refuses (EPERM).
baton_result copy_error();

}  // namespace baton::core
