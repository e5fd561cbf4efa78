#include "comm/planned_call.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "sync/arena.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
constexpr std::uint64_t segment_bytes = 4096;

/// Whether step numbers suffice for an operation of `bytes` on 4 ranks, by `algorithm` or else along their ring.
bool is_numbered(baton_operation operation, baton_type type, std::uint64_t bytes,
                 std::optional<Algorithm> algorithm = {}) {
    Request request;
    request.operation = operation;
    request.type = type;
    request.bytes = bytes;
    Plan plan;
    plan.algorithm = algorithm.value_or(reduces(operation) ? Algorithm::chain : Algorithm::ring);
    const PlannedCall call(request, plan, 0, 4);
    return call.most_steps(segment_bytes) < std::uint64_t{1} << step_bits;
}

/// Where peers cannot reach the buffer that copy engines would push to, kernels read instead.
TEST(PlannedCall, RecvOfAPushedReduceScatterIsNotStaged) {
    for (const baton_operation operation : {BATON_REDUCE_SCATTER, BATON_ALLREDUCE, BATON_ALLGATHER}) {
        Request request;
        request.operation = operation;
        Plan plan;
        plan.algorithm = Algorithm::push;
        plan.mover = Mover::copy_engine;
        const PlannedCall call(request, plan, 1, 2);
        EXPECT_TRUE(call.peers_touch_recv()) << baton_operation_name(operation);
        EXPECT_EQ(call.stages_recv(), operation != BATON_REDUCE_SCATTER) << baton_operation_name(operation);
    }
}

/// Along a route segments hold accumulators, wider than fp16, bf16 and fp8. 2^24 segments of 4 KiB are 64 GiB.
TEST(PlannedCall, StepsAlongARouteAreThoseOfItsAccumulators) {
    const struct {
        baton_type type;
        std::uint64_t gibibytes;  // of elements whose accumulators take 64 GiB
    } rows[] = {{BATON_INT8, 64},    {BATON_INT16, 64},    {BATON_FLOAT32, 64},     {BATON_FLOAT64, 64},
                {BATON_FLOAT16, 32}, {BATON_BFLOAT16, 32}, {BATON_FLOAT8_E4M3, 16}, {BATON_FLOAT8_E5M2, 16}};
    for (const auto &row : rows) {
        SCOPED_TRACE(baton_type_name(row.type));
        EXPECT_TRUE(is_numbered(BATON_ALLREDUCE, row.type, (row.gibibytes - 1) * gibibyte));
        EXPECT_FALSE(is_numbered(BATON_ALLREDUCE, row.type, (row.gibibytes + 1) * gibibyte));
        // The steps of its four blocks are counted together.
        EXPECT_TRUE(is_numbered(BATON_REDUCE_SCATTER, row.type, (row.gibibytes - 1) * gibibyte / 4));
        EXPECT_FALSE(is_numbered(BATON_REDUCE_SCATTER, row.type, (row.gibibytes + 1) * gibibyte / 4));
        EXPECT_TRUE(is_numbered(BATON_ALLGATHER, row.type, 1024 * gibibyte)) << "which has a step for each rank";
    }
}

TEST(PlannedCall, StepsOfAPipelineAreItsSegments) {
    EXPECT_TRUE(is_numbered(BATON_BROADCAST, BATON_INT8, 1023 * gibibyte, Algorithm::pipeline));
    EXPECT_FALSE(is_numbered(BATON_BROADCAST, BATON_INT8, 1025 * gibibyte, Algorithm::pipeline));
    // 2^24 runs of 16 lines of 120 bytes, by one channel.
    EXPECT_TRUE(is_numbered(BATON_BROADCAST, BATON_INT8, 29 * gibibyte, Algorithm::pipeline_line));
    EXPECT_FALSE(is_numbered(BATON_BROADCAST, BATON_INT8, 31 * gibibyte, Algorithm::pipeline_line));
}

/// An early part, which may be none, is a step of its own before the segments.
TEST(PlannedCall, StepsThroughStagingAreTheSegmentsAndAnEarlyPart) {
    const std::uint64_t most = (1 << step_bits) - 1;
    EXPECT_TRUE(is_numbered(BATON_BROADCAST, BATON_INT8, (most - 2) * segment_bytes, Algorithm::staged));
    EXPECT_FALSE(is_numbered(BATON_BROADCAST, BATON_INT8, most * segment_bytes, Algorithm::staged));
    // Two steps for each segment of a quarter.
    EXPECT_TRUE(is_numbered(BATON_ALLREDUCE, BATON_INT8, (most / 2 - 3) * 4 * segment_bytes, Algorithm::staged));
    EXPECT_FALSE(is_numbered(BATON_ALLREDUCE, BATON_INT8, most / 2 * 4 * segment_bytes, Algorithm::staged));
}

}  // namespace
}  // namespace baton::core
