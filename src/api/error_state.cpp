#include "api/error_state.hpp"

#include <pthread.h>

#include <atomic>
#include <string>
#include <utility>

namespace baton::core {
namespace {

// Neither has a destructor: those of static objects run after those of their thread's variables, and may call Baton.
thread_local std::string *last_error = nullptr;
thread_local const char *last_words = "";  // last_error's, or a literal
std::atomic<bool> has_threads{false};
std::atomic<bool> inherited{false};

/// Runs in a forked child, which lacks nothing if there was no MPI, hence no communicator, and no thread that runs on
/// in the parent only.
void look_at_inheritance() {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized != 0 || has_threads.load()) inherited.store(true);
}

// Registered as the library is loaded: a child that was forked before Baton's first call has the parent's MPI too.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, look_at_inheritance);

/// Frees a thread's last error when the thread ends. An error after that is not freed.
struct LastErrorOwner {
    ~LastErrorOwner() {
        last_words = "";
        delete std::exchange(last_error, nullptr);
    }
};

}  // namespace

baton_result remember_error(const char *call, const std::exception &exception) noexcept {
    const Failure failure = as_failure(exception);
    try {
        [[maybe_unused]] thread_local const LastErrorOwner owner;
        if (last_error == nullptr) last_error = new std::string;
        *last_error = std::string(call) + ": " + failure.what();
        last_words = last_error->c_str();
    } catch (const std::exception &) {
        last_words = "there is no memory for saying what has failed";
    }
    return failure.code();
}

void note_threads() noexcept { has_threads.store(true); }

void require_own_process() {
    if (inherited.load(std::memory_order_relaxed)) {
        fail(BATON_ERR_ARGUMENT,
             "called from a child that was forked after MPI_Init or baton_host_stream_create: what these made works in "
             "the process that called them only");
    }
}

void require_no_finalize() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) fail(BATON_ERR_ARGUMENT, "called after MPI_Finalize");
}

void require_mpi() {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0) fail(BATON_ERR_ARGUMENT, "MPI is not initialised: call MPI_Init first");
}

}  // namespace baton::core

extern "C" const char *baton_last_error(void) { return baton::core::last_words; }
