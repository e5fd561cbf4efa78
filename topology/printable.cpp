#include "topology/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace baton::topology {
namespace {

struct Range {
    std::uint32_t first, last;
};

/// Unicode's control and format characters, its separators of lines and paragraphs, and what no text may contain.
constexpr Range not_printable[] = {{0x00, 0x1f},       {0x7f, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
                                   {0x180e, 0x180e},   {0x200b, 0x200f},  {0x2028, 0x202e}, {0x2060, 0x206f},
                                   {0xd800, 0xdfff},   {0xfeff, 0xfeff},  {0xfff9, 0xfffb}, {0xfffe, 0xffff},
                                   {0x1d173, 0x1d17a}, {0xe0000, 0xe007f}};

/// Decodes the character at the front of the text. Returns its number of bytes; 0 if it is not UTF-8.
std::size_t decode(std::string_view text, std::uint32_t &character) {
    const auto byte = [&](std::size_t index) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[index]));
    };
    const std::uint32_t first = byte(0);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    if (length == 0 || text.size() < length) return 0;
    constexpr std::uint32_t payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07}, smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    character = first & payload[length];
    for (std::size_t index = 1; index < length; ++index) {
        if ((byte(index) & 0xc0U) != 0x80U) return 0;
        character = character << 6U | (byte(index) & 0x3fU);
    }
    return character < smallest[length] || character > 0x10ffff ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, char keep) {
    std::string result;
    while (!text.empty()) {
        std::uint32_t character = 0;
        const std::size_t length = decode(text, character);
        const bool good =
            length > 0 && std::none_of(std::begin(not_printable), std::end(not_printable), [&](const Range &range) {
                return range.first <= character && character <= range.last;
            });
        if (good || (keep != '\0' && text[0] == keep)) {
            result += text.substr(0, length);
        } else {
            result += '?';
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return result;
}

void make_printable(Snapshot &snapshot) {
    const auto clean = [](std::string &text) { text = printable(text); };
    for (Gpu &gpu : snapshot.gpus) {
        clean(gpu.name);
        clean(gpu.uuid.value);
    }
    for (Nic &nic : snapshot.nics) clean(nic.name);
    for (PciNode &node : snapshot.pci) clean(node.name);
    clean(snapshot.host.cpu_model);
    clean(snapshot.driver.value);
    for (std::string &gap : snapshot.gaps) clean(gap);
}

}  // namespace baton::topology
