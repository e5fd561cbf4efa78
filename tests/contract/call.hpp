#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

/// What a program of the contract test is given and what it says. Plain data, the same for every engine.
namespace baton::core::contract {

/// What a method returned to the threads of a channel.
enum class Said : std::uint32_t {
    nothing,  // it was not called
    no,
    yes,
    both,  // true to some threads, false to others
};

/// The result block of one operation on one channel: written by the program, checked by GoogleTest.
struct Observed {
    Said began;
    Said met;       // await_all
    Said waited;    // wait_all, wait
    Said credited;  // wait_credits
    Said finished;
    Range part;  // of `bytes`, as share() gave it
};

/// One operation of one rank. Pointers are this rank's; each program defines what lies there.
struct Call {
    Arrival arrival;
    std::byte *send = nullptr;
    std::byte *recv = nullptr;  // the buffer that the arrival names for peers to write
    std::byte *out = nullptr;
    std::uint64_t bytes = 0;  // that one rank contributes to a step
    std::uint64_t granule = 16;
    std::int32_t steps = 1;
    std::int32_t type = BATON_UINT8;
    std::int32_t op = BATON_SUM;
    std::int32_t shift = 0;    // the number that a program's order or roles depend on
    std::int32_t variant = 0;  // the program's own
    std::int32_t channels = 1;
    std::int32_t takes_part = 1;       // 0: this rank leaves the operation out
    std::uint64_t *started = nullptr;  // raised before the wait that is to fail, for a thread of this rank's host
    Observed *observed = nullptr;      // [channels]
};

#if defined(__CUDA_ARCH__) || defined(BATON_EMULATED)
inline namespace on_device {
#else
inline namespace on_host {
#endif
/// Called by every thread of the channel with what a method returned to it. It brings the threads together, so it comes
/// after everything that a program is about, or after an engine has failed.
BATON_HD inline void observe(Said &said, bool answer) {
#if defined(__CUDA_ARCH__) || defined(BATON_EMULATED)
    const bool all = __syncthreads_and(answer ? 1 : 0) != 0;
    const bool any = __syncthreads_or(answer ? 1 : 0) != 0;
    if (threadIdx.x == 0) said = all ? Said::yes : any ? Said::both : Said::no;
#else
    said = answer ? Said::yes : Said::no;
#endif
}
/// What share() gave, the same to all threads.
BATON_HD inline void observe(Range &part, const Range &given) {
#if defined(__CUDA_ARCH__) || defined(BATON_EMULATED)
    if (threadIdx.x == 0) part = given;
#else
    part = given;
#endif
}
BATON_HD inline void observe(Observed &observed, bool began, bool met, bool waited, bool finished) {
    observe(observed.began, began);
    observe(observed.met, met);
    observe(observed.waited, waited);
    observe(observed.finished, finished);
}

}  // namespace

/// Release: what the channel has stored before has left it. Any thread may call it.
BATON_HD inline void tell_started(const Call &call) {
    if (call.started != nullptr) store_release(call.started, 1);
}

}  // namespace baton::core::contract
