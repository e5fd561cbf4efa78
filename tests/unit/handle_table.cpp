#include "api/handle_table.hpp"

#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "support/failing_new.hpp"

namespace baton::core {
namespace {

struct Opaque;
using Table = HandleTable<HandleOf::window, Opaque *, int>;

Opaque *insert(Table &table, int value) { return Table::Reservation(table).fill(std::make_shared<int>(value)); }

TEST(HandleTable, AHandleIsGoodUntilItsObjectIsTakenOut) {
    Table table;
    Opaque *const one = insert(table, 1);
    Opaque *const two = insert(table, 2);
    EXPECT_EQ(*table.find(one), 1);
    EXPECT_EQ(*table.remove(one), 1);
    EXPECT_EQ(table.find(one), nullptr);
    Opaque *const in_its_place = insert(table, 3);
    EXPECT_NE(in_its_place, one);
    EXPECT_EQ(table.find(one), nullptr);
    EXPECT_EQ(*table.find(two), 2);
    EXPECT_EQ(table.find(nullptr), nullptr);
}

TEST(HandleTable, APlaceIsReservedForOneAndFreeAgainWhereItIsNotFilled) {
    Table table;
    Opaque *first = nullptr;
    {
        Table::Reservation one(table);
        Table::Reservation other(table);
        first = one.fill(std::make_shared<int>(1));
        EXPECT_NE(other.fill(std::make_shared<int>(2)), first);
    }
    table.remove(first);
    { const Table::Reservation not_filled(table); }
    const auto index_of = [](Opaque *handle) { return reinterpret_cast<std::uintptr_t>(handle) & 0xFFFFFF; };
    EXPECT_EQ(index_of(insert(table, 3)), index_of(first));
}

TEST(HandleTable, OnlyAReservationNeedsMemory) {
    Table table;
    const auto object = std::make_shared<int>(7);
    for (int filled = 0; filled < 100; ++filled) {
        test::allocations_left = 0;
        bool refused = false;
        try {
            const Table::Reservation none(table);
        } catch (const std::bad_alloc &) {
            refused = true;
        }
        EXPECT_TRUE(refused || filled > 0);
        test::allocations_left = -1;
        Table::Reservation handle(table);
        test::allocations_left = 0;
        test::none_after_that = true;
        Opaque *const made = handle.fill(object);
        test::none_after_that = false;
        test::allocations_left = -1;
        EXPECT_EQ(table.find(made), object);
    }
}

}  // namespace
}  // namespace baton::core
