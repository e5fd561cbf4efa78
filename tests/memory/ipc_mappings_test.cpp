// Counts of IPC mappings, against a fake driver of one block, which knows an allocation by its offset and size.
#include "memory/ipc_mappings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <new>

#include "support/failing_new.hpp"

namespace baton::core::testing {
namespace {

class FakeDriver {
public:
    /// Like cudaIpcOpenMemHandle: counts an opening, or returns null if the place is mapped with another size.
    void *open(char *address, int size) {
        const test::WithMemory its_own;
        Mapped &mapped = mapped_[address];
        if (mapped.opened > 0 && mapped.size != size) return nullptr;
        mapped.size = size;
        ++mapped.opened;
        return address;
    }
    void close(void *address) { --mapped_.at(static_cast<char *>(address)).opened; }
    int opened(char *address) const {
        const auto found = mapped_.find(address);
        return found == mapped_.end() ? 0 : found->second.opened;
    }

private:
    struct Mapped {
        int size = 0;
        int opened = 0;
    };
    std::map<char *, Mapped> mapped_;
};

class IpcMappingsTest : public ::testing::Test {
protected:
    void *open(std::uint64_t base, char *address, int size, std::uint64_t process = 1) {
        return mappings_.open({0, process, base}, static_cast<std::uint64_t>(size),
                              [&] { return driver_.open(address, size); });
    }
    void close(void *address) {
        mappings_.close(address, [&](void *mapped) { driver_.close(mapped); });
    }

    FakeDriver driver_;
    IpcMappings mappings_;
    char block_[64] = {};
};

TEST_F(IpcMappingsTest, ASharedAddressIsClosedByItsLastUserAsOftenAsItWasOpened) {
    EXPECT_EQ(open(100, block_, 8), block_);
    EXPECT_EQ(open(100, block_, 8), block_);
    EXPECT_EQ(driver_.opened(block_), 2);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 2);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 0);
}

TEST_F(IpcMappingsTest, AnAllocationOfAnotherSizeInTheSamePlaceIsReachedByTheOldMapping) {
    EXPECT_EQ(open(100, block_, 8), block_);
    EXPECT_EQ(open(100, block_, 4), block_);
    EXPECT_EQ(driver_.opened(block_), 1);
    close(block_);  // the old one
    EXPECT_EQ(driver_.opened(block_), 1);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 0);
    EXPECT_EQ(open(100, block_, 4), block_);  // opened for itself now
    EXPECT_EQ(driver_.opened(block_), 1);
}

TEST_F(IpcMappingsTest, AnAllocationThatHasOutgrownTheOldMappingIsNotReachedByIt) {
    EXPECT_EQ(open(100, block_, 8), block_);
    EXPECT_EQ(open(100, block_, 16), nullptr);
    EXPECT_EQ(open(100, block_, 4), block_);
    EXPECT_EQ(open(100, block_, 7), block_);  // within what the first one maps
    close(block_);
    close(block_);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 0);
    EXPECT_EQ(open(100, block_, 16), block_);
}

TEST_F(IpcMappingsTest, TheNewestMappingOfAPlaceIsTheOneThatIsStillThere) {
    EXPECT_EQ(open(100, block_, 8), block_);
    EXPECT_EQ(open(100, block_ + 32, 8), block_ + 32);  // another block at the owner's address
    EXPECT_EQ(open(100, block_ + 32, 4), block_ + 32);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 0);
    EXPECT_EQ(driver_.opened(block_ + 32), 1);
    EXPECT_EQ(open(100, block_ + 32, 4), block_ + 32);
}

TEST_F(IpcMappingsTest, OtherProcessesAndPlacesAreNotMistaken) {
    EXPECT_EQ(open(100, block_, 8, 1), block_);
    driver_.open(block_ + 16, 8);
    EXPECT_EQ(open(100, block_ + 16, 4, 2), nullptr);
    EXPECT_EQ(open(116, block_ + 16, 4, 1), nullptr);
    close(block_ + 16);  // never opened here
    EXPECT_EQ(driver_.opened(block_ + 16), 1);
}

TEST_F(IpcMappingsTest, WhatIsOpenedIsKnownOrNotOpenedWhereMemoryRunsOut) {
    const auto open_with = [&](long allocations) {
        test::allocations_left = allocations;
        void *address = nullptr;
        try {
            address = open(100, block_, 8);
        } catch (const std::bad_alloc &) {
            EXPECT_EQ(driver_.opened(block_), 0) << "allocation " << allocations;
        }
        test::allocations_left = -1;
        return address;
    };
    long allocations = 0;
    while (open_with(allocations) == nullptr) ++allocations;
    EXPECT_GT(allocations, 0);
    EXPECT_EQ(driver_.opened(block_), 1);
    close(block_);
    EXPECT_EQ(driver_.opened(block_), 0);
}

TEST(ProcessNumber, StaysTheSame) {
    EXPECT_NE(process_number(), 0U);
    EXPECT_EQ(process_number(), process_number());
}

}  // namespace
}  // namespace baton::core::testing
