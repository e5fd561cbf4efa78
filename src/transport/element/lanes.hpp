#pragma once

#include <cstring>

#include "transport/element/reduce.hpp"

namespace baton::core {

/// The elements of T in one machine word, while they are being reduced. They stay in registers: all loops have constant
/// bounds and unroll.
template <class T, class Word>
struct Lanes {
    static constexpr int count = sizeof(Word) / sizeof(T);
    Accumulator<T> values[count];

    /// Takes the first rank's elements.
    BATON_HD void start(const Word &word) {
        T elements[count];
        std::memcpy(elements, &word, sizeof(Word));
        BATON_UNROLL
        for (int i = 0; i < count; ++i) values[i] = Element<T>::load(elements[i]);
    }

    /// Combines with the next rank's.
    BATON_HD void join(int op, const Word &word) {
        T elements[count];
        std::memcpy(elements, &word, sizeof(Word));
        BATON_UNROLL
        for (int i = 0; i < count; ++i) values[i] = combine<T>(op, values[i], Element<T>::load(elements[i]));
    }

    BATON_HD Word result(int op, int ranks) const {
        T elements[count];
        BATON_UNROLL
        for (int i = 0; i < count; ++i) elements[i] = Element<T>::store(finish<T>(op, values[i], ranks));
        Word word;
        std::memcpy(&word, elements, sizeof(Word));
        return word;
    }
};

}  // namespace baton::core
