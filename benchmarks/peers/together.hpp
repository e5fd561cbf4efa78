#pragma once

#include <string>

#include "environment.hpp"

namespace baton::bench {

/// Runs `step` on all ranks. If it throws Error on any of them, throws Error on all, so that nobody goes on to wait for
/// a rank that failed. On rank 0 the message is that of the first rank that failed.
template <class Step>
void together(const World &world, const Step &step) {
    std::string failure;
    bool done = true;
    try {
        step();
    } catch (const Error &error) {
        done = false;
        failure = error.what();
    }
    if (world.all(done)) {
        return;
    }
    std::string first = "a rank could not";
    for (const std::string &text : world.gather(failure)) {
        if (!text.empty()) {
            first = text;
            break;
        }
    }
    throw Error(first);
}

}  // namespace baton::bench
