#pragma once

#include <cstdint>
#include <optional>

#include "registry_rank.hpp"
#include "support/thrown_by.hpp"

namespace baton::core::testing {

using test::code_of;

inline constexpr std::uint64_t page = 4096;
inline constexpr std::uint64_t place_of_memory = std::uint64_t{1} << 44;  // nothing is there; nobody looks

/// A rank whose pretended allocations are named by their addresses.
struct Rank : RegistryRank {
    using RegistryRank::RegistryRank;

    RegionRegistry::Location locate(std::uint64_t address, std::size_t bytes = 1) {
        const auto *pointer = reinterpret_cast<const void *>(address);
        return registry.locate(domain.classify(pointer), pointer, bytes);
    }
    std::optional<RegionRegistry::Location> peek(std::uint64_t address, std::size_t bytes = 1) {
        const auto *pointer = reinterpret_cast<const void *>(address);
        return registry.peek(domain.classify(pointer), pointer, bytes);
    }
    void add(std::uint64_t address, std::size_t bytes = 1) {
        const auto *pointer = reinterpret_cast<const void *>(address);
        registry.add(domain.classify(pointer), pointer, bytes);
    }
    std::uint64_t usable(std::uint64_t address, std::uint64_t wanted) {
        const auto *pointer = reinterpret_cast<const void *>(address);
        return usable_bytes(domain, domain.classify(pointer), pointer, wanted);
    }
};

inline void take_all_slots(Rank &rank) {
    for (std::uint64_t i = 0; i < caller_slots; ++i) {
        rank.domain.pretend(place_of_memory + i * page, page, i + 1);
        ASSERT_TRUE(rank.locate(place_of_memory + i * page).direct);
    }
}

}  // namespace baton::core::testing
