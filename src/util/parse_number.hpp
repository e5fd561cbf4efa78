#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace baton::core {

/// Parses a text that is a number as a whole, in the same way in every locale: no spaces, no '+', no "0x"; '-' for
/// signed types only. Empty for anything else, and for what T cannot hold.
template <std::integral T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace baton::core
