#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "ranks.hpp"
#include "support/thrown_by.hpp"

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
        // Rank 0's string is empty.
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

/// A wait that was given up does not count as an arrival afterwards.
TEST(ThreadBootstrap, TheWatchEndsAWait) {
    std::atomic<bool> given_up{false};
    run_threads(3, [&](Bootstrap &bootstrap) {
        if (bootstrap.rank() == 0) {
            bootstrap.set_watch([](std::chrono::nanoseconds waited) {
                if (waited > std::chrono::milliseconds(50)) throw std::runtime_error("waited long enough");
            });
            EXPECT_THROW(bootstrap.barrier(), std::runtime_error);
            bootstrap.set_watch({});
            given_up.store(true);
        }
        while (!given_up.load()) std::this_thread::yield();
        const std::vector<int> all = bootstrap.allgather(bootstrap.rank());
        EXPECT_EQ(all, (std::vector<int>{0, 1, 2}));
    });
}

TEST(ThreadBootstrap, ARankThatGivesUpEndsTheOthersWaits) {
    run_threads(3, [&](Bootstrap &bootstrap) {
        if (bootstrap.rank() == 1) return bootstrap.give_up({BATON_ERR_MEMORY, "no room"});
        for (int wait = 0; wait < 2; ++wait) {
            const Failure failure = test::thrown_by([&] { bootstrap.barrier(); });
            EXPECT_EQ(failure.code(), BATON_ERR_MEMORY);
            EXPECT_STREQ(failure.what(), "rank 1 has given up: no room");
        }
    });
}

TEST(ThreadBootstrap, AbandoningWaitsForTheOtherThreads) {
    std::atomic<int> arrived{0};
    run_threads(4, [&](Bootstrap &bootstrap) {
        arrived.fetch_add(1);
        EXPECT_TRUE(bootstrap.abandon(std::chrono::minutes(1)));
        EXPECT_EQ(arrived.load(), 4);
    });
    run_threads(2, [&](Bootstrap &bootstrap) {
        if (bootstrap.rank() != 0) return;
        EXPECT_FALSE(bootstrap.abandon(std::chrono::milliseconds(10)));
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
