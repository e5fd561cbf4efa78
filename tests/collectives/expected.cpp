#include "expected.hpp"

#include <algorithm>
#include <cstring>

#include "support/random_bytes.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::test {
namespace {

template <class T>
std::vector<std::byte> combined(const Buffers &inputs, std::size_t count, baton_op op, std::size_t first) {
    std::vector<std::byte> result(count * sizeof(T));
    const int ranks = static_cast<int>(inputs.size());
    const auto element = [&](std::size_t rank, std::size_t index) {
        T value;
        std::memcpy(&value, inputs[rank].data() + (first + index) * sizeof(T), sizeof(T));
        return core::Element<T>::load(value);
    };
    for (std::size_t index = 0; index < count; ++index) {
        auto sum = element(0, index);
        for (std::size_t rank = 1; rank < inputs.size(); ++rank) sum = core::combine<T>(op, sum, element(rank, index));
        const T value = core::Element<T>::store(core::finish<T>(op, sum, ranks));
        std::memcpy(result.data() + index * sizeof(T), &value, sizeof(T));
    }
    return result;
}

}  // namespace

std::vector<std::byte> pattern(std::uint64_t seed, int rank, std::size_t bytes) {
    return random_bytes(seed * 1000003 + static_cast<std::uint64_t>(rank), bytes);
}

Buffers all_patterns(std::uint64_t seed, int size, std::size_t bytes) {
    Buffers all;
    for (int rank = 0; rank < size; ++rank) all.push_back(pattern(seed, rank, bytes));
    return all;
}

std::vector<std::byte> expected_reduction(const Buffers &inputs, std::size_t count, baton_type type, baton_op op,
                                          std::size_t first) {
    return core::dispatch_type(type, [&]<class T>() { return combined<T>(inputs, count, op, first); });
}

::testing::AssertionResult equal_bytes(std::span<const std::byte> expected, std::span<const std::byte> found) {
    if (found.size() != expected.size()) {
        return ::testing::AssertionFailure() << found.size() << " bytes, not " << expected.size();
    }
    if (found.empty() || std::memcmp(found.data(), expected.data(), found.size()) == 0) {
        return ::testing::AssertionSuccess();
    }
    const auto [at, other] = std::mismatch(found.begin(), found.end(), expected.begin());
    return ::testing::AssertionFailure() << "byte " << at - found.begin() << " of " << found.size() << " is "
                                         << std::to_integer<int>(*at) << ", not " << std::to_integer<int>(*other);
}

}  // namespace baton::test
