#pragma once

#include <cstdint>
#include <string>

namespace baton::core {

/// Where Linux says how much memory there is.
struct MemoryFiles {
    std::string meminfo = "/proc/meminfo";
    std::string groups = "/proc/self/cgroup";
    std::string mount = "/sys/fs/cgroup";  // of the groups: version 2, or the folder of version 1's "memory"
};

/// Bytes that this process can still use before the kernel ends processes for want of memory: the least of what the
/// machine has left, and what the control groups have left that it is in (a container's limit, a batch job's). Pages of
/// files do not count in groups, because they go first. SIZE_MAX where nobody says.
std::uint64_t available_memory(const MemoryFiles &files = {});

}  // namespace baton::core
