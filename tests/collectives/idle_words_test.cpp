// The zero-SM mode's words with threads in place of the GPUs' streams: the protocol, who is late, and how a wait ends.
#include "sync/idle_words.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "bootstrap/thread_bootstrap.hpp"
#include "sync/platform.hpp"

namespace baton::core {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = IdleWords::Operation::Kind;
constexpr auto timeout = std::chrono::seconds(5);

/// Every rank's words, in one process.
std::vector<std::unique_ptr<IdleWords>> make_words(int size) {
    auto ends = ThreadBootstrap::make(size);
    std::vector<std::unique_ptr<IdleWords>> words(ends.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ends.size(); ++rank)
        threads.emplace_back([&, rank] { words[rank] = std::make_unique<IdleWords>(*ends[rank]); });
    for (std::thread &thread : threads) thread.join();
    return words;
}

/// Executes an operation as a stream does. False: the operation has to wait.
bool run(const IdleWords::Operation &operation) {
    if (operation.kind == Kind::wait_until_equal) return load_acquire(operation.word) == operation.value;
    store_release(operation.word, operation.value);
    return true;
}
void run_phase(const IdleWords &words, int phase) {
    for (const IdleWords::Operation &operation : words.operations(phase)) {
        while (!run(operation)) std::this_thread::yield();
    }
}
/// Runs the part of a phase before its first wait; finish_phase() runs the rest, in which no wait may block any more.
void enter_phase(const IdleWords &words, int phase) {
    for (const IdleWords::Operation &operation : words.operations(phase)) {
        if (operation.kind == Kind::wait_until_equal) return;
        run(operation);
    }
}
void finish_phase(const IdleWords &words, int phase) {
    bool entered = false;
    for (const IdleWords::Operation &operation : words.operations(phase)) {
        entered = entered || operation.kind == Kind::wait_until_equal;
        if (entered) {
            EXPECT_TRUE(run(operation));
        }
    }
}

/// Between the phases each rank stores the operation's number at the next rank, which must find it after the second.
TEST(IdleWords, OrderTheOperationsOfAllRanks) {
    constexpr int size = 3, operations = 500;
    const auto words = make_words(size);
    std::uint64_t data[size] = {};  // plain: a race detector sees what is not ordered
    std::atomic<int> wrong{0};
    std::vector<std::thread> streams;
    for (std::size_t rank = 0; rank < size; ++rank) {
        streams.emplace_back([&, rank] {
            for (std::uint64_t operation = 1; operation <= operations; ++operation) {
                run_phase(*words[rank], IdleWords::ready);
                data[(rank + 1) % size] = operation;
                run_phase(*words[rank], IdleWords::complete);
                if (data[rank] != operation) ++wrong;
            }
        });
    }
    std::atomic<bool> done{false};
    std::thread watcher([&] {
        while (!done) {
            for (const auto &rank : words) wrong += rank->overdue(Clock::now(), timeout) ? 1 : 0;
        }
    });
    for (std::thread &stream : streams) stream.join();
    done = true;
    watcher.join();
    EXPECT_EQ(wrong, 0);
}

TEST(IdleWords, AWaitThatLastsNamesTheRankThatHasNotCome) {
    const auto words = make_words(4);
    for (const std::size_t rank : {0, 1, 3}) enter_phase(*words[rank], IdleWords::ready);
    const auto start = Clock::now();
    for (const std::size_t rank : {0, 1, 3}) {
        EXPECT_FALSE(words[rank]->overdue(start, timeout));
        EXPECT_FALSE(words[rank]->overdue(start + timeout / 2, timeout));
        const auto late = words[rank]->overdue(start + timeout, timeout);
        ASSERT_TRUE(late) << rank;
        EXPECT_EQ(late->peer, 2);
        EXPECT_EQ(late->phase, IdleWords::ready);
    }
    EXPECT_FALSE(words[2]->overdue(start, timeout));
    EXPECT_FALSE(words[2]->overdue(start + 2 * timeout, timeout)) << "it waits for nobody";
}

TEST(IdleWords, TheSecondPhaseHasADeadlineToo) {
    const auto words = make_words(2);
    for (const auto &rank : words) enter_phase(*rank, IdleWords::ready);
    for (const auto &rank : words) finish_phase(*rank, IdleWords::ready);
    enter_phase(*words[0], IdleWords::complete);
    const auto start = Clock::now();
    EXPECT_FALSE(words[0]->overdue(start, timeout));
    const auto late = words[0]->overdue(start + timeout, timeout);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->peer, 1);
    EXPECT_EQ(late->phase, IdleWords::complete);
}

/// A stream that waits whenever somebody looks, but makes progress in between.
TEST(IdleWords, ManyShortWaitsAreNotALongOne) {
    const auto words = make_words(2);
    auto now = Clock::now();
    for (int i = 0; i < 40; ++i, now += timeout / 2) {
        enter_phase(*words[0], i % 2);
        EXPECT_FALSE(words[0]->overdue(now, timeout)) << i;
        enter_phase(*words[1], i % 2);
        for (const auto &rank : words) finish_phase(*rank, i % 2);
    }
}

/// All have come, and the stream has not noticed yet: nobody is to blame.
TEST(IdleWords, WhoHasComeIsNotNamed) {
    const auto words = make_words(3);
    for (const auto &rank : words) enter_phase(*rank, IdleWords::ready);
    EXPECT_FALSE(words[0]->overdue(Clock::now(), timeout));
    EXPECT_FALSE(words[0]->overdue(Clock::now() + 2 * timeout, timeout));
}

/// The peers are gone, and more operations are queued behind the one that waits.
TEST(IdleWords, ReleaseEndsWhatIsQueuedBehindAsWell) {
    const auto words = make_words(3);
    std::atomic<bool> done{false};
    std::thread stream([&] {
        for (int operation = 0; operation < 50; ++operation) {
            run_phase(*words[0], IdleWords::ready);
            run_phase(*words[0], IdleWords::complete);
        }
        done = true;
    });
    while (!done) words[0]->release();
    stream.join();
}

}  // namespace
}  // namespace baton::core
