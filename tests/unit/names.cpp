// What the API says about its own constants, and what it answers when nothing has been set up at all.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <string>

#include "baton/baton.h"

namespace {

TEST(Names, VersionIsTheHeaders) {
    EXPECT_EQ(baton_version(), BATON_VERSION_MAJOR * 10000 + BATON_VERSION_MINOR * 100 + BATON_VERSION_PATCH);
}

TEST(Names, OfResults) {
    const char *expected[] = {"BATON_SUCCESS",      "BATON_ERR_ARGUMENT", "BATON_ERR_UNSUPPORTED",
                              "BATON_ERR_MISMATCH", "BATON_ERR_TIMEOUT",  "BATON_ERR_PEER_DEAD",
                              "BATON_ERR_ABORTED",  "BATON_ERR_SYSTEM",   "BATON_ERR_CUDA",
                              "BATON_ERR_MPI",      "BATON_ERR_MEMORY",   "BATON_ERR_INTERNAL"};
    for (int i = 0; i < 12; ++i) EXPECT_STREQ(baton_result_name(static_cast<baton_result>(i)), expected[i]);
    ASSERT_NE(baton_result_name(static_cast<baton_result>(15)), nullptr);
}

TEST(Names, AndSizesOfTypes) {
    const struct {
        baton_type type;
        const char *name;
        std::size_t size;
    } expected[] = {{BATON_INT8, "int8", 1},
                    {BATON_UINT8, "uint8", 1},
                    {BATON_INT16, "int16", 2},
                    {BATON_UINT16, "uint16", 2},
                    {BATON_INT32, "int32", 4},
                    {BATON_UINT32, "uint32", 4},
                    {BATON_INT64, "int64", 8},
                    {BATON_UINT64, "uint64", 8},
                    {BATON_FLOAT16, "float16", 2},
                    {BATON_BFLOAT16, "bfloat16", 2},
                    {BATON_FLOAT32, "float32", 4},
                    {BATON_FLOAT64, "float64", 8},
                    {BATON_FLOAT8_E4M3, "float8_e4m3", 1},
                    {BATON_FLOAT8_E5M2, "float8_e5m2", 1}};
    static_assert(std::size(expected) == BATON_TYPE_COUNT);
    for (const auto &e : expected) {
        EXPECT_STREQ(baton_type_name(e.type), e.name);
        EXPECT_EQ(baton_type_size(e.type), e.size) << e.name;
    }
    for (int unknown : {static_cast<int>(BATON_TYPE_COUNT), 15}) {
        EXPECT_STREQ(baton_type_name(static_cast<baton_type>(unknown)), "unknown");
        EXPECT_EQ(baton_type_size(static_cast<baton_type>(unknown)), 0u);
    }
}

TEST(Names, OfReductions) {
    const char *expected[] = {"sum", "prod", "min", "max", "avg"};
    for (int i = 0; i < BATON_OP_COUNT; ++i) EXPECT_STREQ(baton_op_name(static_cast<baton_op>(i)), expected[i]);
    EXPECT_STREQ(baton_op_name(BATON_OP_COUNT), "unknown");
}

TEST(Names, OfOperations) {
    const char *expected[BATON_OPERATION_COUNT] = {"allgather", "reduce_scatter", "allreduce", "send",
                                                   "recv",      "barrier",        "put",       "get",
                                                   "signal",    "wait_signal",    "alltoall",  "broadcast"};
    for (int i = 0; i < BATON_OPERATION_COUNT; ++i)
        EXPECT_STREQ(baton_operation_name(static_cast<baton_operation>(i)), expected[i]);
    EXPECT_STREQ(baton_operation_name(BATON_OPERATION_COUNT), "unknown");
}

TEST(Config, StartsUnset) {
    baton_config config;
    std::memset(&config, 0x55, sizeof(config));
    ASSERT_EQ(baton_config_init(&config), BATON_SUCCESS);
    EXPECT_EQ(config.struct_size, sizeof(config));
    EXPECT_EQ(config.transport, -1);
    EXPECT_LT(config.timeout_seconds, 0);
    EXPECT_EQ(config.max_channels, 0);
    EXPECT_EQ(config.packet_limit, SIZE_MAX);
    EXPECT_EQ(config.copy_engine_limit, SIZE_MAX);
    EXPECT_EQ(config.segment_bytes, 0u);
    EXPECT_EQ(config.p2p, -1);
    EXPECT_EQ(config.lines, -1);
    EXPECT_EQ(config.tuning, nullptr);
}

TEST(WithoutMpi, EveryCallAnswersWithAnError) {
    EXPECT_STREQ(baton_last_error(), "");
    baton_comm_t comm = nullptr;
    EXPECT_EQ(baton_comm_create(MPI_COMM_WORLD, nullptr, &comm), BATON_ERR_ARGUMENT);
    EXPECT_NE(std::string(baton_last_error()).find("MPI_Init"), std::string::npos) << baton_last_error();
    baton_type type = BATON_TYPE_COUNT;
    EXPECT_EQ(baton_type_from_mpi(MPI_INTEGER, &type), BATON_ERR_ARGUMENT);
    EXPECT_EQ(baton_type_from_mpi(MPI_INT, &type), BATON_SUCCESS);
    int value = 0;
    EXPECT_EQ(baton_allreduce(&value, &value, 1, BATON_INT32, BATON_SUM, nullptr, nullptr), BATON_ERR_ARGUMENT);
    EXPECT_EQ(baton_comm_destroy(nullptr), BATON_ERR_ARGUMENT);
}

/// What a call that needs nothing returns in a forked child.
baton_result result_in_a_child() {
    const pid_t child = fork();
    if (child == 0) {
        baton_config config;
        _exit(baton_config_init(&config));
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return static_cast<baton_result>(WEXITSTATUS(status));
}

/// Launchers may ask Baton something before they fork the ranks' processes. Must run before all tests of streams.
TEST(WithoutMpi, AForkedChildInheritsThreadsOrIsFree) {
    baton_config config;
    ASSERT_EQ(baton_config_init(&config), BATON_SUCCESS);
    EXPECT_EQ(result_in_a_child(), BATON_SUCCESS);
    baton_host_stream_t stream = nullptr;
    ASSERT_EQ(baton_host_stream_create(&stream), BATON_SUCCESS);
    EXPECT_EQ(result_in_a_child(), BATON_ERR_ARGUMENT);
    EXPECT_EQ(baton_host_stream_destroy(stream), BATON_SUCCESS);
    EXPECT_EQ(result_in_a_child(), BATON_ERR_ARGUMENT);
}

TEST(HostStreams, NeedNoCommunicator) {
    for (int i = 0; i < 20; ++i) {
        baton_host_stream_t stream = nullptr;
        ASSERT_EQ(baton_host_stream_create(&stream), BATON_SUCCESS);
        EXPECT_EQ(baton_host_stream_synchronize(stream), BATON_SUCCESS);
        EXPECT_EQ(baton_host_stream_destroy(stream), BATON_SUCCESS);
    }
}

/// A program of a newer header with an older library.
TEST(Config, OfANewerHeaderIsUnsetBehindWhatIsKnown) {
    struct Newer {
        baton_config known;
        std::uint64_t later;
    } newer;
    newer.later = 1;
    ASSERT_EQ(baton_config_init_sized(&newer.known, sizeof(newer)), BATON_SUCCESS);
    EXPECT_EQ(newer.known.struct_size, sizeof(newer));
    EXPECT_EQ(newer.later, 0U);
}

}  // namespace
