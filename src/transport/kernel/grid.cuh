#pragma once

/// The order between a kernel and the one before it in its stream (sm_90, programmatic dependent launch).
namespace baton::core {

/// First in every kernel that launch() starts: they are launched while the kernel before may still run, and must touch
/// no memory until it has ended and all that it has written is visible.
__device__ inline void wait_for_kernel_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// The kernel after may be launched now, into what this one has left free of the GPU. Called when this kernel waits for
/// no peer any more: blocks that sit waiting for it must not keep those out that a peer needs. The first thread of a
/// block that calls it speaks for the block, so a barrier comes before.
__device__ inline void let_kernel_after_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace baton::core
