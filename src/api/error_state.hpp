#pragma once

#include <string>

#include "util/failure.hpp"

namespace baton::core {

/// Keeps `message` for this thread's baton_last_error() and returns `code`.
baton_result remember_error(baton_result code, const std::string &message);

/// Throws BATON_ERR_ARGUMENT in a process forked from one that uses Baton, and after MPI_Finalize.
void require_usable_process();

/// Runs one call of the C API: exceptions become a result and a message that starts with the call's name.
template <class Body>
baton_result guarded(const char *call, const Body &body) noexcept {
    try {
        require_usable_process();
        body();
        return BATON_SUCCESS;
    } catch (const std::exception &exception) {
        const Failure failure = as_failure(exception);
        return remember_error(failure.code(), std::string(call) + ": " + failure.what());
    }
}

}  // namespace baton::core
