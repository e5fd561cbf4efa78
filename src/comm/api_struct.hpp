#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "baton/baton.h"

namespace baton::core {

// The API's structs that have a struct_size grow at their ends. A program built with an older header knows fewer bytes
// than this library, and one with a newer header more. A struct must not end with padding: a field put there later
// would lie within the size that older programs know.

/// sizeof(T) in version 0.1. No program knows less of it.
template <class T>
inline constexpr std::size_t first_struct_bytes = 0;
template <>
inline constexpr std::size_t first_struct_bytes<baton_config> = 80;
template <>
inline constexpr std::size_t first_struct_bytes<baton_info> = 560;

/// The largest plausible struct_size: a larger one has not been set.
inline constexpr std::size_t most_struct_bytes = 4096;

template <class T>
bool may_be_struct_size(std::size_t size) {
    static_assert(first_struct_bytes<T> != 0 && sizeof(T) >= first_struct_bytes<T>);
    return size >= first_struct_bytes<T> && size <= most_struct_bytes;
}

/// Returns `unset`, overwritten by the fields of `program` that the program knows.
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
