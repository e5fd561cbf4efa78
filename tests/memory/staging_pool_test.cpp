#include "memory/staging_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "registry_rank.hpp"

namespace baton::core::testing {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

void with_a_peer(const std::function<void(RegistryRank &)> &body) {
    testing::with_a_peer<RegistryRank>([&](RegistryRank &rank, RegistryRank & /*peer*/) { body(rank); });
}

TEST(StagingPool, PiecesOfACallAreApartAndAligned) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::peers);
        std::vector<std::pair<std::byte *, std::byte *>> taken;
        for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{256}, std::uint64_t{257},
                                          MiB, std::uint64_t{3}, 5 * MiB + 1, std::uint64_t{70000}}) {
            const StagingPool::Piece piece = pool.take(bytes);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.pointer) % 256, 0U) << bytes;
            std::fill_n(piece.pointer, bytes, std::byte{1});  // the memory is there
            taken.emplace_back(piece.pointer, piece.pointer + bytes);
        }
        std::sort(taken.begin(), taken.end());
        for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].second, taken[i].first) << i;
    });
}

TEST(StagingPool, APieceIsWhereItsRegionAndOffsetSay) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::peers);
        const StagingPool::Piece first = pool.take(1000);
        const StagingPool::Piece second = pool.take(1000);
        EXPECT_EQ(first.offset, 0U);
        EXPECT_EQ(second.published, first.published);
        EXPECT_EQ(second.pointer, first.pointer + second.offset);
    });
}

TEST(StagingPool, CallsHaveTheSameMemoryOneAfterAnother) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::peers);
        const auto call = [&] {
            std::vector<std::byte *> pieces;
            for (int piece = 0; piece < 20; ++piece) pieces.push_back(pool.take(100000).pointer);
            pool.give_back_all();
            return pieces;
        };
        call();
        const std::size_t after_one = rank.registry.allocated_bytes();
        call();
        EXPECT_EQ(rank.registry.allocated_bytes(), after_one);
        const std::byte *const first = call().front();
        EXPECT_EQ(pool.take(1).pointer, first) << "the first one's room, after all was given back";
    });
}

/// As for a group of messages that all have to be staged: slots are few, and memory should be little more than needed.
TEST(StagingPool, ManyPiecesTakeFewRegions) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::peers);
        for (int piece = 0; piece < 4 * BATON_GROUP_LIMIT; ++piece) pool.take(3000);
        EXPECT_LT(rank.registry.count(), 16U);
        EXPECT_LE(rank.registry.allocated_bytes(), std::size_t{4} * BATON_GROUP_LIMIT * 3072 * 2);
    });
}

TEST(StagingPool, LargePiecesTakeLittleMoreThanTheyAre) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::own);
        pool.take(70 * MiB);
        EXPECT_LE(rank.registry.allocated_bytes(), 80 * MiB);
        EXPECT_EQ(rank.registry.count(), 0U) << "no peer is told of it";
        pool.take(70 * MiB);
        EXPECT_LE(rank.registry.allocated_bytes(), 160 * MiB);
    });
}

/// No call fails for want of memory that is only taken ahead of need.
TEST(StagingPool, WhereMemoryIsShortTakesWhatIsNeeded) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::peers);
        rank.domain.most_bytes = MiB;
        for (int piece = 0; piece < 4; ++piece) pool.take(MiB);
        EXPECT_EQ(rank.registry.allocated_bytes(), 4 * MiB);
        rank.domain.most_bytes = 0;
        EXPECT_THROW(pool.take(MiB), Failure);
    });
}

/// Each of these calls needs a little more than the one before.
TEST(StagingPool, SizesThatGrowDoNotTakeAChunkEach) {
    with_a_peer([](RegistryRank &rank) {
        StagingPool pool(rank.registry, StagingPool::Audience::own);
        for (std::uint64_t bytes = MiB; bytes < 16 * MiB; bytes += 64 << 10) {
            pool.take(bytes);
            pool.give_back_all();
        }
        EXPECT_LE(rank.registry.allocated_bytes(), 3 * 16 * MiB);
    });
}

}  // namespace
}  // namespace baton::core::testing
