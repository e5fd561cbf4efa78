#include "util/fixed_text.hpp"

#include <string_view>

namespace baton::core {

std::string at_most(const std::string &text, std::size_t most) {
    constexpr std::string_view dots = "...";
    if (text.size() <= most || most <= dots.size()) return text.substr(0, most);
    std::size_t end = most - dots.size();
    // No word is that long that more than half of the text went with it.
    if (const std::size_t space = text.rfind(' ', end - 1); space != std::string::npos && space > end / 2)
        end = space + 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character of UTF-8
    return text.substr(0, end) + std::string(dots);
}

}  // namespace baton::core
