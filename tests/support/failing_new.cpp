// The program's operator new and sendmsg, which the library uses too. Kept where they cannot be inlined: compilers
// would take it for a mistake that memory of new is given to free().
#include "support/failing_new.hpp"

#include <dlfcn.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <new>

namespace baton::test {
thread_local long allocations_left = -1;
thread_local bool none_after_that = false;
thread_local bool no_message_leaves = false;
}  // namespace baton::test

extern "C" __attribute__((visibility("default"))) ssize_t sendmsg(int socket, const msghdr *message, int flags) {
    if (baton::test::no_message_leaves) {
        errno = ENOMEM;
        return -1;
    }
    static const auto real = reinterpret_cast<decltype(&sendmsg)>(::dlsym(RTLD_NEXT, "sendmsg"));
    return real(socket, message, flags);
}

void *operator new(std::size_t bytes) {
    using baton::test::allocations_left;
    if (allocations_left == 0) {
        if (!baton::test::none_after_that) allocations_left = -1;
        throw std::bad_alloc();
    }
    if (allocations_left > 0) --allocations_left;
    void *const memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
