#include "emulation/block.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "emulation/context.hpp"
#include "emulation/owners.hpp"
#include "emulation/sanitizer.hpp"
#include "emulation/shared_memory.hpp"

#if defined(BATON_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(BATON_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

constinit thread_local baton::emulation::Index threadIdx;
constinit thread_local baton::emulation::Index blockIdx;
constinit thread_local baton::emulation::Index blockDim;
constinit thread_local baton::emulation::Index gridDim;

namespace baton::emulation {
namespace {

// The scheduler's own words are shared by fibers that nothing orders as far as ThreadSanitizer knows: only barriers are
// to order them. What touches the words is BATON_UNSEEN.

constexpr std::size_t stack_bytes = 256 << 10;
constexpr unsigned warp_threads = 32;

/// Tells the sanitizers of switches from one stack to another.
class Stack {
public:
    BATON_UNSEEN void describe([[maybe_unused]] void *bottom, [[maybe_unused]] std::size_t bytes) {
        bottom_ = bottom;
        bytes_ = bytes;
    }
#if defined(BATON_TSAN)
    void create() { thread_ = __tsan_create_fiber(0); }
    void adopt() { thread_ = __tsan_get_current_fiber(); }
    void destroy() { __tsan_destroy_fiber(thread_); }
    BATON_UNSEEN void leave_for(const Stack &next) {
        __tsan_switch_to_fiber(next.thread_, __tsan_switch_to_fiber_no_sync);
    }
    BATON_UNSEEN void end_for(const Stack &next) { leave_for(next); }
    BATON_UNSEEN void arrive() {}
#else
    void create() {}
    void adopt() {}
    void destroy() {}
#if defined(BATON_ASAN)
    void leave_for(const Stack &next) { __sanitizer_start_switch_fiber(&fake_, next.bottom_, next.bytes_); }
    /// Leaves for good: frees what AddressSanitizer keeps beside the stack.
    void end_for(const Stack &next) {
        fake_ = nullptr;
        __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.bytes_);
    }
    void arrive() { __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr); }
#else
    void leave_for(const Stack & /*next*/) {}
    void end_for(const Stack & /*next*/) {}
    void arrive() {}
#endif
#endif

private:
    void *bottom_ = nullptr;
    std::size_t bytes_ = 0;
    [[maybe_unused]] void *fake_ = nullptr;
    [[maybe_unused]] void *thread_ = nullptr;
};

BATON_UNSEEN void released([[maybe_unused]] void *here) {
#if defined(BATON_TSAN)
    __tsan_release(here);
#endif
}
BATON_UNSEEN void acquired([[maybe_unused]] void *here) {
#if defined(BATON_TSAN)
    __tsan_acquire(here);
#endif
}

/// Unpoisons a stack whose functions have not returned and never will.
void forget_frames([[maybe_unused]] void *stack, [[maybe_unused]] std::size_t bytes) {
#if defined(BATON_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(stack, bytes);
#endif
}

struct Fiber {
    enum class State {
        ready,
        at_block_barrier,
        at_warp_barrier,
        ended
    };
    Context context;
    Stack stack;
    State state = State::ready;
    Votes votes{};  // its own, then those of all that have met
    unsigned met_block = 0, met_warp = 0;
    bool may_touch = false;
};

/// Tells ThreadSanitizer of the barriers of a block or a warp. A thread that leaves a barrier comes after what all did
/// before it, but not after what others that have left it already do before the next. So the next barrier has another
/// word.
struct Order {
    char words[2];
};

/// Fibers and their stacks, used by one block after the other: ThreadSanitizer takes longer to make them than most
/// kernels take to run.
class Fibers {
public:
    explicit Fibers(unsigned count)
        : count_(count),
          fibers_(std::make_unique<Fiber[]>(count)),
          stacks_(std::make_unique_for_overwrite<std::byte[]>(count * stack_bytes)) {
        for (unsigned fiber = 0; fiber < count; ++fiber) {
            fibers_[fiber].stack.describe(memory_of(fiber), stack_bytes);
            fibers_[fiber].stack.create();
        }
    }
    ~Fibers() {
        for (unsigned fiber = 0; fiber < count_; ++fiber) fibers_[fiber].stack.destroy();
    }
    Fibers(const Fibers &) = delete;
    Fibers &operator=(const Fibers &) = delete;

    unsigned count() const { return count_; }
    BATON_UNSEEN Fiber &operator[](unsigned fiber) { return fibers_[fiber]; }
    /// Makes a fiber call `entry` at the next switch to it. Its last entry has not returned.
    void start(unsigned fiber, void (*entry)()) {
        forget_frames(memory_of(fiber), stack_bytes);
        fibers_[fiber].context.start(memory_of(fiber), stack_bytes, entry);
        fibers_[fiber].state = Fiber::State::ready;
        fibers_[fiber].met_block = fibers_[fiber].met_warp = 0;
        fibers_[fiber].may_touch = false;
    }

private:
    std::byte *memory_of(unsigned fiber) { return &stacks_[fiber * stack_bytes]; }

    const unsigned count_;
    std::unique_ptr<Fiber[]> fibers_;
    std::unique_ptr<std::byte[]> stacks_;
};

/// What the blocks of a grid have in common.
struct Grid {
    const std::function<void()> &kernel;
    const std::function<void()> &after;
    unsigned blocks;
    int rank;
    std::atomic<unsigned> next = 0;    // block to run
    std::atomic<unsigned> let_by = 0;  // blocks that have let the next kernel launch
};

class Block {
public:
    Block(Fibers &fibers, unsigned threads, std::uint64_t seed, Grid &grid)
        : threads_(threads),
          draw_(seed * 2 + 1),
          grid_(grid),
          fibers_(fibers),
          warps_(std::make_unique<Order[]>((threads + warp_threads - 1) / warp_threads)) {}

    void run();
    Votes meet(Gather who, bool vote);
    void give_way();
    void may_touch();
    void let_next_launch();
    void touches();
    void stores(const void *at);
    void releases();
    void tells_without_release(const void *word);

private:
    static void begin();
    void let_run(unsigned thread);
    void come_back();
    bool release_if_all_here(unsigned first, unsigned count, Fiber::State waiting);
    unsigned next_ready();
    [[noreturn]] void report_parted();
    [[noreturn]] void report(const char *what);

    const unsigned threads_;
    std::uint64_t draw_;
    Grid &grid_;
    Fibers &fibers_;
    std::unique_ptr<Order[]> warps_;
    Order all_{};
    char began_ = 0, over_ = 0;  // ThreadSanitizer's words for the first and the last step of each fiber
    Context scheduler_;
    Stack scheduler_stack_;
    unsigned current_ = 0;
    unsigned ended_ = 0;
    unsigned gave_way_ = 0;
    bool let_next_launch_ = false;
    std::uint64_t stored_to_ = 0;  // bits by rank: other ranks stored to since the last release
};

thread_local Block *running = nullptr;
thread_local int rank_of_thread = nobody;
/// Fibers of a thread that calls run_grid(). Not shared among ranks: ThreadSanitizer would order each behind what
/// others did on them. Not in the function, where all thread_local variables are shared memory (shared_memory.cpp).
thread_local std::vector<std::unique_ptr<Fibers>> fibers_of_thread;

/// What the fiber reads before it acquires began_ was written by its block's thread, unordered.
BATON_UNSEEN void Block::begin() {
    Block &block = *running;
    Fiber &self = block.fibers_[block.current_];
    self.stack.arrive();
    acquired(&block.began_);
    block.grid_.kernel();
    self.state = Fiber::State::ended;
    block.come_back();
}

BATON_UNSEEN void Block::let_run(unsigned thread) {
    current_ = thread;
    threadIdx.x = thread;
    Fiber &fiber = fibers_[thread];
    scheduler_stack_.leave_for(fiber.stack);
    scheduler_.change_to(fiber.context);
    scheduler_stack_.arrive();
}

BATON_UNSEEN void Block::come_back() {
    Fiber &fiber = fibers_[current_];
    if (fiber.state == Fiber::State::ended) {
        released(&over_);  // another block's fiber touches the same places of the stack next
        fiber.stack.end_for(scheduler_stack_);
    } else {
        fiber.stack.leave_for(scheduler_stack_);
    }
    fiber.context.change_to(scheduler_);
    fiber.stack.arrive();
}

BATON_UNSEEN Votes Block::meet(Gather who, bool vote) {
    Fiber &self = fibers_[current_];
    char *const order = who == Gather::block ? &all_.words[self.met_block++ % 2]
                                             : &warps_[current_ / warp_threads].words[self.met_warp++ % 2];
    self.votes = {vote, vote};
    self.state = who == Gather::block ? Fiber::State::at_block_barrier : Fiber::State::at_warp_barrier;
    released(order);
    come_back();
    acquired(order);
    return self.votes;
}

/// When every thread has had a turn to wait for something else, lets other blocks and ranks have theirs.
BATON_UNSEEN void Block::give_way() {
    if (let_next_launch_ && grid_.rank != nobody) report("waits, and has let the next kernel launch");
    come_back();
    if (++gave_way_ % threads_ == 0) syscall(SYS_sched_yield);
}

BATON_UNSEEN void Block::may_touch() { fibers_[current_].may_touch = true; }

BATON_UNSEEN void Block::let_next_launch() {
    if (let_next_launch_) return;
    let_next_launch_ = true;
    released(&grid_.let_by);
    if (grid_.let_by.fetch_add(1, std::memory_order_acq_rel) + 1 != grid_.blocks || !grid_.after) return;
    acquired(&grid_.let_by);
    grid_.after();
}

BATON_UNSEEN void Block::touches() {
    if (!fibers_[current_].may_touch && grid_.rank != nobody) report("has not waited for the kernel before");
}

BATON_UNSEEN void Block::stores(const void *at) {
    touches();
    if (grid_.rank == nobody) return;
    const int owner = owner_of(at);
    if (owner != nobody && owner != grid_.rank) stored_to_ |= std::uint64_t{1} << owner;
}

BATON_UNSEEN void Block::releases() {
    touches();
    stored_to_ = 0;
}

BATON_UNSEEN void Block::tells_without_release(const void *word) {
    touches();
    const int owner = stored_to_ == 0 ? nobody : owner_of(word);
    if (owner != nobody && (stored_to_ >> owner & 1) != 0) report("has stored to a rank what no release has followed");
}

/// Ends the barrier of the `count` threads from `first` on if all have come to it.
BATON_UNSEEN bool Block::release_if_all_here(unsigned first, unsigned count, Fiber::State waiting) {
    Votes votes{false, true};
    for (unsigned thread = first; thread < first + count; ++thread) {
        if (fibers_[thread].state != waiting) return false;
        votes.any = votes.any || fibers_[thread].votes.any;
        votes.all = votes.all && fibers_[thread].votes.all;
    }
    for (unsigned thread = first; thread < first + count; ++thread) {
        fibers_[thread].votes = votes;
        fibers_[thread].state = Fiber::State::ready;
    }
    return true;
}

/// Draws a ready thread; threads_ if there is none.
BATON_UNSEEN unsigned Block::next_ready() {
    draw_ = draw_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto first = static_cast<unsigned>(draw_ >> 33) % threads_;
    for (unsigned step = 0; step < threads_; ++step) {
        const unsigned thread = (first + step) % threads_;
        if (fibers_[thread].state == Fiber::State::ready) return thread;
    }
    return threads_;
}

BATON_UNSEEN void Block::report_parted() {
    std::fprintf(stderr, "block %u: its threads wait for each other at different barriers:", blockIdx.x);
    for (unsigned thread = 0; thread < threads_; ++thread) {
        constexpr const char *states[] = {"ready", "block's", "warp's", "ended"};
        std::fprintf(stderr, " %s", states[static_cast<int>(fibers_[thread].state)]);
    }
    std::fprintf(stderr, "\n");
    std::abort();
}

BATON_UNSEEN void Block::report(const char *what) {
    std::fprintf(stderr, "rank %d, block %u, thread %u %s\n", grid_.rank, blockIdx.x, current_, what);
    std::abort();
}

BATON_UNSEEN void Block::run() {
    running = this;
    scheduler_stack_.adopt();
    for (unsigned thread = 0; thread < threads_; ++thread) fibers_.start(thread, &Block::begin);
    released(&began_);
    while (ended_ < threads_) {
        const unsigned thread = next_ready();
        if (thread == threads_) report_parted();
        let_run(thread);
        const unsigned warp = thread / warp_threads * warp_threads;
        switch (fibers_[thread].state) {
            case Fiber::State::at_block_barrier:
                release_if_all_here(0, threads_, Fiber::State::at_block_barrier);
                break;
            case Fiber::State::at_warp_barrier:
                release_if_all_here(warp, warp_threads, Fiber::State::at_warp_barrier);
                break;
            case Fiber::State::ended:
                ++ended_;
                break;
            case Fiber::State::ready:
                break;
        }
    }
    acquired(&over_);
    running = nullptr;
}

}  // namespace

void run_grid(unsigned blocks, unsigned threads, std::uint64_t seed, const std::function<void()> &kernel,
              unsigned resident, const std::function<void()> &after) {
    std::vector<std::unique_ptr<Fibers>> &fibers = fibers_of_thread;
    Grid grid{kernel, after, blocks, this_rank()};
    std::vector<std::thread> places;
    for (unsigned place = 0; place < std::min(blocks, resident); ++place) {
        if (place == fibers.size()) fibers.emplace_back();
        if (fibers[place] == nullptr || fibers[place]->count() < threads)
            fibers[place] = std::make_unique<Fibers>(threads);
        places.emplace_back([&grid, &its = *fibers[place], threads, seed] {
            // Relaxed: blocks are in no order, whoever takes one.
            const auto take = [&grid] { return grid.next.fetch_add(1, std::memory_order_relaxed); };
            for (unsigned block = take(); block < grid.blocks; block = take()) {
                blockIdx.x = block;
                blockDim.x = threads;
                gridDim.x = grid.blocks;
                spoil_shared_memory();
                // On the heap, so that what ThreadSanitizer knows of its words is forgotten when it goes. A stack's
                // next owner may be another rank's.
                std::make_unique<Block>(its, threads, seed + block, grid)->run();
            }
        });
    }
    for (std::thread &place : places) place.join();
}

void be_rank(int rank) { rank_of_thread = rank; }
int this_rank() { return rank_of_thread; }

Votes barrier(Gather who, bool vote) { return running->meet(who, vote); }
void yield() { running->give_way(); }

BATON_UNSEEN void may_touch() {
    if (running != nullptr) running->may_touch();
}
BATON_UNSEEN void let_next_launch() {
    if (running != nullptr) running->let_next_launch();
}
BATON_UNSEEN void touches() {
    if (running != nullptr) running->touches();
}
BATON_UNSEEN void stores(const void *at) {
    if (running != nullptr) running->stores(at);
}
BATON_UNSEEN void releases() {
    if (running != nullptr) running->releases();
}
BATON_UNSEEN void tells_without_release(const void *word) {
    if (running != nullptr) running->tells_without_release(word);
}

}  // namespace baton::emulation

/// The library's waits give way by it (sync/platform.hpp).
extern "C" int sched_yield() noexcept {
    if (baton::emulation::running != nullptr) {
        baton::emulation::yield();
        return 0;
    }
    return static_cast<int>(syscall(SYS_sched_yield));
}
