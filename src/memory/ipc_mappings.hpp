#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

namespace baton::core {

/// The memory that a mapping shows: the owner's process_number() and address, and the device that reaches it.
struct IpcPlace {
    int device = -1;
    std::uint64_t process = 0;
    std::uint64_t base = 0;
    auto operator<=>(const IpcPlace &) const = default;
};

/// The mappings of legacy IPC handles in this process, shared by its communicators. The driver maps blocks of 2 MiB,
/// which hold several allocations, and knows an allocation by its block and its offset there. Measured with CUDA 13.0:
/// - Opening what is mapped already gives the same address and counts. So does opening an allocation that has taken the
///   place of a freed one of the same size.
/// - Opening an allocation that has taken the place of one of another size fails with "already mapped". The old mapping
///   shows it, and the driver lets copies and memsets reach as far as the size that was opened.
/// So an address is closed when its last user closes it, as often as it was opened. It is not closed in between,
/// because compute-sanitizer takes the first close for the end of the mapping. Thread-safe.
class IpcMappings {
public:
    /// Opens the handle and returns its address, or null for "already mapped". Called with the lock held; must not wait
    /// for kernels.
    using Open = std::function<void *()>;
    using Close = std::function<void(void *)>;

    /// Returns the address of the `size` bytes at `place`, whose handle `open` opens. Null if they are mapped already,
    /// but not by this function, or with a smaller size. If it throws, the driver has opened nothing.
    void *open(const IpcPlace &place, std::uint64_t size, const Open &open);

    /// To be called once for each open(). `close` may wait for kernels, so it is called without the lock: other threads
    /// can open meanwhile.
    void close(void *address, const Close &close);

private:
    struct Mapping {
        IpcPlace place;
        std::uint64_t size = 0;  // when it was opened first
        int users = 0;
        int opened = 0;
    };
    using Mappings = std::map<void *, Mapping>;  // by address
    using Newest = std::map<IpcPlace, void *>;

    std::mutex mutex_;
    Mappings mappings_;
    Newest newest_;  // opened last: a block may have replaced a freed one at the same address
};

/// Returns a number that no other process has: process ids repeat between containers.
std::uint64_t process_number();

}  // namespace baton::core
