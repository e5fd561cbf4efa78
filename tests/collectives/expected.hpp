#pragma once

#include <cstring>
#include <vector>

#include "thread_ranks.hpp"
#include "transport/element/dispatch.hpp"

/// What collectives over thread ranks must give.
namespace baton::test {

using Buffers = std::vector<std::vector<std::byte>>;  // by rank

/// Element by element in rank order, the order that baton.h promises.
template <class T>
std::vector<std::byte> combined(const Buffers &inputs, std::size_t count, baton_op op) {
    std::vector<std::byte> result(count * sizeof(T));
    const int ranks = static_cast<int>(inputs.size());
    const auto element = [&](std::size_t rank, std::size_t index) {
        T value;
        std::memcpy(&value, inputs[rank].data() + index * sizeof(T), sizeof(T));
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

inline std::vector<std::byte> expected_reduction(const Buffers &inputs, std::size_t count, baton_type type,
                                                 baton_op op) {
    return core::dispatch_type(type, [&]<class T>() { return combined<T>(inputs, count, op); });
}

inline Buffers all_patterns(std::uint64_t seed, int size, std::size_t bytes) {
    Buffers all;
    for (int rank = 0; rank < size; ++rank) all.push_back(pattern(seed, rank, bytes));
    return all;
}

}  // namespace baton::test
