#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "memory/memory_domain.hpp"

namespace baton::core {

/// The three ways in which device memory reaches another process, each as export, import and undo. The device must be
/// current. Exports throw Failure with the reason; imports too. None of the exports and imports waits for running
/// kernels; undoing does (legacy, pool). File descriptors stay the caller's.

void export_legacy(const PointerInfo &info, RegionPost *post);
void *import_legacy(const RegionPost &post, int device);
void unimport_legacy(void *address);

/// Returns the descriptor.
int export_vmm(const PointerInfo &info, RegionPost *post);
void *import_vmm(const RegionPost &post, int fd, int device);
void unimport_vmm(const RegionPost &post, void *address);

/// Memory of pools is exported in two parts: the pool by descriptor, which a process imports once per owner and pool,
/// and the pointer as data. Thread-safe.
class PoolHandles {
public:
    int export_pointer(const PointerInfo &info, RegionPost *post); /* returns the pool's descriptor */
    void *import_pointer(int owner, const RegionPost &post, int fd, int device);
    static void unimport_pointer(void *address);
    void destroy_imported() noexcept; /* after all their pointers */

private:
    std::mutex mutex_;
    std::map<void *, std::uint64_t> exported_;  // CUmemoryPool -> the number that peers know it by
    std::map<std::pair<int, std::uint64_t>, CUmemoryPool> imported_;  // (owner, number)
};

}  // namespace baton::core
