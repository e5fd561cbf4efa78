// The counting of imported pools and pointers, against a driver that behaves as pool_mappings.hpp says.
#include "memory/pool_mappings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

/// One pool at a time can be exported; `data` of a pointer is its address and size.
class FakeDriver {
public:
    void *import_pool(char *pool) {
        ++imports_[pool];
        return pool;
    }
    void *import_pointer(void *pool, char *address, std::uint64_t size) {
        if (imports_.count(pool) == 0) fail(BATON_ERR_SYSTEM, "no such pool");
        if (refuses) fail(BATON_ERR_SYSTEM, "refused");
        pointers_.try_emplace(address, Pointer{pool, size});
        return address;
    }
    void free_pointer(void *address) {
        if (pointers_.erase(address) == 0) fail(BATON_ERR_SYSTEM, "not imported");
    }
    void destroy_pool(void *pool) {
        for (const auto &[address, pointer] : pointers_) {
            if (pointer.pool == pool) fail(BATON_ERR_SYSTEM, "a pointer of the pool is here");
        }
        if (--imports_.at(pool) == 0) imports_.erase(pool);
    }
    /// How far copies from the address reach: 0 if it is not imported.
    std::uint64_t reach(void *address) const {
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
    std::map<void *, Pointer> pointers_;
};

class PoolMappingsTest : public ::testing::Test {
protected:
    void *open(char *address, std::uint64_t size, char *pool = nullptr) {
        return mappings_.open(
            size, [&] { return driver_.import_pool(pool != nullptr ? pool : pools_); },
            [&](void *imported) { return driver_.import_pointer(imported, address, size); });
    }

    FakeDriver driver_;
    PoolMappings mappings_{
        {[this](void *address) { driver_.free_pointer(address); }, [this](void *pool) { driver_.destroy_pool(pool); }}};
    char pools_[2] = {};
    char memory_[64] = {};
};

TEST_F(PoolMappingsTest, APointerIsFreedByItsLastUserAndThePoolWithItsLastPointer) {
    EXPECT_EQ(open(memory_, 8), memory_);
    EXPECT_EQ(open(memory_, 8), memory_);
    EXPECT_EQ(open(memory_ + 8, 8), memory_ + 8);
    mappings_.close(memory_);
    EXPECT_EQ(driver_.reach(memory_), 8U);
    mappings_.close(memory_);
    EXPECT_EQ(driver_.reach(memory_), 0U);
    EXPECT_EQ(driver_.reach(memory_ + 8), 8U);
    EXPECT_TRUE(driver_.has_pool(pools_));
    mappings_.close(memory_ + 8);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, CopiesReachToTheEndOfWhatHasTakenAShorterPiecesPlace) {
    open(memory_, 8);
    open(memory_, 4);
    EXPECT_EQ(driver_.reach(memory_), 8U);
    open(memory_, 16);
    EXPECT_EQ(driver_.reach(memory_), 16U);
    for (int user = 0; user < 3; ++user) {
        EXPECT_EQ(driver_.reach(memory_), 16U);
        mappings_.close(memory_);
    }
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, APoolThatReplacesADestroyedOneIsItself) {
    open(memory_, 8, pools_);
    open(memory_ + 32, 8, pools_ + 1);
    mappings_.close(memory_);
    EXPECT_FALSE(driver_.has_pool(pools_));
    EXPECT_TRUE(driver_.has_pool(pools_ + 1));
    mappings_.close(memory_ + 32);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, APointerThatIsRefusedLeavesNothing) {
    driver_.refuses = true;
    EXPECT_THROW(open(memory_, 8), Failure);
    EXPECT_TRUE(driver_.empty());

    driver_.refuses = false;
    open(memory_, 8);
    driver_.refuses = true;
    EXPECT_THROW(open(memory_ + 8, 8), Failure);
    EXPECT_EQ(driver_.reach(memory_), 8U);
    mappings_.close(memory_);
    EXPECT_TRUE(driver_.empty());
}

TEST_F(PoolMappingsTest, WhatWasNeverOpenedIsNotFreed) {
    open(memory_, 8);
    EXPECT_NO_THROW(mappings_.close(memory_ + 1));
    EXPECT_EQ(driver_.reach(memory_), 8U);
}

TEST_F(PoolMappingsTest, CommunicatorsOpenAndCloseBesideEachOther) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (std::uint64_t i = 0; i < 200; ++i) {
                void *const address = open(memory_, 1 + i % 7);
                mappings_.close(address);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_TRUE(driver_.empty());
}

}  // namespace
}  // namespace baton::core::testing
