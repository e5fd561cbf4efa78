#include "comm/breakage.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <thread>

#include "bootstrap/thread_bootstrap.hpp"
#include "support/failing_new.hpp"
#include "support/thrown_by.hpp"

namespace baton::core {
namespace {

using test::thrown_by;

using Caller = Breakage::Caller;

class FakeExecutor final : public Executor {
public:
    void require_stream(void *) override {}
    bool captures(void *) override { return false; }
    void collective(const Request &, const Plan &, const CollectiveArgs &, void *) override {}
    void messages(std::vector<MessageCall>, void *) override {}
    void transfer(std::byte *, const std::byte *, std::uint64_t, const Plan &, void *) override {}
    void signal(int, int, void *) override {}
    void wait_signal(int, int, std::uint64_t, void *) override {}
    void local_copy(std::byte *, const std::byte *, std::uint64_t, void *) override {}
    void drain() override {}
    bool idle() override { return true; }
    void mark() noexcept override {}
    bool mark_is_done() override { return true; }
    void interrupt() noexcept override { ++interrupted; }
    std::optional<OverdueWait> overdue() override { return late; }

    int interrupted = 0;
    std::optional<OverdueWait> late;
};

/// The parts of one rank's communicator that breakage concerns.
struct Rank {
    explicit Rank(Bootstrap &bootstrap)
        : domain(make_host_domain(true)), peers(bootstrap, *domain, {}), breakage(bootstrap.rank(), bootstrap.size()) {}
    ~Rank() {
        peers.leave();
        peers.stop();
    }
    void open() {
        breakage.set_timeout(std::chrono::seconds(5));
        breakage.open(control, peers, executor);
    }
    /// What another rank finds on the board; empty if nothing.
    static std::string said_by(const Rank &other, int rank) {
        const std::optional<Failure> failure = other.peers.error_of(rank);
        return failure ? failure->what() : "";
    }

    std::unique_ptr<MemoryDomain> domain;
    PeerMemory peers;
    Control control{};
    FakeExecutor executor;
    Breakage breakage;
};

/// Runs `body` with both ranks of a communicator, on one thread.
void with_two(const std::function<void(Rank &mine, Rank &theirs)> &body) {
    auto ends = ThreadBootstrap::make(2);
    std::unique_ptr<Rank> theirs;
    std::thread other([&] { theirs = std::make_unique<Rank>(*ends[1]); });
    Rank mine(*ends[0]);
    other.join();
    body(mine, *theirs);
}

TEST(Breakage, IsClosedUntilItIsOpened) {
    with_two([](Rank &mine, Rank &theirs) {
        EXPECT_EQ(thrown_by([&] { mine.breakage.require_open(); }).code(), BATON_ERR_ARGUMENT);
        mine.breakage.tick();
        mine.breakage.break_with({BATON_ERR_PEER_DEAD, "in creation"});
        EXPECT_TRUE(mine.breakage.broken());
        EXPECT_EQ(mine.executor.interrupted, 0);
        EXPECT_EQ(Rank::said_by(theirs, 0), "") << "the ranks meet anyway";
        EXPECT_STREQ(thrown_by([&] { mine.breakage.throw_reason(); }).what(), "in creation");
    });
}

TEST(Breakage, TheFirstReasonCountsAndAllHearOfIt) {
    with_two([](Rank &mine, Rank &theirs) {
        mine.open();
        theirs.open();
        EXPECT_NO_THROW(mine.breakage.require_working(Caller::any_thread));
        mine.breakage.break_with({BATON_ERR_ABORTED, "first"});
        mine.breakage.break_with({BATON_ERR_TIMEOUT, "second"});
        for (Rank *rank : {&mine, &theirs}) {
            const Failure failure = thrown_by([&] { rank->breakage.require_working(Caller::any_thread); });
            EXPECT_EQ(failure.code(), BATON_ERR_ABORTED);
            EXPECT_STREQ(failure.what(), "first");
            EXPECT_NE(rank->control.abort, 0U);
            EXPECT_EQ(rank->executor.interrupted, 1);
        }
        EXPECT_EQ(Rank::said_by(mine, 1), "") << "who hears of it does not repeat it";
    });
}

/// A thread that sees it may destroy the communicator while the thread that found the reason is still reporting it.
TEST(Breakage, NoneOfThisRanksThreadsSeesItBeforeTheOthersCanHearOfIt) {
    for (int round = 0; round < 300; ++round) {
        with_two([](Rank &mine, Rank &theirs) {
            mine.open();
            std::thread finder([&] { mine.breakage.break_with({BATON_ERR_ABORTED, "found"}); });
            while (!mine.breakage.broken()) {
            }
            mine.breakage.close();
            mine.breakage.forget();
            EXPECT_EQ(Rank::said_by(theirs, 0), "found");
            finder.join();
        });
    }
}

TEST(Breakage, WithoutMemoryAllHearOfItToo) {
    with_two([](Rank &mine, Rank &theirs) {
        mine.open();
        test::none_after_that = true;
        test::allocations_left = 0;
        mine.breakage.break_with(as_failure(std::bad_alloc()));
        test::allocations_left = -1;
        test::none_after_that = false;
        EXPECT_EQ(Rank::said_by(theirs, 0), "out of host memory");
        EXPECT_NE(mine.control.abort, 0U);
        EXPECT_TRUE(mine.peers.interruption());
        EXPECT_EQ(mine.executor.interrupted, 1);
        EXPECT_EQ(thrown_by([&] { mine.breakage.throw_reason(); }).code(), BATON_ERR_MEMORY);
    });
}

TEST(Breakage, WaitersRecordsBecomeWords) {
    with_two([](Rank &mine, Rank &) {
        mine.open();
        mine.control.record.code = BATON_ERR_TIMEOUT;
        mine.control.record.point.peer = 1;
        mine.control.record.point.mine = Signature::make(BATON_ALLREDUCE, BATON_FLOAT32, BATON_MAX, 7);
        store_release(&mine.control.recorded, 1);
        mine.breakage.tick();
        const Failure failure = thrown_by([&] { mine.breakage.throw_reason(); });
        EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
        EXPECT_NE(std::string(failure.what()).find("waited 5 s for rank 1 in allreduce(count 7, float32, max)"),
                  std::string::npos)
            << failure.what();
    });
}

TEST(Breakage, WithoutMemoryForTheWordsItIsBrokenAllTheSame) {
    with_two([](Rank &mine, Rank &theirs) {
        mine.open();
        theirs.open();
        mine.control.record.code = BATON_ERR_TIMEOUT;
        store_release(&mine.control.recorded, 1);
        for (Rank *rank : {&mine, &theirs}) {
            test::none_after_that = true;
            test::allocations_left = 0;
            rank->breakage.catch_up(Caller::call_or_operation);
            test::allocations_left = -1;
            test::none_after_that = false;
            EXPECT_EQ(thrown_by([&] { rank->breakage.throw_reason(); }).code(), BATON_ERR_TIMEOUT);
        }
        EXPECT_EQ(Rank::said_by(theirs, 0), "there is no memory for saying what has failed");
    });
}

TEST(Breakage, WhoIsToldWithoutWordsSaysWhatItKnows) {
    with_two([](Rank &mine, Rank &theirs) {
        mine.open();
        store_relaxed(&mine.control.seen, AbortWord::make(BATON_ERR_MISMATCH, 1, 0));
        const Failure failure = thrown_by([&] { mine.breakage.require_working(Caller::call_or_operation); });
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
        EXPECT_STREQ(failure.what(), "rank 1 gave up in an operation with rank 0");
        EXPECT_EQ(Rank::said_by(theirs, 0), "");
    });
}

TEST(Breakage, WhoHasAbortedGaveUpWithNobody) {
    with_two([](Rank &mine, Rank &) {
        mine.open();
        store_relaxed(&mine.control.seen, AbortWord::make(BATON_ERR_ABORTED, 1, 1));
        const Failure failure = thrown_by([&] { mine.breakage.require_working(Caller::call_or_operation); });
        EXPECT_STREQ(failure.what(), "rank 1 gave up");
    });
}

TEST(Breakage, WaitsWithoutAClockEnd) {
    with_two([](Rank &mine, Rank &) {
        mine.open();
        mine.breakage.tick();
        EXPECT_FALSE(mine.breakage.broken());
        mine.executor.late = Executor::OverdueWait{1, WaitFor::done};
        mine.breakage.tick();
        EXPECT_EQ(thrown_by([&] { mine.breakage.throw_reason(); }).code(), BATON_ERR_TIMEOUT);
        mine.breakage.tick();
        EXPECT_EQ(mine.executor.interrupted, 2) << "what is queued behind is ended too";
    });
}

TEST(Breakage, WhenForgottenItLooksAtNothingThatMayBeGone) {
    with_two([](Rank &mine, Rank & /*theirs*/) {
        mine.open();
        mine.breakage.close();
        mine.breakage.forget();
        EXPECT_NO_THROW(mine.breakage.throw_if_broken(Caller::any_thread));
    });
}

/// Otherwise threads that ask without end could keep it from closing: one or the other would always share the lock.
TEST(Breakage, WhileItIsBeingClosedNobodyElseHoldsItOpen) {
    with_two([](Rank &mine, Rank &) {
        mine.open();
        std::optional<std::shared_lock<std::shared_mutex>> held = mine.breakage.hold_open();
        std::thread closer([&] { mine.breakage.close(); });
        bool refused = false;
        std::thread another([&] {
            const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            while (!refused && std::chrono::steady_clock::now() < give_up) {
                try {
                    const auto also_held = mine.breakage.hold_open();
                } catch (const Failure &) {
                    refused = true;
                }
            }
        });
        another.join();
        held.reset();
        closer.join();
        EXPECT_TRUE(refused);
    });
}

TEST(Breakage, WhenClosedPeersStillHearButNothingIsInterrupted) {
    with_two([](Rank &mine, Rank &theirs) {
        mine.open();
        mine.breakage.close();
        EXPECT_EQ(thrown_by([&] { const auto held = mine.breakage.hold_open(); }).code(), BATON_ERR_ARGUMENT);
        mine.breakage.break_with({BATON_ERR_ABORTED, "while it is destroyed"});
        EXPECT_EQ(mine.executor.interrupted, 0);
        EXPECT_EQ(Rank::said_by(theirs, 0), "while it is destroyed");
        mine.breakage.forget();
        mine.breakage.tick();
        EXPECT_EQ(thrown_by([&] { mine.breakage.throw_if_broken(Caller::any_thread); }).code(), BATON_ERR_ABORTED);
    });
}

}  // namespace
}  // namespace baton::core
