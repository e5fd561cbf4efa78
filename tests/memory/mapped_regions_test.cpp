// Which of the peers' regions the host may name in copies that it enqueues.
#include "memory/mapped_regions.hpp"

#include <gtest/gtest.h>

#include <new>

#include "fake_domain.hpp"
#include "support/failing_new.hpp"

namespace baton::core::testing {
namespace {

/// Maps regions of every kind, where their owners have them.
class AnyKind final : public FakeDomain {
public:
    AnyKind() : FakeDomain(true) {}
    void *import_region(int, const RegionPost &post, int) override { return reinterpret_cast<void *>(post.base); }
    void unimport_region(const RegionPost &, void *) override { ++unimported; }
};

RegionPost post_of(HandleKind kind, std::uint32_t slot, const void *memory) {
    RegionPost post;
    post.kind = kind;
    post.slot = slot;
    post.generation = 1;
    post.base = reinterpret_cast<std::uintptr_t>(memory);
    post.size = 8;
    return post;
}

TEST(MappedRegions, OnlyKernelsAreGivenMemoryOfPeersPools) {
    AnyKind domain;
    char memory[16] = {};
    MappedRegions regions(domain, 0, 2);
    regions.map(1, post_of(HandleKind::pool_fd, 3, memory), -1);
    regions.map(1, post_of(HandleKind::vmm_fd, 4, memory + 8), -1);
    regions.set_own(post_of(HandleKind::pool_fd, 5, memory));

    EXPECT_EQ(regions.address(1, 3, 1), memory);
    EXPECT_EQ(regions.table()[region_slots + 3].address, reinterpret_cast<std::uintptr_t>(memory));
    EXPECT_EQ(regions.address_for_copies(1, 3, 1), nullptr);
    EXPECT_EQ(regions.address_for_copies(1, 4, 1), memory + 8);
    EXPECT_EQ(regions.address_for_copies(1, 4, 2), nullptr);
    EXPECT_EQ(regions.address_for_copies(0, 5, 1), memory);
}

TEST(MappedRegions, WithoutMemoryAreUnmappedLater) {
    AnyKind domain;
    char memory[16] = {};
    MappedRegions regions(domain, 0, 2);
    regions.map(1, post_of(HandleKind::vmm_fd, 3, memory), -1);
    RegionPost next = post_of(HandleKind::vmm_fd, 3, memory);
    next.generation = 2;
    regions.map(1, next, -1);  // in the place of the first
    regions.map(1, post_of(HandleKind::vmm_fd, 4, memory + 8), -1);
    const auto all_are_retired = [](int, std::uint32_t) { return UINT64_MAX; };
    test::allocations_left = 0;
    EXPECT_THROW(regions.reclaim(all_are_retired), std::bad_alloc);
    EXPECT_EQ(domain.unimported, 0);
    regions.reclaim(all_are_retired);
    EXPECT_EQ(domain.unimported, 3);
}

TEST(MappedRegions, TheEndUnmapsWhatIsThereAndWhatWasReplacedButNothingOfTheRanksOwn) {
    AnyKind domain;
    char memory[8] = {};
    {
        MappedRegions regions(domain, 0, 2);
        RegionPost post = post_of(HandleKind::vmm_fd, 3, memory);
        regions.map(1, post, -1);
        post.generation = 2;
        regions.map(1, post, -1);
        regions.set_own(post);
    }
    EXPECT_EQ(domain.unimported, 2);
}

TEST(MappedRegions, WithoutMemoryForItsLineNothingStaysMapped) {
    AnyKind domain;
    char memory[8] = {};
    MappedRegions regions(domain, 0, 2);
    test::allocations_left = 0;
    EXPECT_THROW(regions.map(1, post_of(HandleKind::vmm_fd, 3, memory), -1), std::bad_alloc);
    test::allocations_left = -1;
    EXPECT_EQ(domain.unimported, 1);
}

}  // namespace
}  // namespace baton::core::testing
