#include "memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace baton::core::contract {
namespace {

/// Bytes on each side of a buffer that belong to nobody, at least.
constexpr std::size_t guard = 48;

/// Extends `contents` to `end` with what lies between the buffers.
void append_poison(Contents &contents, std::size_t end) {
    std::size_t at = contents.size();
    contents.resize(end);
    for (; at < end; ++at) contents[at] = static_cast<std::byte>(0x5A ^ (at * 7));
}

}  // namespace

Memory::Memory(const std::vector<RegionRegistry::Allocation> &areas, std::size_t capacity, std::uint64_t random)
    : capacity_(capacity), random_(random) {
    for (const RegionRegistry::Allocation &area : areas) {
        areas_.push_back({static_cast<std::byte *>(area.pointer), area.published, {}, {}, 0, {}});
        append_poison(areas_.back().before, guard);
        append_poison(areas_.back().after, guard);
    }
}

Place Memory::take(std::size_t bytes, bool aligned, const std::string &name) {
    const std::size_t index = random_.below(areas_.size());
    Area &area = areas_[index];
    const std::size_t start = (area.used + guard + random_.below(64)) / 16 * 16 + (aligned ? 0 : random_.below(16));
    area.used = start + bytes;
    if (area.used + guard > capacity_) throw std::logic_error("the clause needs larger areas");
    append_poison(area.before, area.used + guard);
    append_poison(area.after, area.used + guard);
    area.pieces.push_back({start, bytes, name});
    return {index, start, bytes};
}

BufferRef Memory::in_region(const Place &place) const {
    const Area &area = areas_[place.area];
    return BufferRef::in_region(area.published, place.offset);
}

void Memory::fill(const Place &place, const Contents &contents) {
    std::copy(contents.begin(), contents.end(),
              areas_[place.area].before.begin() + static_cast<std::ptrdiff_t>(place.offset));
    expect(place, contents);
}

void Memory::expect(const Place &place, const Contents &contents) {
    if (contents.size() != place.bytes) throw std::logic_error("contents of another size than their place");
    std::copy(contents.begin(), contents.end(),
              areas_[place.area].after.begin() + static_cast<std::ptrdiff_t>(place.offset));
}

void Memory::upload(Runner &runner) const {
    for (const Area &area : areas_) runner.upload(area.pointer, area.before.data(), area.used + guard);
}

std::string Memory::describe(const Area &area, std::size_t offset) const {
    const auto next = std::upper_bound(area.pieces.begin(), area.pieces.end(), offset,
                                       [](std::size_t at, const Piece &piece) { return at < piece.offset; });
    if (next == area.pieces.begin()) return "before the first buffer";
    const Piece &piece = *std::prev(next);
    const std::size_t into = offset - piece.offset;
    if (into < piece.bytes) return "byte " + std::to_string(into) + " of " + piece.name;
    return std::to_string(into - piece.bytes) + " bytes behind the end of " + piece.name;
}

::testing::AssertionResult Memory::as_expected(Runner &runner) const {
    for (const Area &area : areas_) {
        Contents found(area.used + guard);
        runner.download(found.data(), area.pointer, found.size());
        if (std::memcmp(found.data(), area.after.data(), found.size()) == 0) continue;
        std::size_t wrong = 0;
        std::size_t first = found.size();
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] == area.after[i]) continue;
            if (wrong++ == 0) first = i;
        }
        return ::testing::AssertionFailure()
               << wrong << " bytes differ, the first " << describe(area, first) << ": "
               << std::to_integer<int>(found[first]) << " instead of " << std::to_integer<int>(area.after[first]);
    }
    return ::testing::AssertionSuccess();
}

}  // namespace baton::core::contract
