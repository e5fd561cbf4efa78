#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace baton::core {

/// A whole text that is a number, the same in every locale: no spaces, no '+', no "0x"; '-' of signed ones. Empty for
/// anything else, and for what T cannot hold.
template <std::integral T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace baton::core
