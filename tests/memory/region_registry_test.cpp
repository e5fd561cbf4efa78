#include "memory/region_registry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "region_rank.hpp"

namespace baton::core::testing {
namespace {

TEST(RegionRegistry, PublishesAnAllocationOnceAndFindsItAgain) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        rank.domain.pretend(place_of_memory, 10 * page, 1);
        EXPECT_FALSE(rank.peek(place_of_memory + 5));
        const auto first = rank.locate(place_of_memory + 5);
        EXPECT_TRUE(first.direct);
        EXPECT_EQ(first.offset, 5U);
        const auto second = rank.locate(place_of_memory + 9 * page);
        EXPECT_EQ(second.place, first.place);
        EXPECT_EQ(second.offset, 9 * page);
        EXPECT_EQ(rank.domain.exported, 1);
        EXPECT_EQ(peer.domain.imported, 1);
        EXPECT_EQ(rank.registry.count(), 1U);
        EXPECT_FALSE(rank.registry.asked_bytes(rank.domain.classify(reinterpret_cast<const void *>(place_of_memory))));
        const auto peeked = rank.peek(place_of_memory + 7).value();
        EXPECT_TRUE(peeked.direct);
        EXPECT_EQ(peeked.offset, 7U);
    });
}

TEST(RegionRegistry, ChunksSideBySideAreUsedAsOneAndExportedSingly) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        constexpr std::uint64_t start = place_of_memory + 5;
        for (std::uint64_t i = 0; i < 3; ++i) rank.domain.pretend_chunk(place_of_memory + i * page, page, i + 1);
        EXPECT_EQ(rank.usable(start, 3 * page), 3 * page - 5) << "to the end of the last chunk";
        EXPECT_GE(rank.usable(start, page), page) << "as far as it was asked for";
        EXPECT_FALSE(rank.peek(start, 2 * page).value().direct);
        const auto across = rank.locate(start, 2 * page);
        EXPECT_FALSE(across.direct);
        EXPECT_NE(across.reason.find("several mappings"), std::string::npos) << across.reason;
        EXPECT_EQ(peer.domain.imported, 0);
        const auto within = rank.locate(place_of_memory + page + 7, page - 7);
        EXPECT_TRUE(within.direct);
        EXPECT_EQ(within.offset, 7U);
        EXPECT_EQ(code_of([&] { rank.add(start, 2 * page); }), BATON_ERR_UNSUPPORTED);
        EXPECT_EQ(code_of([&] { rank.add(start, 3 * page - 5); }), BATON_ERR_UNSUPPORTED) << "to the end";
    });
}

TEST(RegionRegistry, AChunkEndsWhereTheNextOneIsAnotherDevicesOrNone) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend_chunk(place_of_memory, page, 1);
        EXPECT_EQ(rank.usable(place_of_memory, 2 * page), page) << "nothing there";
        rank.domain.pretend_chunk(place_of_memory + page, page, 2, 1);
        EXPECT_EQ(rank.usable(place_of_memory, 2 * page), page) << "another device";
        rank.domain.pretend(place_of_memory + page, page, 3);
        EXPECT_EQ(rank.usable(place_of_memory, 2 * page), page) << "an allocation";
        rank.domain.pretend(place_of_memory, page, 4);
        EXPECT_EQ(rank.usable(place_of_memory, 2 * page), page) << "two allocations that happen to be neighbours";
    });
}

TEST(RegionRegistry, ANewBufferIdAtTheSameAddressIsANewRegion) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        rank.domain.pretend(place_of_memory, page, 1);
        const auto before = rank.locate(place_of_memory);
        rank.domain.pretend(place_of_memory, page, 2);
        EXPECT_FALSE(rank.peek(place_of_memory));
        const auto after = rank.locate(place_of_memory);
        EXPECT_TRUE(after.direct);
        EXPECT_NE(after.place, before.place);
        EXPECT_EQ(rank.registry.count(), 1U);
        EXPECT_EQ(peer.domain.imported, 2);
        EXPECT_EQ(peer.domain.unimported, 0);
        peer.peers.reclaim();
        EXPECT_EQ(peer.domain.unimported, 1);
    });
}

TEST(RegionRegistry, ANewAllocationOverOldOnesReplacesThem) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        for (std::uint64_t i = 0; i < 4; ++i) {
            rank.domain.pretend(place_of_memory + i * page, page, i + 1);
            rank.locate(place_of_memory + i * page);
        }
        EXPECT_EQ(rank.registry.count(), 4U);
        // The first three are freed, and one piece is allocated that begins within the first and ends within the third.
        for (std::uint64_t i = 0; i < 3; ++i) rank.domain.pretend(place_of_memory + i * page, 0, 0);
        const std::uint64_t base = place_of_memory + page / 2;
        rank.domain.pretend(base, 2 * page, 9);
        EXPECT_EQ(rank.locate(base + 10).offset, 10U);
        EXPECT_EQ(rank.registry.count(), 2U);  // it and the fourth
        EXPECT_TRUE(rank.peek(place_of_memory + 3 * page).value().direct);
    });
}

TEST(RegionRegistry, TheSameBaseWithAnotherSizeIsANewRegion) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend(place_of_memory, page, 1);
        const auto small = rank.locate(place_of_memory);
        rank.domain.pretend(place_of_memory, 2 * page, 1);
        const auto large = rank.locate(place_of_memory + page);
        EXPECT_TRUE(large.direct);
        EXPECT_NE(large.place.slot, small.place.slot);
        EXPECT_EQ(rank.registry.count(), 1U);
    });
}

TEST(RegionRegistry, WhatCannotBeExportedHasNoRegion) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend(place_of_memory, page, 1, "it is made of glass");
        for (int i = 0; i < 5; ++i) {
            const auto place = rank.locate(place_of_memory);
            EXPECT_FALSE(place.direct);
            EXPECT_NE(place.reason.find("made of glass"), std::string::npos) << place.reason;
        }
        EXPECT_EQ(rank.registry.count(), 0U);
        const auto *pointer = reinterpret_cast<const void *>(place_of_memory);
        EXPECT_EQ(code_of([&] { rank.add(place_of_memory); }), BATON_ERR_UNSUPPORTED);
        EXPECT_EQ(code_of([&] { rank.registry.remove(pointer); }), BATON_ERR_ARGUMENT);
        // Allocated again, this time exportable.
        rank.domain.pretend(place_of_memory, page, 2);
        EXPECT_TRUE(rank.locate(place_of_memory).direct);
    });
}

/// A program may have any number of such buffers, and new ones in each call (cudaMallocAsync of the default pool).
TEST(RegionRegistry, WhatCannotBeExportedCostsTheSameHoweverMuchThereIs) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend(place_of_memory, page, 1);
        ASSERT_TRUE(rank.locate(place_of_memory).direct);
        constexpr int buffers = 100;
        const int before = rank.domain.classified;
        for (int i = 1; i <= buffers; ++i) {
            const std::uint64_t address = place_of_memory + static_cast<std::uint64_t>(i) * page;
            rank.domain.pretend(address, page, 1000 + static_cast<std::uint64_t>(i), "it is made of glass");
            EXPECT_FALSE(rank.locate(address).direct);
            EXPECT_EQ(code_of([&] { rank.add(address); }), BATON_ERR_UNSUPPORTED);
        }
        EXPECT_EQ(rank.domain.classified - before, 2 * buffers) << "by the test, for locate() and add()";
        // Later publications do not cost more either, because nothing was kept of them.
        const int with_them = rank.domain.classified;
        const std::uint64_t next = place_of_memory + (buffers + 1) * page;
        rank.domain.pretend(next, page, 2);
        EXPECT_TRUE(rank.locate(next).direct);
        EXPECT_EQ(rank.domain.classified - with_them, 2) << "itself, and the one region that there is";
    });
}

TEST(RegionRegistry, WhatCannotBeExportedIsKnownBeforeItsFirstUse) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend(place_of_memory, page, 1, "it is made of glass");
        EXPECT_EQ(rank.peek(place_of_memory).value().reason, "it is made of glass");
    });
}

TEST(RegionRegistry, APeersRefusalIsRememberedForThatAllocation) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        std::atomic<int> asked{0};
        peer.domain.before_import = [&](const RegionPost &) {
            ++asked;
            fail(BATON_ERR_CUDA, "no way there");
        };
        rank.domain.pretend(place_of_memory, page, 1);
        for (int i = 0; i < 3; ++i) {
            const auto place = rank.locate(place_of_memory);
            EXPECT_FALSE(place.direct);
            EXPECT_NE(place.reason.find("rank 1"), std::string::npos) << place.reason;
            EXPECT_NE(place.reason.find("no way there"), std::string::npos) << place.reason;
        }
        EXPECT_EQ(asked, 1);
        EXPECT_NE(rank.peek(place_of_memory).value().reason.find("no way there"), std::string::npos);
        // baton_malloc memory is usable all the same; a window needs its peers.
        void *memory = rank.registry.allocate(10);
        EXPECT_FALSE(rank.locate(reinterpret_cast<std::uintptr_t>(memory)).direct);
        rank.registry.release(memory);
        EXPECT_EQ(code_of([&] { rank.registry.allocate_published(10); }), BATON_ERR_CUDA);
        EXPECT_EQ(rank.registry.allocated_bytes(), 0U);
        peer.domain.before_import = nullptr;
    });
}

TEST(RegionRegistry, ARefusalIsTriedAgainByRegistering) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        std::atomic<int> asked{0};
        peer.domain.before_import = [&](const RegionPost &) {
            ++asked;
            fail(BATON_ERR_SYSTEM, "too many open files");
        };
        rank.domain.pretend(place_of_memory, page, 1);
        EXPECT_EQ(code_of([&] { rank.add(place_of_memory, page); }), BATON_ERR_SYSTEM);
        EXPECT_EQ(asked, 1);
        EXPECT_EQ(code_of([&] { rank.add(place_of_memory, page); }), BATON_ERR_SYSTEM);
        EXPECT_EQ(asked, 2);
        peer.domain.before_import = nullptr;
        EXPECT_FALSE(rank.locate(place_of_memory).direct) << "calls do not ask each time";
        EXPECT_EQ(code_of([&] { rank.add(place_of_memory, page); }), BATON_SUCCESS);
        const auto place = rank.locate(place_of_memory);
        EXPECT_TRUE(place.direct);
        EXPECT_EQ(place.reason, "");
        rank.registry.remove(reinterpret_cast<const void *>(place_of_memory));
    });
}

/// All slots are taken, until one turns out to hold freed memory.
TEST(RegionRegistry, ARefusalIsTriedAgainWithTheSlotsOfFreedMemory) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        peer.domain.before_import = [](const RegionPost &) { fail(BATON_ERR_SYSTEM, "too many open files"); };
        constexpr std::uint64_t refused = place_of_memory + caller_slots * page;
        rank.domain.pretend(refused, page, 5000);
        EXPECT_FALSE(rank.locate(refused).direct);
        peer.domain.before_import = nullptr;
        take_all_slots(rank);
        EXPECT_EQ(code_of([&] { rank.add(refused, page); }), BATON_ERR_MEMORY);
        rank.domain.pretend(place_of_memory, page, 0);
        EXPECT_EQ(code_of([&] { rank.add(refused, page); }), BATON_SUCCESS);
    });
}

/// An error that breaks the communicator says nothing about the memory, whatever its code: no call goes on by a copy.
TEST(RegionRegistry, AnInterruptionIsNotTakenForARefusal) {
    for (const baton_result code : {BATON_ERR_MEMORY, BATON_ERR_UNSUPPORTED, BATON_ERR_ABORTED}) {
        with_a_peer<Rank>([&](Rank &rank, Rank & /*peer*/) {
            rank.domain.pretend(place_of_memory, page, 1);
            rank.peers.interrupt({code, "over"});
            EXPECT_EQ(code_of([&] { rank.locate(place_of_memory); }), code);
        });
    }
}

TEST(RegionRegistry, OrdinaryMemoryIsNotDirect) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        int stack = 0;
        const auto address = reinterpret_cast<std::uintptr_t>(&stack);
        const auto place = rank.locate(address, sizeof(stack));
        EXPECT_FALSE(place.direct);
        EXPECT_EQ(place.reason, "ordinary host memory is not shared between processes");
        EXPECT_EQ(rank.peek(address, sizeof(stack)).value().reason, place.reason);
        EXPECT_EQ(code_of([&] { rank.add(address, sizeof(stack)); }), BATON_ERR_UNSUPPORTED);
    });
}

TEST(RegionRegistry, RegistrationsAreCounted) {
    with_a_peer<Rank>([](Rank &rank, Rank & /*peer*/) {
        rank.domain.pretend(place_of_memory, page, 1);
        const auto *start = reinterpret_cast<const void *>(place_of_memory);
        const auto *middle = reinterpret_cast<const void *>(place_of_memory + 100);
        EXPECT_EQ(code_of([&] { rank.registry.remove(start); }), BATON_ERR_ARGUMENT);
        rank.add(place_of_memory, page);
        rank.add(place_of_memory + 100, 10);
        EXPECT_EQ(rank.registry.count(), 1U);
        rank.registry.remove(middle);
        rank.registry.remove(start);
        EXPECT_EQ(code_of([&] { rank.registry.remove(start); }), BATON_ERR_ARGUMENT);
        EXPECT_EQ(code_of([&] { rank.add(place_of_memory + 100, page - 100); }), BATON_SUCCESS);
        EXPECT_EQ(rank.domain.exported, 1);
    });
}

/// Where the caller's memory has taken its slots, calls on other memory go through staging.
TEST(RegionRegistry, BatonsOwnMemoryDoesNotNeedTheCallersSlots) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        take_all_slots(rank);
        EXPECT_EQ(code_of([&] { rank.registry.allocate(10); }), BATON_ERR_MEMORY);
        EXPECT_EQ(rank.domain.allocated, 0);
        const std::uint64_t next = place_of_memory + caller_slots * page;
        rank.domain.pretend(next, page, 5000);
        EXPECT_EQ(code_of([&] { rank.add(next); }), BATON_ERR_MEMORY);
        EXPECT_EQ(rank.registry.allocated_bytes(), 0U);
        for (int i = 0; i < own_slots; ++i) {
            const auto staging = rank.registry.allocate_published(10);
            ASSERT_EQ(peer.peers.address(0, staging.published), staging.pointer);
        }
        EXPECT_EQ(code_of([&] { rank.registry.allocate_published(10); }), BATON_ERR_MEMORY);
        const int imported = peer.domain.imported;
        void *scratch = rank.registry.allocate_scratch(100);
        EXPECT_EQ(peer.domain.imported, imported) << "nobody else has a use for it";
        EXPECT_FALSE(rank.locate(reinterpret_cast<std::uintptr_t>(scratch)).direct);
    });
}

TEST(RegionRegistry, AllocatedMemoryIsPublishedFromBirth) {
    with_a_peer<Rank>([](Rank &rank, Rank &peer) {
        void *memory = rank.registry.allocate(1000);
        EXPECT_EQ(peer.domain.imported, 1);
        EXPECT_TRUE(rank.peek(reinterpret_cast<std::uintptr_t>(memory) + 999).value().direct);
        EXPECT_EQ(rank.registry.allocated_bytes(), 1000U);
        const auto window = rank.registry.allocate_published(500);
        EXPECT_EQ(peer.peers.address(0, window.published), window.pointer);
        EXPECT_EQ(rank.registry.allocated_bytes(), 1500U);
        EXPECT_EQ(rank.registry.asked_bytes(rank.domain.classify(static_cast<char *>(memory) + 2000)), 1000U);
        EXPECT_EQ(rank.registry.asked_bytes(rank.domain.classify(window.pointer)), 500U);
        int stack = 0;
        EXPECT_EQ(code_of([&] { rank.registry.release(&stack); }), BATON_ERR_ARGUMENT);
        EXPECT_EQ(code_of([&] { rank.registry.release(static_cast<char *>(memory) + 1); }), BATON_ERR_ARGUMENT);
        rank.registry.release(memory);
        EXPECT_EQ(code_of([&] { rank.registry.release(memory); }), BATON_ERR_ARGUMENT);
        EXPECT_EQ(*static_cast<char *>(memory), 0) << "not mapped any more, though the peer has it";
        EXPECT_EQ(rank.domain.classify(memory).kind, PointerInfo::Kind::invalid);
        peer.peers.reclaim();
        EXPECT_EQ(rank.domain.classify(memory).kind, PointerInfo::Kind::invalid);
        EXPECT_EQ(rank.registry.allocated_bytes(), 500U);
        EXPECT_EQ(rank.registry.count(), 1U);  // the window's memory
        EXPECT_EQ(code_of([&] { rank.registry.release(window.pointer); }), BATON_ERR_ARGUMENT);
        EXPECT_EQ(rank.registry.allocated_bytes(), 500U);
        rank.registry.release_published(window.pointer);
        EXPECT_EQ(rank.registry.allocated_bytes(), 0U);
        rank.registry.allocate_published(700);  // the destructor frees it
        void *scratch = nullptr;
        {
            RegionRegistry other(rank.domain, rank.peers, std::chrono::seconds(30));
            scratch = other.allocate_scratch(10);
        }
        EXPECT_EQ(rank.domain.classify(scratch).kind, PointerInfo::Kind::invalid);
    });
}

}  // namespace
}  // namespace baton::core::testing
