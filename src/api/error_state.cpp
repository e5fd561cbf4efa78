#include "api/error_state.hpp"

#include <pthread.h>

#include <atomic>
#include <string>

namespace baton::core {
namespace {

thread_local std::string last_error;
std::atomic<bool> forked{false};

}  // namespace

baton_result remember_error(baton_result code, const std::string &message) {
    last_error = message;
    return code;
}

bool in_forked_child() {
    // Registered at the first call of any thread: a child that was forked before it has nothing to misuse.
    [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
    return forked.load(std::memory_order_relaxed);
}

}  // namespace baton::core

extern "C" const char *baton_last_error(void) { return baton::core::last_error.c_str(); }
