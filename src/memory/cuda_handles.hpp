#pragma once

#include "memory/memory_domain.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {

/// The three ways in which device memory reaches another process, each as export, import and undo. REQUIRES: the device
/// is current. Exports and imports throw Failure with the reason, and do not wait for running kernels.
/// unimport_legacy() does wait for them. Imports leave the descriptor `fd` to the caller, who may close it afterwards.

void export_legacy(const PointerInfo &info, RegionPost *post);
void *import_legacy(const RegionPost &post, int device);
void unimport_legacy(void *address);

UniqueFd export_vmm(const PointerInfo &info, RegionPost *post);
void *import_vmm(const RegionPost &post, int fd, int device);
void unimport_vmm(const RegionPost &post, void *address);

/// Memory of a pool travels in two parts: the pool as the descriptor that is returned, the pointer as data in the post.
UniqueFd export_from_pool(const PointerInfo &info, RegionPost *post);
void *import_from_pool(const RegionPost &post, int fd, int device);
void unimport_from_pool(const RegionPost &post);

}  // namespace baton::core
