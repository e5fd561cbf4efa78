// Waits of one rank in arenas that the test fills in: what is recorded when one ends with an error.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "sync/wait.hpp"
#include "transport/host/engine.hpp"
#include "transport/host/message_engine.hpp"

namespace baton::core {
namespace {

/// A communicator of `size` ranks as rank 0 sees it, with nobody behind the others.
class Ranks {
public:
    explicit Ranks(int size) {
        view.size = size;
        view.control = &control;
        view.layout = ArenaLayout::make(size, 2, {.packets = 64, .segment = 256});
        for (int rank = 0; rank < size; ++rank) {
            memory_.emplace_back(::operator new (view.layout.total_bytes, std::align_val_t{256}));
            std::memset(memory_.back().get(), 0, view.layout.total_bytes);
            view.arenas[rank] = static_cast<std::byte *>(memory_.back().get());
        }
    }

    void arrive(int rank, int channel, std::uint64_t epoch) {
        for (int word = 0; word < Arrival::words; ++word)
            store_arrival_word(view.own().arrival(epoch, channel, rank), Arrival{}, word, epoch);
    }

    CommView view;
    Control control{};
    std::uint64_t moves = 0;  // of HostMessageEngine

private:
    struct Free {
        void operator()(void *memory) const { ::operator delete (memory, std::align_val_t{256}); }
    };
    std::vector<std::unique_ptr<void, Free>> memory_;
};

TEST(Waits, TheFirstErrorIsRecordedAndEveryRankIsTold) {
    Ranks ranks(3);
    const Signature mine = Signature::make(BATON_ALLREDUCE, BATON_INT32, BATON_SUM, 10);
    const Signature theirs = Signature::make(BATON_ALLREDUCE, BATON_INT32, BATON_SUM, 11);
    give_up(ranks.view, BATON_ERR_MISMATCH, {2, 1, 77, WaitFor::arrival, mine}, theirs);
    give_up(ranks.view, BATON_ERR_TIMEOUT, {1, 0, 78, WaitFor::done, mine});
    EXPECT_EQ(ranks.control.recorded, 1U);
    const ErrorRecord &record = ranks.control.record;
    EXPECT_EQ(record.code, static_cast<std::uint64_t>(BATON_ERR_MISMATCH));
    EXPECT_EQ(record.point.peer, 2);
    EXPECT_EQ(record.point.channel, 1);
    EXPECT_EQ(record.point.epoch, 77U);
    EXPECT_EQ(record.point.wait_for, WaitFor::arrival);
    EXPECT_TRUE(record.point.mine == mine);
    EXPECT_TRUE(record.theirs == theirs);
    for (int rank = 0; rank < 3; ++rank) EXPECT_NE(*ranks.view.arena(rank).abort(1), 0U) << rank;
}

TEST(Waits, AThreadThatWasStoppedItselfWaitsAnew) {
    using namespace std::chrono;
    Ranks ranks(2);
    ranks.view.timeout_ns = static_cast<std::uint64_t>(nanoseconds(milliseconds(200)).count());
    Spin spin(ranks.view, {1, 0, 6, WaitFor::data, {}});
    const auto polls = [&spin] {  // more than lie between two looks
        for (int poll = 0; poll < 1000; ++poll) {
            if (!spin.keep_waiting()) return false;
        }
        return true;
    };
    ASSERT_TRUE(polls());
    std::this_thread::sleep_for(milliseconds(1500));  // stopped
    const auto resumed = steady_clock::now();
    ASSERT_TRUE(polls());
    while (spin.keep_waiting()) {
    }
    EXPECT_GE(steady_clock::now() - resumed, milliseconds(200));
    EXPECT_EQ(ranks.control.record.code, static_cast<std::uint64_t>(BATON_ERR_TIMEOUT));
}

/// A reduction of packets polls all peers at once; its timeout must not name this rank.
TEST(Waits, AWaitForAllPeersNamesTheOneThatHasNotArrived) {
    Ranks ranks(4);
    ranks.view.timeout_ns = 1000;
    constexpr int channel = 1;
    constexpr std::uint64_t epoch = 6;
    ranks.arrive(1, channel, epoch);
    ranks.arrive(2, channel, epoch - 2);  // the previous operation of this parity
    ranks.arrive(3, channel, epoch);
    Spin spin(ranks.view, {any_peer, channel, epoch, WaitFor::data, {}});
    while (spin()) {
    }
    EXPECT_EQ(ranks.control.record.code, static_cast<std::uint64_t>(BATON_ERR_TIMEOUT));
    EXPECT_EQ(ranks.control.record.point.peer, 2);
    EXPECT_EQ(ranks.control.record.point.wait_for, WaitFor::data);
    EXPECT_EQ(AbortWord::culprit(*ranks.view.arena(3).abort(0)), 2);
}

/// The number of a process that has ended.
pid_t ended_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
}

TEST(SingleCopies, FailAsTheSystemSaysWhy) {
    int word = 0;
    auto *const bytes = reinterpret_cast<std::byte *>(&word);
    int copied = 0;
    if (!host_read(reinterpret_cast<std::byte *>(&copied), {bytes, ::getpid()}, sizeof(word)))
        GTEST_SKIP() << "process_vm_readv: " << std::strerror(errno);
    const pid_t ended = ended_process();
    const HostRemote of_the_dead{bytes, ended}, unmapped{nullptr, ::getpid()};
    for (const auto &[remote, code] : {std::pair{of_the_dead, BATON_ERR_PEER_DEAD}, {unmapped, BATON_ERR_SYSTEM}}) {
        HostReach reach;
        reach.pids = {0, remote.process};
        for (const bool message : {false, true}) {
            Ranks ranks(2);
            if (message) {
                HostMessageEngine(ranks.view, reach, Arrival{}, 1, 1, ranks.moves, false)
                    .copy_from(bytes, remote, sizeof(word));
            } else {
                HostEngine(ranks.view, reach, HostScratch(2)).copy_from(bytes, remote, sizeof(word));
            }
            EXPECT_EQ(ranks.control.record.code, static_cast<std::uint64_t>(code)) << message;
            EXPECT_EQ(ranks.control.record.point.peer, 1) << message;
        }
    }
}

TEST(Waits, ALongOneLeavesTheProcessorToOthers) {
    Ranks ranks(2);
    ranks.view.timeout_ns = 60'000'000'000;
    Spin spin(ranks.view, {1, 0, 6, WaitFor::done, {}});
    const auto poll = [&](int polls) {
        const std::uint64_t before = clock_ns();
        while (polls-- > 0) EXPECT_TRUE(spin());
        return clock_ns() - before;
    };
    poll(1 << 21);
    constexpr int looks = 20, polls_a_look = 256;
    EXPECT_GE(poll(looks * polls_a_look), looks * std::uint64_t{100'000});  // it has slept
}

/// A message may take longer than the timeout, as long as its pieces do not.
TEST(Waits, OfAMessageHaveTheTimeoutEach) {
    constexpr int two_looks = 2 * 256;
    Ranks ranks(2);
    Arrival arrival;
    arrival.signature = Signature::make(BATON_SEND, BATON_INT8, BATON_SUM, 1);
    const auto engine = std::make_unique<HostMessageEngine>(ranks.view, HostReach{}, arrival, 1, 1, ranks.moves, false);
    std::uint64_t word = 0;
    ranks.view.timeout_ns = 1'000'000'000;
    for (int poll = 0; poll < 256; ++poll) EXPECT_FALSE(engine->wait_word(&word, 1, WaitFor::taken));
    const std::uint64_t first_deadline = clock_ns() + ranks.view.timeout_ns;
    word = 1;
    EXPECT_TRUE(engine->wait_word(&word, 1, WaitFor::taken));
    ranks.view.timeout_ns = 3'600'000'000'000;
    while (clock_ns() <= first_deadline) rest();
    for (int poll = 0; poll < two_looks; ++poll) EXPECT_FALSE(engine->wait_word(&word, 2, WaitFor::taken));
    EXPECT_FALSE(engine->failed());
    ranks.view.timeout_ns = 0;
    for (int poll = 0; poll < two_looks; ++poll) EXPECT_FALSE(engine->wait_word(&word, 3, WaitFor::taken));
    EXPECT_TRUE(engine->failed());
    EXPECT_EQ(ranks.control.record.code, static_cast<std::uint64_t>(BATON_ERR_TIMEOUT));
}

TEST(Waits, OfAMessageBecomeLong) {
    Ranks ranks(2);
    ranks.view.timeout_ns = 60'000'000'000;
    Arrival arrival;
    arrival.signature = Signature::make(BATON_SEND, BATON_INT8, BATON_SUM, 1);
    for (const int waits : {1, 256}) {
        const auto engine =
            std::make_unique<HostMessageEngine>(ranks.view, HostReach{}, arrival, 1, 1, ranks.moves, false);
        const auto is_long = [&] { return engine->waits_long(static_cast<std::size_t>(waits)); };
        const std::uint64_t word = 0;
        EXPECT_FALSE(is_long());
        int polls = 0;
        while (!is_long() && polls <= 1 << 21 && !engine->wait_until_left(&word, 1)) ++polls;
        EXPECT_EQ(polls * waits, 1 << 21);
        EXPECT_FALSE(engine->failed());
    }
}

}  // namespace
}  // namespace baton::core
