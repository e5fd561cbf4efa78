#include <cstdio>
#include <cstdlib>
#include <thread>

#include "launch.hpp"
#include "support/seed.hpp"

namespace baton::core::contract {

void with_ranks(int ranks, const std::function<void(Bootstrap &)> &body) {
    auto ends = ThreadBootstrap::make(ranks);
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

std::uint64_t seed() {
    static const std::uint64_t drawn = test::draw_seed();
    return drawn;
}

}  // namespace baton::core::contract
