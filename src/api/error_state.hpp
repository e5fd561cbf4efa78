#pragma once

#include <exception>

#include "util/failure.hpp"

namespace baton::core {

/// Keeps what failed in `call` for this thread's baton_last_error() and returns its code. If there is no memory for the
/// words, baton_last_error() says that.
baton_result remember_error(const char *call, const std::exception &exception) noexcept;

/// Throws BATON_ERR_ARGUMENT in a child that was forked when this process had initialised MPI or noted threads.
void require_own_process();
/// Throws BATON_ERR_ARGUMENT after MPI_Finalize.
void require_no_finalize();
/// Throws BATON_ERR_ARGUMENT before MPI_Init.
void require_mpi();
/// To be called before threads are made without MPI: a forked child would inherit their work, but not the threads.
void note_threads() noexcept;

/// Throws BATON_ERR_ARGUMENT for a null pointer, which the call names `name`.
inline void require_pointer(const void *pointer, const char *name) {
    if (pointer == nullptr) fail(BATON_ERR_ARGUMENT, "{} is NULL", name);
}

/// Runs a call of the C API that may also come after MPI_Finalize. Exceptions become a result, and a message that
/// starts with the call's name.
template <class Body>
baton_result guarded_at_any_time(const char *call, const Body &body) noexcept {
    try {
        require_own_process();
        body();
        return BATON_SUCCESS;
    } catch (const std::exception &exception) {
        return remember_error(call, exception);
    }
}

/// Runs any other call of the C API.
template <class Body>
baton_result guarded(const char *call, const Body &body) noexcept {
    return guarded_at_any_time(call, [&] {
        require_no_finalize();
        body();
    });
}

}  // namespace baton::core
