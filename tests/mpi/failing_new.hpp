#pragma once

namespace baton::test {

/// Allocations of this thread by operator new that succeed before one fails; negative: all do.
extern thread_local long allocations_left;
/// All that follow fail too, until allocations_left is set again.
extern thread_local bool none_after_that;

/// The system has no memory for this thread's sendmsg().
extern thread_local bool no_message_leaves;

}  // namespace baton::test
