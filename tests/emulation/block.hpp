#pragma once

#include <climits>
#include <cstdint>
#include <functional>

#include "emulation/sanitizer.hpp"

/// Thread blocks of kernels on a machine without a GPU: the kernels' own source, compiled for the host (cuda.hpp), runs
/// here. A block is a thread of the host, and its threads are fibers of that. One of them runs until it comes to a
/// barrier or to a poll that has failed; then the next one is drawn. So:
/// - a wait for what another thread does only behind a barrier that the waiting one has not come to does not end;
/// - threads that part at a barrier are reported;
/// - ThreadSanitizer, for which each fiber is a thread, sees what no barrier orders.
/// Not shown: how a GPU orders memory, speed, and what needs more registers or blocks than there are.
namespace baton::emulation {

struct Index {
    unsigned x = 0;
};

/// Runs `blocks` blocks of `threads` threads, and returns when all have ended. They start in the order of their
/// indices, `resident` of them side by side, another when one has ended. `seed` decides the order of the threads. Ends
/// the process, with a message, if threads of a block wait for each other at different barriers. `after`, if there is
/// one, is called when a GPU may launch the next kernel: when all blocks have said so, by the thread that does last. (A
/// GPU counts blocks that end without saying so as well; here they never count.)
void run_grid(unsigned blocks, unsigned threads, std::uint64_t seed, const std::function<void()> &kernel,
              unsigned resident = UINT_MAX, const std::function<void()> &after = {});

/// The rank whose kernels the calling thread runs from now on. A rank's kernels are held to what kernels promise of the
/// memory that they touch: the functions below end the process, with a message, if one breaks its promise.
inline constexpr int nobody = -1;
void be_rank(int rank);
int this_rank();

/// How many threads of kernels a process may run at once, all ranks' grids together.
#if defined(BATON_TSAN)
inline constexpr unsigned most_threads = 7680;  // it ends the process at 8128, and the host has threads as well
#else
inline constexpr unsigned most_threads = UINT_MAX;
#endif

/// Which threads of a kernel a barrier is for; a warp has 32.
enum class Gather {
    block,
    warp
};
struct Votes {
    bool any;
    bool all;
};
Votes barrier(Gather who, bool vote);
/// Gives another thread a turn.
void yield();

// What a thread of a kernel does with memory that others see. On threads of the host these do nothing.

/// wait_for_kernel_before(): what it touches from now on no other kernel uses.
void may_touch();
/// let_kernel_after_launch(), for its block, which may wait for nobody any more.
void let_next_launch();
void touches();
/// A plain store. A release must follow before the memory's owner may be told of it.
void stores(const void *at);
/// A release, of all that its block has stored.
void releases();
/// Stores a word that tells its owner that reads are over. Its block must have stored nothing to that rank since its
/// last release.
void tells_without_release(const void *word);

}  // namespace baton::emulation

extern constinit thread_local baton::emulation::Index threadIdx;
extern constinit thread_local baton::emulation::Index blockIdx;
extern constinit thread_local baton::emulation::Index blockDim;
extern constinit thread_local baton::emulation::Index gridDim;
