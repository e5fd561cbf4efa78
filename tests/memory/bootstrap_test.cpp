#include <gtest/gtest.h>

#include <atomic>

#include "ranks.hpp"

namespace baton::core::testing {
namespace {

TEST(ThreadBootstrap, AllgatherGivesEveryRanksBlockInOrder) {
    for (const int size : {1, 2, 3, 7, 16}) {
        run_threads(size, [size](Bootstrap &bootstrap) {
            EXPECT_EQ(bootstrap.size(), size);
            EXPECT_TRUE(bootstrap.same_process());
            for (int round = 0; round < 50; ++round) {
                const std::vector<int> all = bootstrap.allgather(bootstrap.rank() * 1000 + round);
                for (int r = 0; r < size; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], r * 1000 + round);
            }
        });
    }
}

TEST(ThreadBootstrap, AllgatherOfNothing) {
    run_threads(3, [](Bootstrap &bootstrap) { bootstrap.allgather(nullptr, 0, nullptr); });
}

TEST(ThreadBootstrap, StringsOfDifferentLengths) {
    run_threads(4, [](Bootstrap &bootstrap) {
        // Rank 0 has none at all.
        const auto texts =
            bootstrap.allgather_strings(std::string(static_cast<std::size_t>(bootstrap.rank()) * 5, 'x'));
        ASSERT_EQ(texts.size(), 4U);
        for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(texts[r], std::string(r * 5, 'x'));
        for (const std::string &text : bootstrap.allgather_strings("")) EXPECT_EQ(text, "");
    });
}

TEST(ThreadBootstrap, NobodyPassesABarrierEarly) {
    constexpr int size = 8;
    std::atomic<int> arrived{0};
    run_threads(size, [&](Bootstrap &bootstrap) {
        for (int round = 1; round <= 100; ++round) {
            arrived.fetch_add(1);
            bootstrap.barrier();
            EXPECT_GE(arrived.load(), round * size);
            bootstrap.barrier();
        }
    });
}

TEST(ProcessBootstrap, ConnectsForkedProcesses) {
    const auto ended = run_processes(4, [](Bootstrap &bootstrap) {
        const std::vector<int> all = bootstrap.allgather(bootstrap.rank() + 10);
        EXPECT_EQ(all, (std::vector<int>{10, 11, 12, 13}));
    });
    for (const Ended &end : ended) EXPECT_EQ(end.exit_code, 0);
}

}  // namespace
}  // namespace baton::core::testing
