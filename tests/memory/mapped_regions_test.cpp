// Which of the peers' regions the host may name in copies that it enqueues.
#include "memory/mapped_regions.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <new>
#include <vector>

#include "fake_domain.hpp"
#include "support/failing_new.hpp"

namespace baton::core::testing {
namespace {

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
    regions.map(1, post_of(HandleKind::pool_fd, 3, memory), {});
    regions.map(1, post_of(HandleKind::vmm_fd, 4, memory + 8), {});
    regions.set_own(post_of(HandleKind::pool_fd, 5, memory));

    EXPECT_EQ(regions.address(1, {3, 1}), memory);
    EXPECT_EQ(regions.table()[region_slots + 3].address, reinterpret_cast<std::uintptr_t>(memory));
    EXPECT_EQ(regions.address_for_copies(1, {3, 1}, Copies::where_possible), nullptr);
    EXPECT_EQ(regions.address_for_copies(1, {4, 1}, Copies::where_possible), memory + 8);
    EXPECT_EQ(regions.address_for_copies(1, {4, 2}, Copies::where_possible), nullptr);
    EXPECT_EQ(regions.address_for_copies(0, {5, 1}, Copies::where_possible), memory);
}

TEST(MappedRegions, CopyEnginesAreGivenWhatTheyAreFastWith) {
    AnyKind domain;
    char memory[16] = {};
    MappedRegions regions(domain, 0, 2);
    const auto post = [&](HandleKind kind, std::uint32_t slot, std::uint64_t size) {
        RegionPost made = post_of(kind, slot, memory);
        made.size = size;
        return made;
    };
    constexpr std::uint64_t odd_size = (256 << 20) + 4096;
    regions.map(1, post(HandleKind::cuda_ipc, 3, odd_size), {});
    regions.map(1, post(HandleKind::cuda_ipc, 4, (256 << 20) + 65536), {});
    regions.map(1, post(HandleKind::vmm_fd, 5, odd_size), {});
    regions.map(1, post(HandleKind::cuda_ipc, 6, 4096), {});
    regions.set_own(post(HandleKind::cuda_ipc, 7, odd_size));

    EXPECT_EQ(regions.address_for_copies(1, {3, 1}, Copies::where_fast), nullptr);
    EXPECT_EQ(regions.address_for_copies(1, {3, 1}, Copies::where_possible), memory);
    for (const std::uint32_t slot : {4, 5, 6})
        EXPECT_EQ(regions.address_for_copies(1, {slot, 1}, Copies::where_fast), memory);
    EXPECT_EQ(regions.address_for_copies(0, {7, 1}, Copies::where_fast), memory);
}

TEST(MappedRegions, AreUnmappedWithoutMemory) {
    AnyKind domain;
    char memory[16] = {};
    MappedRegions regions(domain, 0, 2);
    regions.map(1, post_of(HandleKind::vmm_fd, 3, memory), {});
    RegionPost next = post_of(HandleKind::vmm_fd, 3, memory);
    next.generation = 2;
    regions.map(1, next, {});  // in place of the first
    regions.map(1, post_of(HandleKind::vmm_fd, 4, memory + 8), {});
    test::allocations_left = 0;  // memory is short, so mappings have to go
    regions.reclaim([](int, std::uint32_t) { return UINT64_MAX; });
    test::allocations_left = -1;
    EXPECT_EQ(domain.unimported, 3);
}

class WithPages final : public FakeDomain {
public:
    explicit WithPages(bool can_give_back) : FakeDomain(true), can_give_back_(can_give_back) {}
    void *import_region(int, const RegionPost &post, UniqueFd) override { return reinterpret_cast<void *>(post.base); }
    void unimport_region(const RegionPost &, void *) override { ++unimported; }
    bool can_give_back_pages() const override { return can_give_back_; }
    bool give_back_pages(const RegionPost &, void *address) override {
        given_back.push_back(address);
        return given_back.size() > failures;
    }

    std::vector<void *> given_back;
    std::size_t failures = 0;  // of the first calls

private:
    const bool can_give_back_;
};

TEST(MappedRegions, PagesOfWhatIsRetiredAreGivenBackOnceAndItIsUnmappedLater) {
    for (const bool can : {true, false}) {
        SCOPED_TRACE(can);
        WithPages domain(can);
        char memory[24] = {};
        MappedRegions regions(domain, 0, 2);
        for (std::uint32_t slot = 3; slot < 5; ++slot)
            regions.map(1, post_of(HandleKind::memfd, slot, memory + 8 * (slot - 3)), {});
        regions.set_own(post_of(HandleKind::memfd, 3, memory + 16));
        const auto retired = [](int, std::uint32_t slot) { return slot == 3 ? 1 : 0; };
        for (int again = 0; again < 2; ++again) regions.give_back_pages(retired);
        EXPECT_EQ(domain.given_back, can ? std::vector<void *>{memory} : std::vector<void *>{});
        EXPECT_EQ(regions.address(1, {3, 1}), can ? nullptr : memory);
        EXPECT_EQ(regions.address(0, {3, 1}), memory + 16) << "the rank's own";
        EXPECT_EQ(domain.unimported, 0);
        EXPECT_EQ(regions.has_left_for_reclaim(), can);
        regions.reclaim([](int owner, std::uint32_t slot) { return owner == 1 && slot == 3 ? 1 : 0; });
        EXPECT_EQ(domain.unimported, 1);
        EXPECT_FALSE(regions.has_left_for_reclaim());
        EXPECT_EQ(regions.address(1, {4, 1}), memory + 8);
    }
}

TEST(MappedRegions, PagesThatCouldNotBeGivenBackAreTriedAgain) {
    WithPages domain(true);
    domain.failures = 1;
    char memory[8] = {};
    MappedRegions regions(domain, 0, 2);
    regions.map(1, post_of(HandleKind::memfd, 3, memory), {});
    const auto retired = [](int, std::uint32_t) { return 1; };
    for (int again = 0; again < 3; ++again) regions.give_back_pages(retired);
    EXPECT_EQ(domain.given_back.size(), 2U);
    EXPECT_TRUE(regions.has_left_for_reclaim());
    regions.reclaim(retired);
    EXPECT_EQ(domain.unimported, 1);
}

TEST(MappedRegions, OneRegionOfAPeerIsUnmappedByItself) {
    AnyKind domain;
    char memory[16] = {};
    MappedRegions regions(domain, 0, 2);
    regions.map(1, post_of(HandleKind::vmm_fd, 3, memory), {});
    regions.map(1, post_of(HandleKind::vmm_fd, 4, memory + 8), {});
    regions.set_own(post_of(HandleKind::vmm_fd, 3, memory));
    regions.unmap_region(0, {3, 1});
    regions.unmap_region(1, {3, 2});
    regions.unmap_region(1, {5, 1});
    EXPECT_EQ(domain.unimported, 0) << "the rank's own, another generation's, and none";
    EXPECT_EQ(regions.address(0, {3, 1}), memory);
    test::allocations_left = 0;  // memory is short, so the region has to go
    regions.unmap_region(1, {3, 1});
    regions.unmap_region(1, {3, 1});
    test::allocations_left = -1;
    EXPECT_EQ(domain.unimported, 1);
    EXPECT_EQ(regions.address(1, {3, 1}), nullptr);
    EXPECT_EQ(regions.address(1, {4, 1}), memory + 8);
}

TEST(MappedRegions, TheEndUnmapsWhatIsThereAndWhatWasReplacedButNothingOfTheRanksOwn) {
    AnyKind domain;
    char memory[8] = {};
    {
        MappedRegions regions(domain, 0, 2);
        RegionPost post = post_of(HandleKind::vmm_fd, 3, memory);
        regions.map(1, post, {});
        post.generation = 2;
        regions.map(1, post, {});
        regions.set_own(post);
    }
    EXPECT_EQ(domain.unimported, 2);
}

TEST(MappedRegions, TheDescriptorOfAPostThatIsNoneIsClosed) {
    AnyKind domain;
    MappedRegions regions(domain, 0, 2);
    const int fd = ::dup(STDERR_FILENO);
    ASSERT_GE(fd, 0);
    EXPECT_THROW(regions.map(1, post_of(HandleKind::memfd, region_slots, nullptr), UniqueFd(fd)), Failure);
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "still open";
}

TEST(MappedRegions, WithoutMemoryForItsLineNothingStaysMapped) {
    AnyKind domain;
    char memory[8] = {};
    MappedRegions regions(domain, 0, 2);
    test::allocations_left = 0;
    EXPECT_THROW(regions.map(1, post_of(HandleKind::vmm_fd, 3, memory), {}), std::bad_alloc);
    test::allocations_left = -1;
    EXPECT_EQ(domain.unimported, 1);
}

}  // namespace
}  // namespace baton::core::testing
