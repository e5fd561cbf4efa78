#pragma once

#include <functional>
#include <thread>

namespace baton::core {

/// Starts a thread that takes no signals: the application's are for its own threads. Throws BATON_ERR_SYSTEM if the
/// system gives no thread.
std::thread start_quiet_thread(const char *name, std::function<void()> body);

}  // namespace baton::core
