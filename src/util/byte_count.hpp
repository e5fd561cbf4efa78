#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace baton::core {

/// Parses bytes, or a number of something, as people write it: "4096", "64K", "64KiB", "1g", in powers of 1024. What is
/// too large for 64 bits becomes the largest number.
inline std::optional<std::uint64_t> parse_byte_count(std::string_view text) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::invalid_argument) return std::nullopt;
    if (error != std::errc()) number = largest;
    std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
    const auto begins_with = [&](char letter) { return !unit.empty() && (unit[0] | 0x20) == letter; };
    int shift = 0;
    for (const char letter : {'k', 'm', 'g', 't'}) {
        shift += 10;
        if (!begins_with(letter)) continue;
        unit.remove_prefix(1);
        if (begins_with('i') && unit.size() == 2) unit.remove_prefix(1);
        if (begins_with('b')) unit.remove_prefix(1);
        if (!unit.empty()) return std::nullopt;
        return number <= largest >> shift ? number << shift : largest;
    }
    return unit.empty() ? std::optional(number) : std::nullopt;
}

}  // namespace baton::core
