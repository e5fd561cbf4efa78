#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory/region_registry.hpp"
#include "runner.hpp"
#include "support/environment.hpp"

namespace baton::core::contract {

using Contents = std::vector<std::byte>;

/// A part of a rank's buffers.
struct Place {
    std::size_t area = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;

    Place part(std::size_t from, std::size_t length) const { return {area, offset + from, length}; }
};

/// A rank's buffers, with what they hold before a run and what they must hold after it: every byte of them, also those
/// between the buffers, which nobody may write. They lie in two regions, at places that differ from rank to rank.
class Memory {
public:
    /// `random` is this rank's own. Each area has `capacity` bytes.
    Memory(const std::vector<RegionRegistry::Allocation> &areas, std::size_t capacity, std::uint64_t random);

    /// A new buffer: its address is a multiple of 16, or any if not `aligned`. The name appears in messages.
    Place take(std::size_t bytes, bool aligned, const std::string &name);

    std::byte *at(const Place &place) const { return areas_[place.area].pointer + place.offset; }
    BufferRef in_region(const Place &place) const;
    BufferRef at_address(const Place &place) const { return BufferRef::at_address(at(place)); }

    /// Sets the contents before every run, and those after it until expect() says otherwise.
    void fill(const Place &place, const Contents &contents);
    void expect(const Place &place, const Contents &contents);
    void upload(Runner &runner) const;
    ::testing::AssertionResult as_expected(Runner &runner) const;

private:
    struct Piece {
        std::size_t offset;
        std::size_t bytes;
        std::string name;
    };
    struct Area {
        std::byte *pointer;
        PublishedRegion published;
        // Only as far as buffers reach: most clauses need a small part of the area.
        Contents before;
        Contents after;
        std::size_t used = 0;
        std::vector<Piece> pieces;  // by offset
    };
    std::string describe(const Area &area, std::size_t offset) const;

    const std::size_t capacity_;
    std::vector<Area> areas_;
    test::Random random_;
};

}  // namespace baton::core::contract
