#include "comm/same_build.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "baton/baton.h"
#include "bootstrap/thread_bootstrap.hpp"
#include "support/thrown_by.hpp"

namespace baton::core {
namespace {

/// What each rank finds if the ranks have these builds.
std::vector<Failure> found_by(const std::vector<std::string> &builds) {
    auto ends = ThreadBootstrap::make(static_cast<int>(builds.size()));
    std::vector<Failure> found(builds.size(), Failure(BATON_SUCCESS, ""));
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < builds.size(); ++rank) {
        threads.emplace_back(
            [&, rank] { found[rank] = test::thrown_by([&] { require_same_build(*ends[rank], builds[rank]); }); });
    }
    for (std::thread &thread : threads) thread.join();
    return found;
}

TEST(SameBuild, PassesWhereAllRanksHaveIt) {
    for (const Failure &failure : found_by({"abc", "abc", "abc"})) EXPECT_EQ(failure.code(), BATON_SUCCESS);
    EXPECT_EQ(found_by({"abc"})[0].code(), BATON_SUCCESS);
}

TEST(SameBuild, AnotherOneIsAMismatchOnEveryRank) {
    for (const Failure &failure : found_by({"abc", "abc", "abd"})) {
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
        EXPECT_STREQ(failure.what(),
                     "ranks run different builds of Baton (baton_build_id): abc on rank 0, abd on rank 2");
    }
}

TEST(SameBuild, IsTheHashOfTheSources) {
    EXPECT_EQ(std::string(baton_build_id()).size(), 16U);
    EXPECT_EQ(std::string(baton_build_id()).find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace baton::core
