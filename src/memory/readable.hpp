#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace baton::core {

/// Whether the host may load from an address, found out without loading. The kernel reads the set (8 bytes) before it
/// looks at the invalid first argument, so EFAULT or EINVAL tells. Unlike mincore() this refuses address space that is
/// only reserved, as CUDA does with the space of its unified addresses.
inline bool readable(const void *pointer) {
    const auto aligned = reinterpret_cast<std::uintptr_t>(pointer) & ~std::uintptr_t{7};
    if (aligned == 0) return false;  // a null set would not be read
    constexpr int no_such_operation = -1;
    return ::syscall(SYS_rt_sigprocmask, no_such_operation, aligned, nullptr, 8) == 0 || errno != EFAULT;
}

}  // namespace baton::core
