#include "memory/shared_segment.hpp"

#include <gtest/gtest.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "ranks.hpp"
#include "support/thrown_by.hpp"
#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

void write_and_check(Bootstrap &bootstrap, std::size_t bytes) {
    const SharedSegment segment(bootstrap, bytes);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    EXPECT_GE(segment.bytes_per_rank(), bytes);
    EXPECT_EQ(segment.bytes_per_rank() % page, 0U);
    EXPECT_EQ(segment.total_bytes(), segment.bytes_per_rank() * static_cast<std::size_t>(bootstrap.size()));

    std::byte *mine = segment.slice(bootstrap.rank());
    EXPECT_TRUE(std::all_of(mine, mine + segment.bytes_per_rank(), [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(mine, segment.bytes_per_rank(), static_cast<std::byte>(bootstrap.rank() + 1));
    bootstrap.barrier();
    for (int r = 0; r < bootstrap.size(); ++r) {
        const std::byte *slice = segment.slice(r);
        EXPECT_TRUE(std::all_of(slice, slice + segment.bytes_per_rank(),
                                [r](std::byte b) { return b == static_cast<std::byte>(r + 1); }));
    }
    bootstrap.barrier();
}

/// Whether a Baton segment of `bytes` has a name. Other programs' segments, which come and go, have other sizes.
bool has_name_in_dev_shm(std::size_t bytes) {
    for (const auto &entry : std::filesystem::directory_iterator("/dev/shm")) {
        std::error_code gone;
        if (entry.path().filename().string().rfind("baton-", 0) == 0 && entry.file_size(gone) == bytes && !gone)
            return true;
    }
    return false;
}

TEST(SharedSegment, ThreadsSeeEachOthersSlices) {
    for (const int size : {1, 2, 5}) run_threads(size, [](Bootstrap &b) { write_and_check(b, 10000); });
}

TEST(SharedSegment, ProcessesSeeEachOthersSlices) {
    for (const int size : {1, 2, 5}) {
        for (const Ended &end : run_processes(size, [](Bootstrap &b) { write_and_check(b, 10000); })) {
            EXPECT_EQ(end.exit_code, 0);
        }
    }
}

TEST(SharedSegment, OutlivesTheRankThatLeaves) {
    run_threads(3, [](Bootstrap &bootstrap) {
        auto segment = std::make_unique<SharedSegment>(bootstrap, 100);
        if (bootstrap.rank() == 0) segment.reset();
        bootstrap.barrier();
        if (segment) segment->slice(0)[bootstrap.rank()] = std::byte{1};
    });
}

TEST(SharedSegment, LeavesNoName) {
    const auto ended = run_processes(2, [](Bootstrap &bootstrap) {
        const SharedSegment segment(bootstrap, 1234567);
        EXPECT_FALSE(has_name_in_dev_shm(segment.total_bytes()));
        bootstrap.barrier();
    });
    for (const Ended &end : ended) EXPECT_EQ(end.exit_code, 0);
}

TEST(SharedSegment, ARankWithoutDescriptorsFailsOnAllRanksAndLeavesNoName) {
    for (const int poor : {0, 1}) {
        const auto ended = run_processes(2, [poor](Bootstrap &bootstrap) {
            constexpr std::size_t bytes = 1239040;  // whole pages
            {
                std::optional<NoDescriptorsLeft> limit;
                if (bootstrap.rank() == poor) limit.emplace();
                const Failure failure = test::thrown_by([&] { const SharedSegment segment(bootstrap, bytes); });
                EXPECT_EQ(failure.code(), BATON_ERR_SYSTEM) << failure.what();
                EXPECT_EQ(std::string(failure.what()).find("rank " + std::to_string(poor) + ": shm_open"), 0U)
                    << failure.what();
                EXPECT_EQ(std::string(failure.what()).find("ipc"), std::string::npos) << failure.what();
            }
            bootstrap.barrier();
            EXPECT_FALSE(has_name_in_dev_shm(2 * bytes));
        });
        for (const Ended &end : ended) EXPECT_EQ(end.exit_code, 0);
    }
}

TEST(SharedSegment, TooLargeIsAnErrorOnAllRanks) {
    struct statvfs space = {};
    ASSERT_EQ(::statvfs("/dev/shm", &space), 0);
    if (space.f_blocks == 0) GTEST_SKIP() << "/dev/shm has no limit";
    // One rank's part alone exceeds the file system, which refuses it at once instead of filling up first.
    const std::size_t bytes = space.f_blocks * space.f_frsize + 4096;
    const auto ended = run_processes(2, [bytes](Bootstrap &bootstrap) {
        const Failure failure = test::thrown_by([&] { const SharedSegment segment(bootstrap, bytes); });
        EXPECT_EQ(failure.code(), BATON_ERR_MEMORY) << failure.what();
        EXPECT_NE(std::string(failure.what()).find("free"), std::string::npos) << failure.what();
    });
    for (const Ended &end : ended) EXPECT_EQ(end.exit_code, 0);
}

}  // namespace
}  // namespace baton::core::testing
