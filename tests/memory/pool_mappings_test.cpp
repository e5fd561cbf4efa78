// The counting of imported pools and their pieces, against a driver that refuses what the real one takes badly
// (pool_mappings.hpp).
#include "memory/pool_mappings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

class FakeDriver {
public:
    void *import_pool(char *pool) {
        ++imports_[pool];
        return pool;
    }
    void *import_pointer(void *pool, char *address, std::uint64_t size) {
        if (imports_.count(pool) == 0) fail(BATON_ERR_SYSTEM, "no such pool");
        if (refuses) fail(BATON_ERR_SYSTEM, "refused");
        for (const auto &[other, pointer] : pointers_) {
            if (other < address + size && address < other + pointer.size) fail(BATON_ERR_SYSTEM, "imported already");
        }
        pointers_[address] = {pool, size};
        return address;
    }
    void free_pointer(void *address) {
        if (pointers_.erase(static_cast<char *>(address)) == 0) fail(BATON_ERR_SYSTEM, "not imported");
    }
    void destroy_pool(void *pool) {
        for (const auto &[address, pointer] : pointers_) {
            if (pointer.pool == pool) fail(BATON_ERR_SYSTEM, "a pointer of the pool is here");
        }
        if (--imports_.at(pool) == 0) imports_.erase(pool);
    }
    /// How far copies from the address reach: 0 if it is not imported.
    std::uint64_t reach(char *address) const {
        const auto found = pointers_.find(address);
        return found == pointers_.end() ? 0 : found->second.size;
    }
    bool empty() const { return imports_.empty() && pointers_.empty(); }
    bool has_pool(void *pool) const { return imports_.count(pool) != 0; }

    bool refuses = false;

private:
    struct Pointer {
        void *pool = nullptr;
        std::uint64_t size = 0;
    };
    std::map<void *, int> imports_;
    std::map<char *, Pointer> pointers_;
};

class PoolMappingsTest : public ::testing::Test {
protected:
    /// A piece of the owner's memory, which is seen at the same distance from the start of memory_.
    static PoolPiece piece(std::uint64_t base, std::uint64_t size, std::uint64_t allocation) {
        return {1, base, size, allocation};
    }
    void *open(const PoolPiece &piece, int pool = 0) {
        return mappings_.open(
            piece, [&] { return driver_.import_pool(pools_ + pool); },
            [&](void *imported) { return driver_.import_pointer(imported, at(piece), piece.size); });
    }
    char *at(const PoolPiece &piece) { return memory_ + 64 * (piece.process - 1) + piece.base; }
    std::uint64_t reach(const PoolPiece &piece) { return driver_.reach(at(piece)); }

    FakeDriver driver_;
    PoolMappings mappings_{
        {[this](void *address) { driver_.free_pointer(address); }, [this](void *pool) { driver_.destroy_pool(pool); }}};
    char pools_[2] = {};
    char memory_[128] = {};
};

TEST_F(PoolMappingsTest, APieceIsImportedOnceAndFreedByItsLastUserAndThePoolWithItsLastPiece) {
    const PoolPiece one = piece(0, 8, 1), next = piece(8, 8, 2);
    EXPECT_EQ(open(one), at(one));
    EXPECT_EQ(open(one), at(one));
    EXPECT_EQ(open(next), at(next));
    mappings_.close(one);
    EXPECT_EQ(reach(one), 8U);
    mappings_.close(one);
    EXPECT_EQ(reach(one), 0U);
    EXPECT_EQ(reach(next), 8U);
    EXPECT_TRUE(driver_.has_pool(pools_));
    mappings_.close(next);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, WhatHasTakenAFreedPiecesPlaceIsImportedAnew) {
    const PoolPiece old = piece(0, 8, 1), longer = piece(0, 16, 2), shorter = piece(0, 4, 3);
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

TEST_F(PoolMappingsTest, PiecesAnywhereUnderANewOneGoAndTheirNeighboursStay) {
    const PoolPiece left = piece(0, 8, 1), first = piece(8, 8, 2), second = piece(16, 8, 3), right = piece(24, 8, 4);
    for (const PoolPiece &each : {left, first, second, right}) open(each);
    const PoolPiece over_two = piece(10, 14, 5);
    EXPECT_EQ(open(over_two), at(over_two));
    EXPECT_EQ(reach(first), 0U);
    EXPECT_EQ(reach(second), 0U);
    EXPECT_EQ(reach(left), 8U);
    EXPECT_EQ(reach(right), 8U);
    for (const PoolPiece &each : {left, first, second, right, over_two}) mappings_.close(each);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, AnotherProcessHasPlacesOfItsOwn) {
    const PoolPiece mine = piece(0, 16, 1);
    PoolPiece theirs = piece(8, 8, 2);
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
    const PoolPiece old = piece(0, 8, 1), elsewhere = piece(32, 8, 2), new_one = piece(4, 8, 3);
    open(old, 0);
    open(elsewhere, 0);
    open(new_one, 1);
    EXPECT_TRUE(driver_.has_pool(pools_));
    mappings_.close(elsewhere);
    EXPECT_FALSE(driver_.has_pool(pools_));
    EXPECT_TRUE(driver_.has_pool(pools_ + 1));
    mappings_.close(new_one);
    mappings_.close(old);
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

TEST_F(PoolMappingsTest, CommunicatorsOpenAndCloseBesideEachOther) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (std::uint64_t i = 0; i < 200; ++i) {
                const PoolPiece one = piece(i % 3, 1 + i % 7, i);
                open(one);
                mappings_.close(one);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_TRUE(driver_.empty());
}

}  // namespace
}  // namespace baton::core::testing
