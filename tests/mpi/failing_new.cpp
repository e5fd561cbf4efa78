// The program's operator new, which the library uses too. Not where it could be inlined: compilers would take it for a
// mistake that memory of new is given to free().
#include "failing_new.hpp"

#include <cstdlib>
#include <new>

namespace baton::test {
thread_local long allocations_left = -1;
thread_local bool none_after_that = false;
}  // namespace baton::test

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
