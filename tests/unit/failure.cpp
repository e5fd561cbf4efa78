#include "util/failure.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/failing_new.hpp"

namespace baton::core {
namespace {

constexpr const char *no_words = "there is no memory for saying what has failed";

/// What `make` makes where there is no memory at all.
template <class Make>
Failure without_memory(Make make) {
    test::none_after_that = true;
    test::allocations_left = 0;
    Failure failure = make();
    test::allocations_left = -1;
    test::none_after_that = false;
    return failure;
}

TEST(Failure, HasItsWords) {
    const Failure failure = failure_of(BATON_ERR_TIMEOUT, "rank {} waited {:g} s", 3, 0.5);
    EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
    EXPECT_STREQ(failure.what(), "rank 3 waited 0.5 s");
}

TEST(Failure, WithoutMemoryForItsWordsKeepsItsCode) {
    const std::string name(100, 'x');
    const Failure made = without_memory([&] { return failure_of(BATON_ERR_TIMEOUT, "rank {}", name); });
    EXPECT_EQ(made.code(), BATON_ERR_TIMEOUT);
    EXPECT_STREQ(made.what(), no_words);
    const Failure thrown = without_memory([&] {
        try {
            fail(BATON_ERR_MISMATCH, "rank {}", name);
        } catch (const Failure &failure) {
            return failure;
        }
    });
    EXPECT_EQ(thrown.code(), BATON_ERR_MISMATCH);
    EXPECT_STREQ(thrown.what(), no_words);
}

TEST(Failure, TextsOfErrnoNeedNoMemory) {
    EXPECT_STREQ(errno_text(ENOENT), "No such file or directory");
    EXPECT_STREQ(errno_text(123456), "unknown error");
    const Failure made = without_memory([] { return failure_of(BATON_ERR_SYSTEM, "eventfd: {}", errno_text(EMFILE)); });
    EXPECT_EQ(made.code(), BATON_ERR_SYSTEM);
}

TEST(Failure, AnyExceptionHasACode) {
    EXPECT_EQ(as_failure(Failure(BATON_ERR_CUDA, "a kernel")).code(), BATON_ERR_CUDA);
    EXPECT_STREQ(as_failure(Failure(BATON_ERR_CUDA, "a kernel")).what(), "a kernel");
    const std::bad_alloc no_memory;
    const std::system_error refused(std::make_error_code(std::errc::too_many_files_open), std::string(100, 'x'));
    const std::logic_error defect(std::string(100, 'x'));
    EXPECT_EQ(as_failure(refused).code(), BATON_ERR_SYSTEM);
    EXPECT_STREQ(as_failure(refused).what(), refused.what());
    EXPECT_EQ(without_memory([&] { return as_failure(no_memory); }).code(), BATON_ERR_MEMORY);
    EXPECT_STREQ(without_memory([&] { return as_failure(no_memory); }).what(), "out of host memory");
    EXPECT_EQ(without_memory([&] { return as_failure(refused); }).code(), BATON_ERR_SYSTEM);
    EXPECT_EQ(without_memory([&] { return as_failure(defect); }).code(), BATON_ERR_INTERNAL);
}

}  // namespace
}  // namespace baton::core
