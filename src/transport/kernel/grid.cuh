#pragma once

/// The order between a kernel and the one before it in its stream (sm_90, programmatic dependent launch).
namespace baton::core {

/// Waits until the kernel before has ended and all that it has written is visible. First in every kernel that launch()
/// starts: it may be launched while the one before still runs, and must touch no memory until then.
__device__ inline void wait_for_kernel_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

/// Lets the kernel after be launched now, into what this one leaves free of the GPU. REQUIRES: this kernel waits for no
/// peer any more, because blocks that sit waiting for it must not keep out those that a peer needs. The first thread of
/// a block to call this speaks for the block, so a barrier comes before.
__device__ inline void let_kernel_after_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace baton::core
