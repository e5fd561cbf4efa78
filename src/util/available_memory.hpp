#pragma once

#include <cstdint>
#include <string>

namespace baton::core {

/// Where Linux says how much memory there is.
struct MemoryFiles {
    std::string meminfo = "/proc/meminfo";
    std::string groups = "/proc/self/cgroup";
    std::string mount = "/sys/fs/cgroup";  // of the groups, version 2, or of version 1 with its "memory" below
};

/// Bytes that this process can still use before the kernel ends processes for want of memory: of the machine, and of
/// the control groups that it is in (a container's limit, a batch job's), where pages of files, which go first, do
/// not count. SIZE_MAX where nobody says.
std::uint64_t available_memory(const MemoryFiles &files = {});

}  // namespace baton::core
