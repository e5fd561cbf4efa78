#include "memory/rendezvous.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "ranks.hpp"

namespace baton::core::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Entry = Rendezvous::Entry;

/// Differs by rank, peer, and number.
Entry entry(int from, int to, std::uint64_t number) {
    const std::uint64_t key = (static_cast<std::uint64_t>(from) * 64 + static_cast<std::uint64_t>(to)) << 32 | number;
    return {key, key * 3, key * 5, key * 7, key * 11};
}

/// Ranks come to their calls as the scheduler lets them, up to a ring apart.
void collect_many(Bootstrap &bootstrap) {
    Rendezvous rendezvous(bootstrap);
    for (std::uint64_t call = 1; call <= 500; ++call) {
        ASSERT_EQ(rendezvous.post(entry(bootstrap.rank(), 0, call)), call);
        std::vector<Entry> all;
        ASSERT_EQ(rendezvous.collect(call, 60s, all), -1);
        for (int rank = 0; rank < bootstrap.size(); ++rank) {
            EXPECT_EQ(all[static_cast<std::size_t>(rank)], entry(rank, 0, call));
        }
    }
    bootstrap.barrier();
}

TEST(Rendezvous, EveryRankGetsTheEntriesOfItsCall) {
    run_threads(4, collect_many);
    for (const Ended &end : run_processes(3, collect_many)) EXPECT_EQ(end.exit_code, 0);
}

TEST(Rendezvous, NamesTheRankThatDoesNotCome) {
    run_threads(3, [](Bootstrap &bootstrap) {
        Rendezvous rendezvous(bootstrap);
        if (bootstrap.rank() != 1) {
            const std::uint64_t number = rendezvous.post(entry(bootstrap.rank(), 0, 1));
            std::vector<Entry> all;
            EXPECT_EQ(rendezvous.collect(number, 1ms, all), 1);
        }
        bootstrap.barrier();
    });
}

TEST(Rendezvous, AWaitEndsWhenItIsToldTo) {
    run_threads(2, [](Bootstrap &bootstrap) {
        int asked = 0;
        Rendezvous rendezvous(bootstrap, [&] { return ++asked == 3; });
        if (bootstrap.rank() == 0) {
            std::vector<Entry> all;
            EXPECT_EQ(rendezvous.collect(rendezvous.post(entry(0, 0, 1)), 10h, all), 1);
            EXPECT_EQ(asked, 3);
            asked = 0;
            Entry got{};
            EXPECT_FALSE(rendezvous.await_post(1, rendezvous.next_from(1), Clock::now() + 10h, got));
            EXPECT_EQ(asked, 3);
        }
        bootstrap.barrier();
    });
}

/// Each pair counts its own entries.
TEST(Rendezvous, PairsMeetByTheirOwnCount) {
    run_threads(4, [](Bootstrap &bootstrap) {
        const int me = bootstrap.rank();
        Rendezvous rendezvous(bootstrap);
        for (std::uint64_t round = 1; round <= Rendezvous::pair_entries + 100; ++round) {
            for (int peer = 0; peer < bootstrap.size(); ++peer) {
                if (peer != me) rendezvous.post_to(peer, entry(me, peer, round));
            }
            for (int peer = 0; peer < bootstrap.size(); ++peer) {
                if (peer == me) continue;
                Entry got{};
                const std::uint64_t number = rendezvous.next_from(peer);
                EXPECT_EQ(number, round);
                ASSERT_TRUE(rendezvous.await_post(peer, number, Clock::now() + 60s, got));
                EXPECT_EQ(got, entry(peer, me, round));
            }
        }
        bootstrap.barrier();
    });
}

TEST(Rendezvous, WhatHasBeenWrittenOverIsNotWaitedFor) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Rendezvous rendezvous(bootstrap);
        if (bootstrap.rank() == 0) {
            for (std::uint64_t number = 1; number <= Rendezvous::pair_entries + 1; ++number) {
                rendezvous.post_to(1, entry(0, 1, number));
            }
        }
        bootstrap.barrier();
        if (bootstrap.rank() == 1) {
            Entry got{};
            EXPECT_FALSE(rendezvous.await_post(0, rendezvous.next_from(0), Clock::now() + 60s, got));
            EXPECT_TRUE(rendezvous.await_post(0, rendezvous.next_from(0), Clock::now() + 0s, got));
            EXPECT_EQ(got, entry(0, 1, 2));
            EXPECT_FALSE(rendezvous.await_post(0, Rendezvous::pair_entries + 2, Clock::now() + 1ms, got));
        }
        bootstrap.barrier();
    });
}

TEST(Rendezvous, OneClosesItForAll) {
    for (int closer = 0; closer < 3; ++closer) {
        run_threads(3, [closer](Bootstrap &bootstrap) {
            Rendezvous rendezvous(bootstrap);
            EXPECT_FALSE(rendezvous.closed());
            bootstrap.barrier();
            if (bootstrap.rank() == closer) rendezvous.close();
            bootstrap.barrier();
            EXPECT_TRUE(rendezvous.closed()) << "by rank " << closer;
            bootstrap.barrier();
        });
    }
}

}  // namespace
}  // namespace baton::core::testing
