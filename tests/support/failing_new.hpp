#pragma once

#include <utility>

namespace baton::test {

/// How many allocations of this thread by operator new succeed before one fails; negative: all do.
extern thread_local long allocations_left;
/// All that follow fail too, until allocations_left is set again.
extern thread_local bool none_after_that;

/// While it lives, this thread has memory and its allocations do not count: for what a test does itself in the middle
/// of the code under test.
class WithMemory {
public:
    WithMemory() : before_(std::exchange(allocations_left, -1)) {}
    ~WithMemory() { allocations_left = before_; }
    WithMemory(const WithMemory &) = delete;
    WithMemory &operator=(const WithMemory &) = delete;

private:
    const long before_;
};

/// This thread's sendmsg() fails for lack of memory.
extern thread_local bool no_message_leaves;

}  // namespace baton::test
