#include "transport/host/move.hpp"

#include <gtest/gtest.h>

#include "cases.hpp"

namespace baton::test {
namespace {

void check_copy(int destinations, std::size_t bytes, Placement placement, bool onto_itself) {
    std::mt19937_64 random(bytes);
    const Layout layout(destinations + 1, bytes, placement);
    Bytes memory(layout.size(), 0xA5);
    fill_random_bytes(memory.data() + layout.at(0), bytes, random);
    Bytes expected = memory;
    std::vector<void *> to;
    for (int d = 0; d < destinations; ++d) {
        const std::size_t at = layout.at(onto_itself && d == 0 ? 0 : d + 1);
        to.push_back(memory.data() + at);
        std::memmove(expected.data() + at, memory.data() + layout.at(0), bytes);
    }
    core::copy_block(to.data(), destinations, memory.data() + layout.at(0), bytes);
    EXPECT_TRUE(memory == expected) << destinations << " destinations, " << bytes << " bytes, " << describe(placement);
}

TEST(CopyBlock, MovesEveryByteAndNoOther) {
    for (const int destinations : {1, 2, 7}) {
        for (const std::size_t bytes : {0, 1, 7, 8, 15, 16, 17, 31, 1000, 65536, 65537, 200003}) {
            check_copy(destinations, bytes, {0, 0}, false);
            check_copy(destinations, bytes, {1, 3}, false);
            check_copy(destinations, bytes, {5, 0}, true);
        }
        for (std::size_t offset = 1; offset <= 16; ++offset) {
            for (const std::size_t bytes : {1, 5, 33, 4099}) {
                check_copy(destinations, bytes, {offset, 0}, false);
                check_copy(destinations, bytes, {offset, 1}, false);
                check_copy(destinations, bytes, {0, offset}, false);
            }
        }
    }
}

TEST(CopyBlock, NoDestinationIsNothing) { core::copy_block(nullptr, 0, nullptr, 0); }

}  // namespace
}  // namespace baton::test
