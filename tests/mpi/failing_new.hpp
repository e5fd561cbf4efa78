#pragma once

namespace baton::test {

/// Allocations of this thread by operator new that succeed before one fails; negative: all do.
extern thread_local long allocations_left;

}  // namespace baton::test
