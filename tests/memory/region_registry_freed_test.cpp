// What becomes of the regions of memory that has been freed.
#include "memory/region_registry.hpp"

#include <gtest/gtest.h>

#include "region_rank.hpp"

namespace baton::core::testing {
namespace {

TEST(RegionRegistry, SaysWhatItHasFreed) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        void *const memory = rank.registry.allocate(page);
        void *const window = rank.registry.allocate_published(page).pointer;
        const PointerInfo of_memory = rank.domain.classify(memory), of_window = rank.domain.classify(window);
        EXPECT_TRUE(rank.freed.empty());
        rank.registry.release(memory);
        rank.registry.release_published(window);
        ASSERT_EQ(rank.freed.size(), 2U);
        EXPECT_EQ(rank.freed[0].base, of_memory.base);
        EXPECT_EQ(rank.freed[0].size, of_memory.size);
        EXPECT_EQ(rank.freed[0].buffer_id, of_memory.buffer_id);
        EXPECT_EQ(rank.freed[1].buffer_id, of_window.buffer_id);
    });
}

TEST(RegionRegistry, ForgetsWhatAnotherCommunicatorHasFreed) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        rank.domain.pretend(place_of_memory, page, 1);
        ASSERT_TRUE(rank.locate(place_of_memory).direct);
        const PointerInfo info = rank.domain.classify(reinterpret_cast<const void *>(place_of_memory));
        PointerInfo later = info;
        later.buffer_id = 2;
        rank.registry.forget(later);
        EXPECT_EQ(rank.registry.count(), 1U) << "what lies there now is something else";
        rank.registry.forget(info);
        EXPECT_EQ(rank.registry.count(), 0U);
        rank.registry.retire_dropped();
        peer.peers.reclaim();
        EXPECT_EQ(peer.domain.unimported, 1);

        // forget() does not wait for a publication that is under way.
        ASSERT_TRUE(rank.locate(place_of_memory).direct);
        peer.domain.before_import = [&](const RegionPost &) {
            rank.domain.pretend(place_of_memory, page, 0);
            rank.registry.forget(info);
        };
        rank.domain.pretend(place_of_memory + page, page, 3);
        ASSERT_TRUE(rank.locate(place_of_memory + page).direct);
        peer.domain.before_import = nullptr;
        EXPECT_EQ(rank.registry.count(), 2U);
        rank.registry.retire_dropped();
        EXPECT_EQ(rank.registry.count(), 1U);
    });
}

TEST(RegionRegistry, FreedMemoryGivesItsSlotBackWhenSlotsAreShort) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        take_all_slots(rank);
        const std::uint64_t next = place_of_memory + caller_slots * page;
        rank.domain.pretend(next, page, 5000);
        const auto refused = rank.locate(next);
        EXPECT_FALSE(refused.direct);
        EXPECT_NE(refused.reason.find("in use"), std::string::npos) << refused.reason;
        EXPECT_NE(rank.peek(next).value().reason.find("in use"), std::string::npos);
        for (std::uint64_t i = 0; i < 10; ++i) rank.domain.pretend(place_of_memory + i * page, 0, 0);
        EXPECT_TRUE(rank.locate(next).direct) << "the shortage is over, but was remembered";
        EXPECT_EQ(rank.registry.count(), static_cast<std::size_t>(caller_slots) - 9);
    });
}

TEST(RegionRegistry, SoDoesMemoryThatOthersHaveTakenThePlaceOf) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        take_all_slots(rank);
        for (std::uint64_t i = 0; i < 10; ++i) rank.domain.pretend(place_of_memory + i * page, page, 9000 + i);
        const std::uint64_t next = place_of_memory + caller_slots * page;
        rank.domain.pretend(next, page, 5000);
        EXPECT_TRUE(rank.locate(next).direct);
    });
}

/// To this process, memory that cudaFreeAsync frees behind an operation is gone at once.
TEST(RegionRegistry, PeersKeepFreedMemoryUntilWhatWasIssuedBeforeIsDone) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        const auto peer_has = [&](const RegionRegistry::Location &place) {
            peer.peers.reclaim();
            return peer.peers.address(0, place.place) != nullptr;
        };
        rank.domain.pretend(place_of_memory, page, 1);
        const auto first = rank.locate(place_of_memory);
        rank.issued = 1;
        rank.domain.pretend(place_of_memory, page, 2);
        const auto second = rank.locate(place_of_memory);
        EXPECT_TRUE(second.direct);
        EXPECT_TRUE(peer_has(first));
        EXPECT_EQ(rank.registry.count(), 1U);

        rank.issued = 2;
        rank.domain.pretend(place_of_memory, page, 3);
        const auto third = rank.locate(place_of_memory);
        rank.registry.retire_dropped();
        EXPECT_TRUE(peer_has(first));

        rank.done = 1;
        rank.registry.retire_dropped();
        EXPECT_FALSE(peer_has(first));
        EXPECT_TRUE(peer_has(second)) << "dropped behind the second operation";

        rank.done = 2;
        rank.registry.retire_dropped();
        EXPECT_FALSE(peer_has(second));
        EXPECT_TRUE(peer_has(third));
    });
}

TEST(RegionRegistry, TheSlotsOfFreedMemoryAreShortUntilWhatWasIssuedBeforeIsDone) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        take_all_slots(rank);
        rank.issued = 1;
        for (std::uint64_t i = 0; i < 10; ++i) rank.domain.pretend(place_of_memory + i * page, 0, 0);
        const std::uint64_t next = place_of_memory + caller_slots * page;
        rank.domain.pretend(next, page, 5000);
        EXPECT_FALSE(rank.locate(next).direct);
        EXPECT_NE(rank.peek(next).value().reason.find("in use"), std::string::npos);
        // This region is dropped behind the mark, so it waits for the next mark.
        rank.issued = 2;
        rank.domain.pretend(place_of_memory + 20 * page, 0, 0);
        EXPECT_FALSE(rank.locate(next).direct);
        EXPECT_NE(rank.peek(next).value().reason.find("in use"), std::string::npos);
        rank.done = 1;
        EXPECT_TRUE(rank.locate(next).direct);
    });
}

/// An operation on other memory may wait for its peers for a long time.
TEST(RegionRegistry, ReleasedMemoryIsGivenUpBesideOperationsUnderWay) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        rank.issued = 1;
        const auto window = rank.registry.allocate_published(100);
        rank.registry.release_published(window.pointer);
        peer.peers.reclaim();
        EXPECT_EQ(peer.peers.address(0, window.published), nullptr);
        for (int i = 0; i <= caller_slots; ++i) rank.registry.release(rank.registry.allocate(10));
        EXPECT_EQ(rank.domain.allocated, 0);
        EXPECT_EQ(rank.registry.count(), 0U);
    });
}

}  // namespace
}  // namespace baton::core::testing
