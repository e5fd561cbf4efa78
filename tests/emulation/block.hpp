#pragma once

#include <climits>
#include <cstdint>
#include <functional>

#include "emulation/sanitizer.hpp"

/// Thread blocks of kernels on a machine without a GPU: the kernels' own source, compiled for the host (cuda.hpp), runs
/// here. A block is a thread of the host, its threads are fibers of that. One of them runs until it comes to a barrier
/// or to a poll that has failed; who is next is drawn. So a wait that only another thread of the block could end shows
/// as one that lasts, threads that part at a barrier are told, and ThreadSanitizer, for which each fiber is a thread,
/// sees what no barrier orders. What it does not show: how a GPU orders memory, speed, and what needs more registers or
/// blocks than there are.
namespace baton::emulation {

struct Index {
    unsigned x = 0;
};

/// Runs `blocks` blocks of `threads` threads, and returns when all have ended. They start in the order of their
/// indices, `resident` of them side by side, another when one has ended. The order of the threads follows from `seed`.
/// Ends the process, with a message, where threads of a block wait for each other at different barriers.
/// `after`, if there is one, is called where a GPU may launch the kernel after this one: when all blocks have said so,
/// by the thread that does last. (A GPU counts blocks that end without saying so as well; here they never count.)
void run_grid(unsigned blocks, unsigned threads, std::uint64_t seed, const std::function<void()> &kernel,
              unsigned resident = UINT_MAX, const std::function<void()> &after = {});

/// Whose kernels the calling thread runs from now on. Those of a rank are held to what kernels promise of the memory
/// that they touch: the functions below end the process, with a message, where they do not keep it.
inline constexpr int nobody = -1;
void be_rank(int rank);
int this_rank();

/// Threads of kernels that a process may run at once, all ranks' grids together.
#if defined(BATON_TSAN)
inline constexpr unsigned most_threads = 7680;  // it ends the process at 8128, and the host has threads as well
#else
inline constexpr unsigned most_threads = UINT_MAX;
#endif

/// For threads of a kernel; a warp's are 32.
enum class Gather {
    block,
    warp
};
struct Votes {
    bool any;
    bool all;
};
Votes barrier(Gather who, bool vote);
/// Another thread's turn.
void yield();

// What a thread of a kernel does with memory that others see; nothing on threads of the host.

/// wait_for_kernel_before(): what it touches from now on is no other kernel's.
void may_touch();
/// let_kernel_after_launch(), for its block: which may wait for nobody any more.
void let_next_launch();
void touches();
/// A plain store, which a release has to follow before the memory's owner may be told of it.
void stores(const void *at);
/// For all that its block has stored.
void releases();
/// A word that tells its owner that reads are over. Its block has stored nothing to that rank since its last release.
void tells_without_release(const void *word);

}  // namespace baton::emulation

extern constinit thread_local baton::emulation::Index threadIdx;
extern constinit thread_local baton::emulation::Index blockIdx;
extern constinit thread_local baton::emulation::Index blockDim;
extern constinit thread_local baton::emulation::Index gridDim;
