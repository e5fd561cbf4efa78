#include "emulation/context.hpp"

#include <cstdint>

#if defined(__x86_64__)

asm(R"(
    .text
    .p2align 4
    .globl baton_change_stack
    .hidden baton_change_stack
    .type baton_change_stack, @function
baton_change_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size baton_change_stack, .-baton_change_stack
)");

namespace baton::emulation {

void Context::start(std::byte *stack, std::size_t bytes, void (*entry)()) {
    // Six registers, where to go on, and no caller: looks like a call, to debuggers and for the alignment.
    const auto top = reinterpret_cast<std::uintptr_t>(stack + bytes) / 16 * 16;
    auto *const words = reinterpret_cast<std::uint64_t *>(top) - 8;
    for (int at = 0; at < 8; ++at) words[at] = 0;
    words[6] = reinterpret_cast<std::uintptr_t>(entry);
    stack_pointer_ = words;
}

}  // namespace baton::emulation

#else

namespace baton::emulation {

void Context::start(std::byte *stack, std::size_t bytes, void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
}

}  // namespace baton::emulation

#endif
