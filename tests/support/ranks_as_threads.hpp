#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "bootstrap/thread_bootstrap.hpp"

namespace baton::test {

/// Runs `body` as ranks that are threads of this process. An exception that leaves it ends the program: the other ranks
/// may wait for this one.
inline void run_threads(int ranks, const std::function<void(core::Bootstrap &)> &body) {
    auto ends = core::ThreadBootstrap::make(ranks);
    std::vector<std::thread> threads;
    for (auto &end : ends) {
        threads.emplace_back([&body, &end] {
            try {
                body(*end);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "rank %d: %s\n", end->rank(), error.what());
                std::_Exit(1);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace baton::test
