#include "launch.hpp"
#include "support/ranks_as_threads.hpp"
#include "support/seed.hpp"

namespace baton::core::contract {

void with_ranks(int ranks, const std::function<void(Bootstrap &)> &body) { test::run_threads(ranks, body); }

std::uint64_t seed() {
    static const std::uint64_t drawn = test::draw_seed();
    return drawn;
}

}  // namespace baton::core::contract
