#include "util/quiet_thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include "util/failure.hpp"

namespace baton::core {

std::thread start_quiet_thread(const char *name, std::function<void()> body) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread;
    try {
        thread = std::thread(std::move(body));
    } catch (const std::system_error &error) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        fail(BATON_ERR_SYSTEM, "cannot start the thread {}: {}", name, error.what());
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

}  // namespace baton::core
