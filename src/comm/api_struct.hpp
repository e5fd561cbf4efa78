#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "baton/baton.h"

namespace baton::core {

// The API's structs with a struct_size grow at their ends. A program of an older header knows the first bytes of what
// this library knows, and one of a newer header more. A struct must not end with padding: a field put there would be
// within the size of those who do not know it.

/// What T had in version 0.1. No program knows less of it.
template <class T>
inline constexpr std::size_t first_struct_bytes = 0;
template <>
inline constexpr std::size_t first_struct_bytes<baton_config> = 80;
template <>
inline constexpr std::size_t first_struct_bytes<baton_info> = 560;

/// No program knows more: what is larger has not been set.
inline constexpr std::size_t most_struct_bytes = 4096;

template <class T>
bool may_be_struct_size(std::size_t size) {
    static_assert(first_struct_bytes<T> != 0 && sizeof(T) >= first_struct_bytes<T>);
    return size >= first_struct_bytes<T> && size <= most_struct_bytes;
}

/// `unset` with the fields that the program knows.
template <class T>
T from_program(const T *program, T unset) {
    std::memcpy(static_cast<void *>(&unset), program, std::min(program->struct_size, sizeof(T)));
    unset.struct_size = sizeof(T);
    return unset;
}

/// Fills the program's `size` bytes: with as much of `ours` as it knows, and zeros where this library knows nothing.
template <class T>
void to_program(T *program, std::size_t size, T ours) {
    ours.struct_size = size;
    std::memset(static_cast<void *>(program), 0, size);
    std::memcpy(static_cast<void *>(program), &ours, std::min(size, sizeof(T)));
}

}  // namespace baton::core
