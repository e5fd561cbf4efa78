#pragma once

#include <cstddef>
#include <string_view>

namespace baton::core {

/// Into a field of `size` bytes, with a zero at the end: of the C API, or in memory that ranks share. The text, if it
/// fits; else its beginning, whole words as far as there are any, and "...". Takes no memory.
void copy_text(char *field, std::size_t size, std::string_view text) noexcept;

template <std::size_t size>
void copy_text(char (&field)[size], std::string_view text) noexcept {
    copy_text(field, size, text);
}

}  // namespace baton::core
