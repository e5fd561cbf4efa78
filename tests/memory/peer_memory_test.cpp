#include "memory/peer_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "fake_domain.hpp"
#include "ranks.hpp"
#include "support/failing_new.hpp"
#include "support/thrown_by.hpp"

namespace baton::core::testing {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::thrown_by;
constexpr auto patience = std::chrono::milliseconds(30000);

struct Rank {
    explicit Rank(Bootstrap &bootstrap, PeerCallbacks callbacks = {})
        : domain(bootstrap.same_process()), peers(bootstrap, domain, std::move(callbacks)) {}

    PublishedRegion publish(void *memory, std::chrono::milliseconds timeout = patience) {
        return peers.publish(domain.export_region(domain.classify(memory)), timeout);
    }

    FakeDomain domain;
    PeerMemory peers;
};

struct Named {
    PublishedRegion place;
    void *address = nullptr;
};

TEST(PeerMemory, EveryRankSeesEveryRegion) {
    for (const int size : {1, 2, 3, 8}) {
        run_threads(size, [](Bootstrap &bootstrap) {
            Rank rank(bootstrap);
            void *memory = rank.domain.allocate(5000);
            const Named mine{rank.publish(memory), memory};
            const auto all = bootstrap.allgather(mine);
            for (int r = 0; r < bootstrap.size(); ++r) {
                const Named &named = all[static_cast<std::size_t>(r)];
                EXPECT_EQ(rank.peers.address(r, named.place), named.address);
                EXPECT_EQ(rank.peers.address(r, {named.place.slot, named.place.generation + 1}), nullptr);
                const RegionEntry &line =
                    rank.peers.table()[static_cast<std::size_t>(r) * region_slots + named.place.slot];
                EXPECT_EQ(line.address, reinterpret_cast<std::uintptr_t>(named.address));
                EXPECT_EQ(line.generation, named.place.generation);
            }
            EXPECT_EQ(rank.domain.imported, bootstrap.size() - 1);
            bootstrap.barrier();
            rank.domain.release(memory);
        });
    }
}

TEST(PeerMemory, RetiredRegionsAreUnmappedAtReclaimAndNotBefore) {
    run_threads(3, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = rank.domain.allocate(100);
        const auto all = bootstrap.allgather(rank.publish(memory));
        bootstrap.barrier();
        rank.peers.reclaim();  // nothing is retired
        EXPECT_EQ(rank.domain.unimported, 0);
        bootstrap.barrier();
        const auto &mine = all[static_cast<std::size_t>(bootstrap.rank())];
        rank.peers.retire(mine.slot);
        EXPECT_EQ(rank.peers.address(bootstrap.rank(), mine), nullptr);
        bootstrap.barrier();
        EXPECT_EQ(rank.domain.unimported, 0);
        rank.peers.reclaim();
        EXPECT_EQ(rank.domain.unimported, 2);
        for (int r = 0; r < 3; ++r) {
            const auto &place = all[static_cast<std::size_t>(r)];
            EXPECT_EQ(rank.peers.address(r, place), nullptr);
        }
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, TwoThousandPublicationsReuseSlotsWithNewGenerations) {
    run_threads(2, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = rank.domain.allocate(100);
        std::vector<std::uint64_t> generations(region_slots, 0);
        for (int i = 0; i < 2000; ++i) {
            const auto place = rank.publish(memory);
            EXPECT_EQ(place.generation, ++generations[place.slot]);
            rank.peers.retire(place.slot);
            if (i % 700 == 0) rank.peers.reclaim();
        }
        bootstrap.barrier();
        rank.peers.reclaim();
        EXPECT_EQ(rank.domain.imported, 2000);
        EXPECT_EQ(rank.domain.unimported, 2000);
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, OneRankPublishesWhileTheOthersAreInNoCall) {
    run_threads(4, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        if (bootstrap.rank() == 2) {
            void *memory = rank.domain.allocate(1);
            for (int i = 0; i < 50; ++i) rank.publish(memory);
            rank.domain.release(memory);
        }
        bootstrap.barrier();
        EXPECT_EQ(rank.domain.imported, bootstrap.rank() == 2 ? 0 : 50);
    });
}

TEST(PeerMemory, SeveralThreadsOfARankPublish) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = rank.domain.allocate(1);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 25; ++i) rank.publish(memory);
            });
        }
        for (std::thread &thread : threads) thread.join();
        bootstrap.barrier();
        EXPECT_EQ(rank.domain.imported, 100);
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, AllSlotsInUseIsAnErrorThatARetireMends) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        if (bootstrap.rank() == 0) {
            void *memory = rank.domain.allocate(1);
            for (int i = 0; i < caller_slots; ++i) rank.publish(memory);
            EXPECT_EQ(code_of([&] { rank.publish(memory); }), BATON_ERR_MEMORY);
            rank.peers.retire(77);
            EXPECT_EQ(rank.publish(memory).slot, 77U);
            rank.domain.release(memory);
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, ARefusedImportNamesThePeerAndItsReason) {
    run_threads(3, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        if (bootstrap.rank() == 1) {
            rank.domain.before_import = [](const RegionPost &post) {
                if (post.generation == 1) fail(BATON_ERR_CUDA, "the cable is out");
            };
        }
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = rank.domain.allocate(1);
            const Failure failure = thrown_by([&] { rank.publish(memory); });
            EXPECT_EQ(failure.code(), BATON_ERR_CUDA);
            EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
            EXPECT_NE(std::string(failure.what()).find("the cable is out"), std::string::npos) << failure.what();
            // The communicator still works, and the slot comes round again.
            for (int i = 1; i < caller_slots; ++i) code_of([&] { rank.peers.retire(rank.publish(memory).slot); });
            EXPECT_EQ(rank.publish(memory).generation, 2U);
            rank.domain.release(memory);
        }
        bootstrap.barrier();
        rank.peers.reclaim();
        if (bootstrap.rank() == 2) {
            EXPECT_EQ(rank.domain.unimported, caller_slots);
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, WhatCannotBeExportedIsRefusedWithItsReason) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        int stack = 0;
        const Failure failure = thrown_by([&] { rank.publish(&stack); });
        EXPECT_EQ(failure.code(), BATON_ERR_UNSUPPORTED);
        EXPECT_NE(std::string(failure.what()).find("ordinary host memory"), std::string::npos) << failure.what();
    });
}

/// Lets a test hold a peer's service thread inside an import.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [&] { return open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

TEST(PeerMemory, APeerThatDoesNotAnswerIsATimeoutThatNamesIt) {
    Gate gate;
    run_threads(2, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        rank.domain.before_import = [&](const RegionPost &) { gate.pass(); };
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = rank.domain.allocate(1);
            const Failure failure = thrown_by([&] { rank.publish(memory, 50ms); });
            EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
            EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
            // The communicator is broken: the next call fails in the same way, at once.
            EXPECT_EQ(code_of([&] { rank.publish(memory); }), BATON_ERR_TIMEOUT);
            gate.open();
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, InterruptEndsAPublishInProgressAndLaterOnes) {
    Gate gate;
    std::atomic<bool> importing{false};
    run_threads(2, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        rank.domain.before_import = [&](const RegionPost &) {
            importing = true;
            gate.pass();
        };
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = rank.domain.allocate(1);
            std::thread aborter([&] {
                while (!importing) std::this_thread::yield();
                rank.peers.interrupt({BATON_ERR_MISMATCH, "ranks 2 and 3 disagree"});
            });
            const Failure failure = thrown_by([&] { rank.publish(memory); });
            EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
            EXPECT_STREQ(failure.what(), "ranks 2 and 3 disagree");
            aborter.join();
            EXPECT_EQ(code_of([&] { rank.publish(memory); }), BATON_ERR_MISMATCH);
            gate.open();
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, AClosedPeerIsNotWaitedFor) {
    run_threads(2, [](Bootstrap &bootstrap) {
        auto rank = std::make_unique<Rank>(bootstrap);
        if (bootstrap.rank() == 1) {
            rank->peers.leave();
            rank.reset();
        }
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = rank->domain.allocate(1);
            const Failure failure = thrown_by([&] { rank->publish(memory); });
            EXPECT_EQ(failure.code(), BATON_ERR_PEER_DEAD);
            EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
            EXPECT_NE(std::string(failure.what()).find("destroyed its communicator"), std::string::npos)
                << failure.what();
            rank->domain.release(memory);
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, APeerThatHasLeftBecauseOfAnErrorIsNotTheError) {
    run_threads(2, [](Bootstrap &bootstrap) {
        auto rank = std::make_unique<Rank>(bootstrap);
        if (bootstrap.rank() == 1) {
            rank->peers.post_error({BATON_ERR_MISMATCH, "found by rank 1"});
            rank->peers.leave();
            rank.reset();
        }
        bootstrap.barrier();
        if (bootstrap.rank() == 0) {
            void *memory = rank->domain.allocate(1);
            const Failure failure = thrown_by([&] { rank->publish(memory); });
            EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
            EXPECT_STREQ(failure.what(), "found by rank 1");
            rank->domain.release(memory);
        }
        bootstrap.barrier();
    });
}

TEST(PeerMemory, TheFirstInterruptionStays) {
    run_threads(1, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        rank.peers.interrupt({BATON_ERR_MISMATCH, "first"});
        rank.peers.interrupt({BATON_ERR_ABORTED, "second"});
        EXPECT_STREQ(rank.peers.interruption()->what(), "first");
    });
}

TEST(PeerMemory, WhatCannotBePublishedForWantOfMemoryTakesNoSlot) {
    run_threads(1, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = rank.domain.allocate(1);
        const auto published_with = [&](long allocations) {
            test::allocations_left = allocations;
            try {
                const std::uint32_t slot = rank.publish(memory).slot;
                test::allocations_left = -1;
                rank.peers.retire(slot);
                return true;
            } catch (const std::bad_alloc &) {
                test::allocations_left = -1;
                return false;
            }
        };
        long allocations = 0;
        while (!published_with(allocations)) ++allocations;
        EXPECT_GT(allocations, 0);
        for (int slot = 0; slot < caller_slots; ++slot) rank.publish(memory);
        EXPECT_EQ(code_of([&] { rank.publish(memory); }), BATON_ERR_MEMORY);
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, RetiringNeedsNoMemory) {
    run_threads(1, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = rank.domain.allocate(1);
        for (int time = 0; time < 2 * caller_slots; ++time) {
            const std::uint32_t slot = rank.publish(memory).slot;
            test::allocations_left = 0;
            rank.peers.retire(slot);
            EXPECT_EQ(test::allocations_left, 0) << "time " << time;
            test::allocations_left = -1;
        }
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, TheFirstErrorLineOfARankStays) {
    run_threads(3, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        EXPECT_FALSE(rank.peers.error_of(1));
        bootstrap.barrier();
        if (bootstrap.rank() == 1) {
            rank.peers.post_error({BATON_ERR_MISMATCH, "ranks 0 and 1 disagree"});
            rank.peers.post_error({BATON_ERR_TIMEOUT, "something later"});
        }
        bootstrap.barrier();
        const std::optional<Failure> first = rank.peers.error_of(1);
        ASSERT_TRUE(first);
        EXPECT_EQ(first->code(), BATON_ERR_MISMATCH);
        EXPECT_STREQ(first->what(), "ranks 0 and 1 disagree");
        EXPECT_FALSE(rank.peers.error_of(0));
        bootstrap.barrier();
        if (bootstrap.rank() == 0) rank.peers.post_error({BATON_ERR_INTERNAL, std::string(5000, 'x')});
        bootstrap.barrier();
        const std::optional<Failure> cut = rank.peers.error_of(0);
        ASSERT_TRUE(cut);
        const std::string text = cut->what();
        EXPECT_GE(text.size(), 400U);
        EXPECT_EQ(text.find_first_not_of('x'), text.size() - 3) << text;
        EXPECT_EQ(text.substr(text.size() - 3), "...") << "what was cut does not say so";
        bootstrap.barrier();
    });
}

TEST(PeerMemory, TicksComeWithoutBeingAsked) {
    std::atomic<int> ticks{0};
    run_threads(1, [&](Bootstrap &bootstrap) {
        PeerCallbacks callbacks;
        callbacks.tick = [&] { ++ticks; };
        const auto start = std::chrono::steady_clock::now();
        Rank rank(bootstrap, std::move(callbacks));
        while (ticks < 3 && std::chrono::steady_clock::now() - start < 30s) std::this_thread::yield();
        EXPECT_GE(ticks, 3);
        EXPECT_GE(std::chrono::steady_clock::now() - start, 250ms);
    });
}

TEST(PeerMemory, AFailingCallbackDoesNotEndTheServiceThread) {
    std::atomic<int> ticks{0};
    run_threads(2, [&](Bootstrap &bootstrap) {
        PeerCallbacks callbacks;
        callbacks.tick = [&] {
            ++ticks;
            fail(BATON_ERR_INTERNAL, "thrown by a test");
        };
        Rank rank(bootstrap, std::move(callbacks));
        while (ticks < 2) std::this_thread::yield();
        void *memory = rank.domain.allocate(1);
        rank.publish(memory);
        bootstrap.barrier();
        rank.domain.release(memory);
    });
}

TEST(PeerMemory, SeveralCommunicatorsAtOnce) {
    run_threads(3, [](Bootstrap &bootstrap) {
        Rank first(bootstrap);
        Rank second(bootstrap);
        void *memory = first.domain.allocate(1);
        const auto in_first = first.publish(memory);
        const auto in_second = second.publish(memory);
        bootstrap.barrier();
        const int peer = (bootstrap.rank() + 1) % 3;
        EXPECT_NE(first.peers.address(peer, in_first), nullptr);
        EXPECT_NE(second.peers.address(peer, in_second), nullptr);
        bootstrap.barrier();
        first.domain.release(memory);
    });
}

}  // namespace
}  // namespace baton::core::testing
