#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace baton::test {

/// BATON_TEST_NEEDS_GPU is set where there are GPUs: a test that finds none must not pass by skipping, or by running on
/// the host.
inline bool needs_gpu() { return std::getenv("BATON_TEST_NEEDS_GPU") != nullptr; }

}  // namespace baton::test

/// GTEST_SKIP() << reason, for a test that has found no GPU. A failure if there must be one.
#define SKIP_WITHOUT_GPU(reason)                                                             \
    do {                                                                                     \
        if (::baton::test::needs_gpu()) FAIL() << "BATON_TEST_NEEDS_GPU is set: " << reason; \
        GTEST_SKIP() << reason;                                                              \
    } while (false)
