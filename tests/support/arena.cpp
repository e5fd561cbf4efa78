#include "support/arena.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace baton::test {
namespace {

constexpr std::size_t alignment = 256;

Arena *the_arena = nullptr;  // set and reset by main, while no test runs

}  // namespace

Arena::Arena() {
    void *base = nullptr;
    if (const baton_result result = baton_window_create(comm_, size, &window_, &base); result != BATON_SUCCESS)
        throw std::runtime_error("the arena's window: " + describe(result));
    start_ = static_cast<std::byte *>(base);
    the_arena = this;
}

Arena::~Arena() {
    the_arena = nullptr;
    EXPECT_OK(baton_window_destroy(window_));
}

Arena *Arena::get() { return the_arena; }

std::byte *Arena::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    bytes = (bytes + alignment - 1) / alignment * alignment;
    std::size_t begin = 0;
    for (const auto &[piece, end] : taken_) {
        if (piece - begin >= bytes) break;
        begin = end;
    }
    if (size - begin < bytes) throw std::runtime_error(fmt::format("BATON_TEST_ARENA: no room for {} bytes", bytes));
    taken_.emplace(begin, begin + bytes);
    return start_ + begin;
}

void Arena::give_back(std::byte *memory) {
    const std::lock_guard lock(mutex_);
    taken_.erase(static_cast<std::size_t>(memory - start_));
}

}  // namespace baton::test
