#include "util/fixed_text.hpp"

#include <algorithm>

namespace baton::core {
namespace {

constexpr std::string_view dots = "...";

/// How many bytes are kept of a text that does not fit into `most` bytes: the dots follow them.
std::size_t kept_of(std::string_view text, std::size_t most) noexcept {
    std::size_t end = most - dots.size();
    // Cuts after a word, unless more than half of the text would go with the next one.
    if (const std::size_t space = text.rfind(' ', end - 1); space != std::string_view::npos && space > end / 2)
        end = space + 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character of UTF-8
    return end;
}

}  // namespace

void copy_text(char *field, std::size_t size, std::string_view text) noexcept {
    if (size == 0) return;
    const std::size_t most = size - 1;
    char *end = field;
    if (text.size() <= most || most <= dots.size()) {
        end = std::copy_n(text.data(), std::min(text.size(), most), end);
    } else {
        end = std::copy_n(text.data(), kept_of(text, most), end);
        end = std::copy(dots.begin(), dots.end(), end);
    }
    *end = '\0';
}

}  // namespace baton::core
