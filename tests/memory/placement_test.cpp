#include "memory/placement.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "memory/service_thread.hpp"

namespace baton::core {
namespace {

using Set = std::vector<int>;

TEST(Placement, BindsToWhatIsNearAndAllowed) {
    EXPECT_EQ(processors_near({4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}), (Set{4, 5, 6, 7}));
    EXPECT_EQ(processors_near({4, 5, 6, 7}, {2, 3, 4, 5}), (Set{4, 5}));
    EXPECT_EQ(processors_near({4, 5, 6, 7}, {0, 1}), Set{}) << "the user's binding excludes the node";
    EXPECT_EQ(processors_near({4, 5, 6, 7}, {5, 6}), Set{}) << "the user has bound to the node already";
    EXPECT_EQ(processors_near({}, {0, 1}), Set{});
    EXPECT_EQ(processors_near({0, 1}, {}), Set{});
}

TEST(Placement, RanksMayHaveAProcessorEach) {
    const ProcessorBits first = bits_of({0}), second = bits_of({1}), both = bits_of({0, 1});
    EXPECT_TRUE(have_one_each(2, {first, second}));
    EXPECT_TRUE(have_one_each(2, {both, both}));
    EXPECT_FALSE(have_one_each(3, {both, both, first}));
    EXPECT_FALSE(have_one_each(2, {first, first}));
    EXPECT_FALSE(have_one_each(4, {both, both})) << "the others may run there too";
    EXPECT_TRUE(have_one_each(4, {first, second})) << "bound, as the others will be";
    EXPECT_FALSE(have_one_each(1, {ProcessorBits()})) << "the system does not say";
    EXPECT_EQ(bits_of({3, 1024 + 4, 8191}).count(), 3u);
}

TEST(Placement, RanksHaveAProcessorEachIfThereIsOneWayToSeatThem) {
    const ProcessorBits zero = bits_of({0}), zero_or_one = bits_of({0, 1}), one_or_two = bits_of({1, 2});
    EXPECT_FALSE(have_one_each(3, {zero, zero, one_or_two})) << "two on one, however many others are left";
    EXPECT_TRUE(have_one_each(3, {zero_or_one, zero, one_or_two})) << "the first has to make room";
    EXPECT_TRUE(have_one_each(3, {zero_or_one, one_or_two, zero})) << "and so does the second";
    EXPECT_FALSE(have_one_each(3, {zero_or_one, zero_or_one, zero_or_one}));
    EXPECT_FALSE(have_one_each(3, {zero_or_one, zero_or_one, ProcessorBits()}));
    ProcessorBits all;
    for (std::size_t processor = 0; processor < 64; ++processor) all.set(processor);
    EXPECT_TRUE(have_one_each(64, std::vector<ProcessorBits>(64, all)));
    EXPECT_FALSE(have_one_each(65, std::vector<ProcessorBits>(65, all)));
}

TEST(Placement, KnowsWhereTheThreadRuns) {
    const Set allowed = allowed_processors();
    ASSERT_FALSE(allowed.empty());
    std::thread([&] {
        bind_this_thread({allowed.back()});
        EXPECT_EQ(allowed_processors(), (Set{allowed.back()}));
        bind_this_thread({});
        bind_this_thread({8191});  // no such processor: refused, and nothing changes
        bind_this_thread({1 << 20});
        EXPECT_EQ(allowed_processors(), (Set{allowed.back()}));
    }).join();
    EXPECT_EQ(allowed_processors(), allowed);
}

TEST(Placement, TheServiceThreadIsBoundAndItsOwnerIsNot) {
    const Set allowed = allowed_processors();
    std::promise<Set> seen;
    bool first = true;
    ServiceThread thread;  // declared last, so that it ends before what it uses
    thread.start({},
                 {[](const std::vector<int> &) {},
                  [&] {
                      if (first) seen.set_value(allowed_processors());
                      first = false;
                  }},
                 {allowed.front()});
    EXPECT_EQ(seen.get_future().get(), (Set{allowed.front()}));
    EXPECT_EQ(allowed_processors(), allowed);
}

int policy() {
    int mode = -1;
    return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 ? mode : -1;
}

TEST(Placement, MemoryComesFromTheNodeWhileTheGuardLives) {
    const int node = current_numa_node();
    if (policy() != MPOL_DEFAULT || ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) != 0)
        GTEST_SKIP() << "no memory policies here";
    {
        const NumaNodeGuard guard(node);
        unsigned long nodes[16] = {};
        int mode = -1;
        ASSERT_EQ(::syscall(SYS_get_mempolicy, &mode, nodes, 1024, nullptr, 0), 0);
        EXPECT_EQ(mode, MPOL_PREFERRED);
        EXPECT_EQ(nodes[node / 64], 1ul << (node % 64));
    }
    EXPECT_EQ(policy(), MPOL_DEFAULT);
    const NumaNodeGuard unknown(-1), nowhere(1 << 20), absent(1023);
    EXPECT_EQ(policy(), MPOL_DEFAULT);
}

TEST(Placement, TheUsersMemoryPolicyStays) {
    const unsigned long nodes[16] = {1ul << current_numa_node()};
    std::thread([&] {
        if (::syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes, 1025) != 0) GTEST_SKIP() << "no memory policies here";
        {
            const NumaNodeGuard guard(current_numa_node());
            EXPECT_EQ(policy(), MPOL_INTERLEAVE);
        }
        EXPECT_EQ(policy(), MPOL_INTERLEAVE);
    }).join();
}

}  // namespace
}  // namespace baton::core
