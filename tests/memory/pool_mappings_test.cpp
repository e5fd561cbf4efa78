// Counts of imported pools and their pieces, against a fake driver that refuses what the real one takes badly
// (pool_mappings.hpp).
#include "memory/pool_mappings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <new>
#include <thread>
#include <vector>

#include "support/failing_new.hpp"
#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

/// In this driver a pool's descriptor is its number.
class FakeDriver final : public PoolMappings::Driver {
public:
    void *import_pool(int fd, int /*device*/) override {
        const test::WithMemory its_own;
        ++imports_[pool(fd)];
        return pool(fd);
    }
    void *import_pointer(void *pool, const RegionPost &piece) override {
        const test::WithMemory its_own;
        if (imports_.count(pool) == 0) fail(BATON_ERR_SYSTEM, "no such pool");
        if (refuses) fail(BATON_ERR_SYSTEM, "refused");
        char *const address = at(piece);
        for (const auto &[other, pointer] : pointers_) {
            if (other < address + piece.size && address < other + pointer.size)
                fail(BATON_ERR_SYSTEM, "imported already");
        }
        pointers_[address] = {pool, piece.size};
        return address;
    }
    void free_pointer(void *address) override {
        if (pointers_.erase(static_cast<char *>(address)) == 0) fail(BATON_ERR_SYSTEM, "not imported");
    }
    void destroy_pool(void *pool) override {
        for (const auto &[address, pointer] : pointers_) {
            if (pointer.pool == pool) fail(BATON_ERR_SYSTEM, "a pointer of the pool is here");
        }
        if (--imports_.at(pool) != 0) return;
        imports_.erase(pool);
        ++destroyed_pools;
    }

    /// Where a piece is mapped: as far from the start of its process's memory as at its owner.
    char *at(const RegionPost &piece) { return memory_ + 64 * (piece.process - 1) + piece.base; }
    /// How many bytes from there on copies reach; 0 if the piece is not imported.
    std::uint64_t reach(const RegionPost &piece) {
        const auto found = pointers_.find(at(piece));
        return found == pointers_.end() ? 0 : found->second.size;
    }
    bool empty() const { return imports_.empty() && pointers_.empty(); }
    bool has_pool(int fd) { return imports_.count(pool(fd)) != 0; }

    bool refuses = false;
    int destroyed_pools = 0;

private:
    struct Pointer {
        void *pool = nullptr;
        std::uint64_t size = 0;
    };
    void *pool(int fd) { return pools_ + fd; }

    char pools_[2] = {};
    char memory_[128] = {};
    std::map<void *, int> imports_;
    std::map<char *, Pointer> pointers_;
};

class PoolMappingsTest : public ::testing::Test {
protected:
    static RegionPost piece(std::uint64_t base, std::uint64_t size, std::uint64_t allocation) {
        RegionPost post;
        post.process = 1;
        post.base = base;
        post.size = size;
        post.allocation = allocation;
        return post;
    }
    void *open(const RegionPost &piece, int pool = 0) { return mappings_.open(piece, pool, 0); }
    char *at(const RegionPost &piece) { return driver_.at(piece); }
    std::uint64_t reach(const RegionPost &piece) { return driver_.reach(piece); }

    FakeDriver driver_;
    PoolMappings mappings_{driver_};
};

TEST_F(PoolMappingsTest, APieceIsImportedOnceAndFreedByItsLastUserAndThePoolWithItsLastPiece) {
    const RegionPost one = piece(0, 8, 1), next = piece(8, 8, 2);
    EXPECT_EQ(open(one), at(one));
    EXPECT_EQ(open(one), at(one));
    EXPECT_EQ(open(next), at(next));
    mappings_.close(one);
    EXPECT_EQ(reach(one), 8U);
    mappings_.close(one);
    EXPECT_EQ(reach(one), 0U);
    EXPECT_EQ(reach(next), 8U);
    EXPECT_TRUE(driver_.has_pool(0));
    mappings_.close(next);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, WhatHasTakenAFreedPiecesPlaceIsImportedAnew) {
    const RegionPost old = piece(0, 8, 1), longer = piece(0, 16, 2), shorter = piece(0, 4, 3);
    open(old);
    open(old);
    open(longer);
    EXPECT_EQ(reach(longer), 16U);
    mappings_.close(old);
    EXPECT_EQ(reach(longer), 16U);
    open(shorter);
    EXPECT_EQ(reach(shorter), 4U);
    mappings_.close(longer);
    mappings_.close(old);
    EXPECT_EQ(reach(shorter), 4U);
    mappings_.close(shorter);
    EXPECT_TRUE(driver_.empty());
}

/// Its users' kernels may still read the memory that was there before.
TEST_F(PoolMappingsTest, APoolStaysUntilTheLastUserOfAFreedPieceHasClosedIt) {
    const RegionPost old = piece(0, 8, 1), new_one = piece(0, 8, 2);
    open(old);
    open(old);
    open(new_one);
    driver_.refuses = true;
    EXPECT_THROW(open(piece(0, 8, 3)), Failure);
    EXPECT_EQ(reach(new_one), 0U) << "freed by its owner, and nothing is in its place";
    mappings_.close(new_one);
    mappings_.close(old);
    EXPECT_EQ(driver_.destroyed_pools, 0);
    mappings_.close(old);
    EXPECT_EQ(driver_.destroyed_pools, 1);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, AFreedPieceIsNotOpenedAgainWhileItHasUsers) {
    const RegionPost old = piece(0, 8, 1), new_one = piece(4, 8, 2);
    open(old);
    open(new_one);
    EXPECT_THROW(open(old), Failure);
    EXPECT_THROW(open(old, 1), Failure);
    EXPECT_FALSE(driver_.has_pool(1));
    EXPECT_EQ(reach(new_one), 8U);
    mappings_.close(old);
    mappings_.close(new_one);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, PiecesAnywhereUnderANewOneGoAndTheirNeighboursStay) {
    const RegionPost left = piece(0, 8, 1), first = piece(8, 8, 2), second = piece(16, 8, 3), right = piece(24, 8, 4);
    for (const RegionPost &each : {left, first, second, right}) open(each);
    const RegionPost over_two = piece(10, 14, 5);
    EXPECT_EQ(open(over_two), at(over_two));
    EXPECT_EQ(reach(first), 0U);
    EXPECT_EQ(reach(second), 0U);
    EXPECT_EQ(reach(left), 8U);
    EXPECT_EQ(reach(right), 8U);
    for (const RegionPost &each : {left, first, second, right, over_two}) mappings_.close(each);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, AnotherProcessHasPlacesOfItsOwn) {
    const RegionPost mine = piece(0, 16, 1);
    RegionPost theirs = piece(8, 8, 2);
    theirs.process = 2;
    open(mine);
    open(theirs, 1);
    EXPECT_EQ(reach(mine), 16U);
    mappings_.close(mine);
    EXPECT_EQ(reach(theirs), 8U);
    mappings_.close(theirs);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, APoolThatReplacesADestroyedOneIsItself) {
    const RegionPost old = piece(0, 8, 1), elsewhere = piece(32, 8, 2), new_one = piece(4, 8, 3);
    open(old, 0);
    open(elsewhere, 0);
    open(new_one, 1);
    EXPECT_TRUE(driver_.has_pool(0));
    mappings_.close(elsewhere);
    EXPECT_TRUE(driver_.has_pool(0)) << "the freed piece still has a user";
    mappings_.close(old);
    EXPECT_FALSE(driver_.has_pool(0));
    EXPECT_TRUE(driver_.has_pool(1));
    mappings_.close(new_one);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, APieceThatIsRefusedLeavesNothing) {
    driver_.refuses = true;
    EXPECT_THROW(open(piece(0, 8, 1)), Failure);
    EXPECT_TRUE(driver_.empty());

    driver_.refuses = false;
    open(piece(0, 8, 1));
    driver_.refuses = true;
    EXPECT_THROW(open(piece(8, 8, 2)), Failure);
    EXPECT_EQ(reach(piece(0, 8, 1)), 8U);
    mappings_.close(piece(0, 8, 1));
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, APieceIsThereOrNothingIsWhereMemoryRunsOut) {
    const RegionPost one = piece(0, 8, 1);
    const auto open_with = [&](long allocations) {
        test::allocations_left = allocations;
        void *address = nullptr;
        try {
            address = open(one);
        } catch (const std::bad_alloc &) {
            EXPECT_TRUE(driver_.empty()) << "allocation " << allocations;
        }
        test::allocations_left = -1;
        return address;
    };
    long allocations = 0;
    while (open_with(allocations) == nullptr && !HasFailure()) ++allocations;
    EXPECT_GT(allocations, 0);
    EXPECT_EQ(reach(one), 8U);
    mappings_.close(one);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, CommunicatorsOpenAndCloseBesideEachOther) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (std::uint64_t i = 0; i < 200; ++i) {
                const RegionPost one = piece(i % 3, 1 + i % 7, i);
                try {
                    open(one);
                } catch (const Failure &failure) {  // another thread's later piece overlaps it
                    EXPECT_THAT(failure.what(), ::testing::HasSubstr("has freed the memory"));
                    continue;
                }
                mappings_.close(one);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_TRUE(driver_.empty());
}

}  // namespace
}  // namespace baton::core::testing
