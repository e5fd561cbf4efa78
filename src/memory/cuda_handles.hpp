#pragma once

#include "memory/memory_domain.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {

/// The three ways in which device memory reaches another process, each as export, import and undo. The device must be
/// current. Exports throw Failure with the reason; imports too. None of the exports and imports waits for running
/// kernels; undoing does (legacy).

void export_legacy(const PointerInfo &info, RegionPost *post);
void *import_legacy(const RegionPost &post, int device);
void unimport_legacy(void *address);

UniqueFd export_vmm(const PointerInfo &info, RegionPost *post);
void *import_vmm(const RegionPost &post, int fd, int device);
void unimport_vmm(const RegionPost &post, void *address);

/// Memory of pools travels in two parts: the pool by descriptor, which is returned, and the pointer as data.
UniqueFd export_from_pool(const PointerInfo &info, RegionPost *post);
void *import_from_pool(const RegionPost &post, int fd, int device);
void unimport_from_pool(const RegionPost &post);

}  // namespace baton::core
