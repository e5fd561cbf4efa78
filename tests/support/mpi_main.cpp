// The main of every test binary that runs under mpirun. All ranks run the same tests in the same order; after each test
// they agree on whether any of them failed, and the process fails on all ranks if it did.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "support/arena.hpp"
#include "support/environment.hpp"
#include "support/seed.hpp"

namespace {

using baton::test::environment;

constexpr int skip_code = 77;  // what ctest counts as skipped (SKIP_RETURN_CODE)

/// Ranks other than 0 are silent except for their failures.
class FailurePrinter : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo &test) override {
        name_ = std::string(test.test_suite_name()) + '.' + test.name();
    }
    // Runs under GoogleTest's lock: asking it for the current test here would wait for ever.
    void OnTestPartResult(const testing::TestPartResult &result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "[rank %d] %s: %s:%d: Failure\n%s\n", environment().rank, name_.c_str(),
                     result.file_name() != nullptr ? result.file_name() : "?", result.line_number(), result.message());
    }
    std::string name_;
};

/// Keeps the ranks in step between tests, and lets rank 0's output show a failure that only another rank had.
class Agreement : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo &test) override {
        const bool mine = test.result()->Failed();
        const bool any = baton::test::any_rank(mine);
        if (any && !mine && environment().rank == 0)
            std::printf("[ NOTE     ] %s.%s failed on another rank\n", test.test_suite_name(), test.name());
        failed = failed || any;
    }

public:
    bool failed = false;
};

/// Whether this is a variant that forces a GPU transport, or says what is seen of GPUs, on a machine without one: it
/// has nothing to run.
bool needs_missing_gpu() {
    if (environment().device >= 0) return false;
    if (std::getenv("BATON_TEST_ONE_GPU_VISIBLE") != nullptr) return true;
    const char *transport = std::getenv("BATON_TRANSPORT");
    if (transport == nullptr) return false;
    return std::strcmp(transport, "auto") != 0 && std::strcmp(transport, "host") != 0 && transport[0] != '\0';
}

/// Whether the arguments ask for GoogleTest's help: then it runs no test, whatever the filter.
bool asks_for_help(int argc, char **argv) {
    return std::any_of(argv, argv + argc, [](const char *argument) {
        return std::strcmp(argument, "--gtest_help") == 0 || std::strcmp(argument, "--help") == 0;
    });
}

void agree_on_seed() {
    std::uint64_t seed = baton::test::choose_seed();
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    environment().seed = seed;
}

}  // namespace

int main(int argc, char **argv) {
    // A rank that fails leaves its peers waiting: they must notice long before ctest loses patience.
    setenv("BATON_TIMEOUT", "25", 0);
    setenv("BATON_TUNING", "none", 0);  // not what the machine has been tuned to
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &environment().rank);
    MPI_Comm_size(MPI_COMM_WORLD, &environment().size);
    testing::InitGoogleTest(&argc, argv);
    baton::test::select_device();
    agree_on_seed();
    if (baton::test::any_rank(needs_missing_gpu())) {
        if (environment().rank == 0) std::printf("skipped: this needs a GPU, and there is none\n");
        MPI_Finalize();
        return skip_code;
    }
    testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
    if (environment().rank == 0)
        std::printf("%d ranks, %s, BATON_TEST_SEED=%llu\n", environment().size,
                    environment().device >= 0 ? "GPU" : "host memory",
                    static_cast<unsigned long long>(environment().seed));
    else
        delete listeners.Release(listeners.default_result_printer());
    if (environment().rank != 0) listeners.Append(new FailurePrinter);
    auto agreement = std::make_unique<Agreement>();
    const Agreement &result = *agreement;
    listeners.Append(agreement.release());

    std::optional<baton::test::Arena> arena;
    if (std::getenv("BATON_TEST_ARENA") != nullptr && environment().device >= 0) arena.emplace();
    bool local_failure = RUN_ALL_TESTS() != 0;
    if (testing::UnitTest::GetInstance()->test_to_run_count() == 0 && !asks_for_help(argc, argv)) {
        if (environment().rank == 0) std::printf("failed: the filter matches no test\n");
        local_failure = true;
    }
    arena.reset();
    const bool arena_failed = testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed();
    const bool failed = baton::test::any_rank(local_failure || arena_failed) || result.failed;
    MPI_Finalize();
    return failed ? 1 : 0;
}
