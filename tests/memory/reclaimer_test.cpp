#include "memory/reclaimer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fake_domain.hpp"
#include "memory/peer_memory.hpp"
#include "ranks.hpp"

namespace baton::core::testing {
namespace {

void forget_nothing(const PointerInfo & /*freed*/) {}

/// One communicator of a rank. Its domain counts mappings, and the test says whether it is idle.
struct FakeCommunicator {
    FakeCommunicator(Bootstrap &bootstrap, Reclaimer &the_reclaimer)
        : domain(bootstrap.same_process()), peers(bootstrap, domain, {}), reclaimer(the_reclaimer) {
        membership = reclaimer.join({[this] { return idle.load(); }, [this] { peers.reclaim(); }, forget_nothing});
    }

    /// Publishes memory that the peers map, and gives it up.
    void publish_and_retire(Bootstrap &bootstrap) {
        void *memory = domain.allocate(100);
        const auto place = peers.publish(domain.export_region(domain.classify(memory)), std::chrono::seconds(30));
        bootstrap.barrier();
        peers.retire(place.slot);
        domain.release(memory);
        bootstrap.barrier();
    }

    FakeDomain domain;
    PeerMemory peers;
    Reclaimer &reclaimer;
    std::atomic<bool> idle{true};
    Reclaimer::Membership membership;
};

TEST(Reclaimer, UnmapsForAllCommunicatorsOnceAllAreIdle) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Reclaimer reclaimer;  // each thread stands for a process
        FakeCommunicator first(bootstrap, reclaimer), second(bootstrap, reclaimer), third(bootstrap, reclaimer);
        first.publish_and_retire(bootstrap);
        second.publish_and_retire(bootstrap);
        third.idle = false;  // and has nothing to unmap
        reclaimer.unmap_if_idle();
        EXPECT_EQ(first.domain.unimported, 0);
        EXPECT_EQ(second.domain.unimported, 0);
        third.idle = true;
        reclaimer.unmap_if_idle();
        EXPECT_EQ(first.domain.unimported, 1);
        EXPECT_EQ(second.domain.unimported, 1);
        reclaimer.unmap_if_idle();
        EXPECT_EQ(first.domain.unimported, 1);
        bootstrap.barrier();
    });
}

TEST(Reclaimer, AnOperationThatIsBeingIssuedPutsItOff) {
    run_threads(2, [](Bootstrap &bootstrap) {
        Reclaimer reclaimer;
        FakeCommunicator comm(bootstrap, reclaimer);
        comm.publish_and_retire(bootstrap);
        {
            const auto issuing = reclaimer.issue();
            std::thread([&] { reclaimer.unmap_if_idle(); }).join();
            EXPECT_EQ(comm.domain.unimported, 0);
        }
        reclaimer.unmap_if_idle();
        EXPECT_EQ(comm.domain.unimported, 1);
        bootstrap.barrier();
    });
}

TEST(Reclaimer, NothingIsIssuedWhileItUnmaps) {
    Reclaimer reclaimer;
    std::atomic<bool> started{false}, issued{false};
    std::thread issuer;
    const auto unmap = [&] {
        issuer = std::thread([&] {
            started = true;
            const auto issuing = reclaimer.issue();
            issued = true;
        });
        while (!started) std::this_thread::yield();
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
        EXPECT_FALSE(issued);
    };
    const auto member = reclaimer.join({[] { return true; }, unmap, forget_nothing});
    reclaimer.unmap_if_idle();
    issuer.join();
    EXPECT_TRUE(issued);
}

TEST(Reclaimer, OneUnmapsByItselfOnceAllAreIdle) {
    Reclaimer reclaimer;
    bool idle = false;
    int unmapped = 0;
    const auto member = reclaimer.join({[&] { return idle; }, [] { ADD_FAILURE() << "not asked"; }, forget_nothing});
    const auto unmap = [&] { ++unmapped; };
    reclaimer.if_idle(unmap);
    EXPECT_EQ(unmapped, 0);
    idle = true;
    {
        const auto issuing = reclaimer.issue();
        std::thread([&] { reclaimer.if_idle(unmap); }).join();
        EXPECT_EQ(unmapped, 0);
    }
    reclaimer.if_idle(unmap);
    EXPECT_EQ(unmapped, 1);
}

TEST(Reclaimer, AllAreToldOfMemoryThatOneHasFreed) {
    Reclaimer reclaimer;
    std::vector<std::uint64_t> told;
    const auto forget = [&](const PointerInfo &freed) { told.push_back(freed.base); };
    auto first = reclaimer.join({[] { return false; }, [] {}, forget});
    const auto second = reclaimer.join({[] { return false; }, [] {}, forget});
    PointerInfo freed;
    freed.base = 4096;
    reclaimer.forget(freed);
    EXPECT_EQ(told, (std::vector<std::uint64_t>{4096, 4096}));
    first.leave();
    reclaimer.forget(freed);
    EXPECT_EQ(told.size(), 3U);
}

TEST(Reclaimer, WhoHasLeftIsNotAsked) {
    Reclaimer reclaimer;
    int asked = 0, unmapped = 0;
    auto busy = reclaimer.join({[&] { return ++asked == 0; }, [] {}, forget_nothing});
    const auto idle = reclaimer.join({[] { return true; }, [&] { ++unmapped; }, forget_nothing});
    reclaimer.unmap_if_idle();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(unmapped, 0);
    busy.leave();
    reclaimer.unmap_if_idle();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(unmapped, 1);
    {
        const auto short_lived = reclaimer.join({[&] { return ++asked == 0; }, [] {}, forget_nothing});
    }
    reclaimer.unmap_if_idle();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(unmapped, 2);
}

}  // namespace
}  // namespace baton::core::testing
