#pragma once

#include <cstddef>
#include <string>

namespace baton::core {

/// The text, if it has at most `most` bytes; else its beginning, whole words as far as there are any, and "...".
std::string at_most(const std::string &text, std::size_t most);

/// Into a field of a struct, with a zero at the end: of the C API, or in memory that ranks share.
template <std::size_t size>
void copy_text(char (&field)[size], const std::string &text) {
    const std::string fits = at_most(text, size - 1);
    field[fits.copy(field, size - 1)] = '\0';
}

}  // namespace baton::core
