#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>

#include "baton/baton.h"

namespace baton::test {

/// What every test of the process shares. Set once by main, read-only afterwards.
struct Environment {
    int rank = 0;
    int size = 1;
    int device = -1;         ///< the CUDA device selected for this rank, -1 without one
    std::uint64_t seed = 0;  ///< the same on all ranks; BATON_TEST_SEED sets it
};

Environment &environment();

inline int world_rank() { return environment().rank; }
inline int world_size() { return environment().size; }

/// splitmix64: a good hash of its argument, so that any rank can compute any element of any other rank's data.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// A sequence that is the same on every rank that seeds it alike.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
    std::uint64_t next() { return mix(state_++); }
    /// 0 .. bound-1
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
    bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

private:
    std::uint64_t state_;
};

/// "BATON_ERR_X: the message" of a result, for GoogleTest's output.
std::string describe(baton_result result);

/// The predicate behind ASSERT_OK and EXPECT_OK.
::testing::AssertionResult succeeded(const char *expression, baton_result result);

/// Selects this rank's GPU, local rank modulo GPUs, unless there is none or BATON_TRANSPORT=host. If there must be one
/// (BATON_TEST_NEEDS_GPU) and there is none, ends the job with a message. Collective.
void select_device();

/// Makes the rank's device current in this thread; every new thread must call it. Does nothing without a GPU.
void use_device();

/// MPI_Barrier over all ranks, with a deadline. Ranks that have left the test through a failed ASSERT never come; then
/// the whole job ends with a message instead of hanging.
void barrier();

/// True when any rank says so. Collective over MPI_COMM_WORLD.
bool any_rank(bool mine);

}  // namespace baton::test

/// The call must return BATON_SUCCESS; a failure shows the library's message.
#define EXPECT_OK(call) EXPECT_PRED_FORMAT1(::baton::test::succeeded, call)
#define ASSERT_OK(call) ASSERT_PRED_FORMAT1(::baton::test::succeeded, call)

/// The call must return `code`; further words must all be in its message.
#define EXPECT_ERROR(code, call, ...)                                                                                  \
    do {                                                                                                               \
        const baton_result error_result = (call);                                                                      \
        EXPECT_STREQ(baton_result_name(code), baton_result_name(error_result)) << #call << '\n' << baton_last_error(); \
        for (const std::string &word : std::initializer_list<std::string>{__VA_ARGS__})                                \
            EXPECT_NE(std::string(baton_last_error()).find(word), std::string::npos)                                   \
                << #call << "\nthe message does not name \"" << word << "\": " << baton_last_error();                  \
    } while (false)
