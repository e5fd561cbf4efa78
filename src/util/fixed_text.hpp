#pragma once

#include <cstddef>
#include <string_view>

namespace baton::core {

/// Copies a text into a field of `size` bytes, with a zero at the end: a field of the C API, or in memory that ranks
/// share. A text that does not fit is cut, after a whole word where possible, and ends in "...". Takes no memory.
void copy_text(char *field, std::size_t size, std::string_view text) noexcept;

template <std::size_t size>
void copy_text(char (&field)[size], std::string_view text) noexcept {
    copy_text(field, size, text);
}

}  // namespace baton::core
