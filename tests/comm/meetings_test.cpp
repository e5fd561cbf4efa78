#include "comm/meetings.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/ranks_as_threads.hpp"
#include "support/thrown_by.hpp"

namespace baton::core {
namespace {

using test::thrown_by;

/// One rank of three, each a thread.
struct Rank {
    explicit Rank(Bootstrap &the_bootstrap)
        : bootstrap(the_bootstrap), breakage(bootstrap.rank(), bootstrap.size()), meetings(bootstrap, breakage) {
        breakage.set_timeout(std::chrono::seconds(30));
    }
    Bootstrap &bootstrap;
    Breakage breakage;
    Meetings meetings;
};

void with_three(const std::function<void(Rank &)> &body) {
    test::run_threads(3, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        body(rank);
    });
}

TEST(Meetings, GiveTheArgumentsOfAllRanksInOrder) {
    with_three([](Rank &rank) {
        const auto me = static_cast<std::uint64_t>(rank.bootstrap.rank());
        EXPECT_EQ(rank.meetings.together([] {}, 10 + me), (std::vector<std::uint64_t>{10, 11, 12}));
        EXPECT_EQ(rank.meetings.first_said(me == 0 ? "" : "from " + std::to_string(me)), "from 1");
        EXPECT_EQ(rank.meetings.first_said(""), "");
    });
}

TEST(Meetings, WhatFailsOnOneFailsOnAll) {
    with_three([](Rank &rank) {
        const int me = rank.bootstrap.rank();
        const Failure failure = thrown_by([&] {
            rank.meetings.together([&] {
                if (me == 1) fail(BATON_ERR_UNSUPPORTED, "not here");
            });
        });
        EXPECT_EQ(failure.code(), BATON_ERR_UNSUPPORTED);
        EXPECT_STREQ(failure.what(), me == 1 ? "not here" : "rank 1: not here");
        EXPECT_FALSE(rank.breakage.broken()) << "the next meeting finds all of them";
        EXPECT_EQ(rank.meetings.together([] {}).size(), 3U);
    });
}

TEST(Meetings, RanksInDifferentCallsBreak) {
    with_three([](Rank &rank) {
        rank.meetings.enter(rank.bootstrap.rank() == 2 ? Meetings::Call::comm_destroy : Meetings::Call::window_create);
        const Failure failure = thrown_by([&] { rank.meetings.together([] {}); });
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
        EXPECT_STREQ(failure.what(),
                     "ranks disagree: rank 0 called baton_window_create, rank 2 called baton_comm_destroy");
        EXPECT_TRUE(rank.breakage.broken());
    });
}

TEST(Meetings, ARankThatDoesNotComeIsATimeout) {
    with_three([](Rank &rank) {
        if (rank.bootstrap.rank() == 1) return;
        rank.breakage.set_timeout(std::chrono::milliseconds(100));
        rank.meetings.enter(Meetings::Call::window_destroy);
        const Failure failure = thrown_by([&] { rank.meetings.together([] {}); });
        EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
        EXPECT_NE(std::string(failure.what()).find("waited 0.1 s for the other ranks in baton_window_destroy"),
                  std::string::npos)
            << failure.what();
    });
}

TEST(Meetings, WhatBreaksTheCommunicatorEndsTheWait) {
    with_three([](Rank &rank) {
        if (rank.bootstrap.rank() == 1) return;
        rank.meetings.enter(Meetings::Call::comm_destroy);
        std::thread other([&] { rank.breakage.break_with({BATON_ERR_ABORTED, "enough"}); });
        EXPECT_STREQ(thrown_by([&] { rank.meetings.together([] {}); }).what(), "enough");
        other.join();
    });
}

}  // namespace
}  // namespace baton::core
