#pragma once

#include <cstddef>

#include "emulation/sanitizer.hpp"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/// What a fiber goes on with. The system's swapcontext asks the kernel for the signal mask at each change, which took
/// two thirds of all time here. And sanitizers that intercept it forget what is poisoned on the stack.
namespace baton::emulation {

#if defined(__x86_64__)

/// Saves what a call must keep on this stack, stores its address in `from`, and goes on where the stack `to` was left.
/// Control words of floating-point arithmetic stay: all fibers of a thread have the same.
extern "C" void baton_change_stack(void **from, void *to);

class Context {
public:
    /// The first change to it calls `entry`, which never returns, on this stack.
    BATON_UNSEEN void start(std::byte *stack, std::size_t bytes, void (*entry)());
    [[gnu::always_inline]] void change_to(Context &next) { baton_change_stack(&stack_pointer_, next.stack_pointer_); }

private:
    void *stack_pointer_ = nullptr;
};

#else

class Context {
public:
    void start(std::byte *stack, std::size_t bytes, void (*entry)());
    [[gnu::always_inline]] void change_to(Context &next) { swapcontext(&context_, &next.context_); }

private:
    ucontext_t context_{};
};

#endif

}  // namespace baton::emulation
