// The caller's mistakes with queries, settings, and what comes from MPI.
#include <cmath>
#include <cstring>

#include "support/fixture.hpp"
#include "support/set_variable.hpp"

namespace baton::test {
namespace {

#define EXPECT_REFUSED(call, ...) EXPECT_ERROR(BATON_ERR_ARGUMENT, call, __VA_ARGS__)

class BadSettings : public CommTest {
protected:
    void TearDown() override {
        expect_works(comm());
        CommTest::TearDown();
    }
};

TEST_F(BadSettings, Queries) {
    EXPECT_REFUSED(baton_comm_rank(comm(), nullptr), "rank");
    EXPECT_REFUSED(baton_comm_size(comm(), nullptr), "size");
    EXPECT_REFUSED(baton_comm_info(comm(), nullptr), "info");
    baton_info info{};
    EXPECT_REFUSED(baton_comm_info(comm(), &info), "struct_size", "0");
    info.struct_size = sizeof(info) - 1;
    EXPECT_REFUSED(baton_comm_info(comm(), &info), "struct_size");
    std::memset(&info, 0xCC, sizeof(info));  // what the stack may hold if the caller forgets
    EXPECT_REFUSED(baton_comm_info(comm(), &info), "struct_size");
    char text[100];
    EXPECT_REFUSED(baton_explain(comm(), BATON_ALLREDUCE, 1, BATON_INT8, BATON_SUM, nullptr, nullptr, nullptr, 100),
                   "text is NULL");
    EXPECT_REFUSED(baton_explain(comm(), BATON_ALLREDUCE, 1, BATON_INT8, BATON_SUM, nullptr, nullptr, text, 0),
                   "size is 0");
    EXPECT_REFUSED(baton_explain(comm(), static_cast<baton_operation>(15), 1, BATON_INT8, BATON_SUM, nullptr, nullptr,
                                 text, sizeof(text)),
                   "operation", "15");
    EXPECT_REFUSED(
        baton_explain(comm(), BATON_ALLREDUCE, 1, BATON_INT8, BATON_AVG, nullptr, nullptr, text, sizeof(text)), "op",
        "avg");
}

/// Settings out of range, the same on all ranks: create refuses on all of them.
TEST_F(BadSettings, Settings) {
    const auto refuse = [](auto change, const char *field) {
        baton_config config = default_config();
        change(config);
        baton_comm_t created = nullptr;
        EXPECT_REFUSED(baton_comm_create(MPI_COMM_WORLD, &config, &created), field);
    };
    refuse([](baton_config &c) { c.struct_size = 0; }, "struct_size");
    refuse([](baton_config &c) { c.struct_size = 1 << 20; }, "struct_size");
    refuse([](baton_config &c) { c.struct_size = sizeof(c) - 1; }, "struct_size");
    struct {
        baton_config known;
        std::uint64_t later;
    } newer;
    EXPECT_REFUSED(baton_config_init_sized(&newer.known, sizeof(baton_config) - 1), "size", "expected");
    EXPECT_OK(baton_config_init_sized(&newer.known, sizeof(newer)));
    baton_comm_t created = nullptr;
    EXPECT_OK(baton_comm_create(MPI_COMM_WORLD, &newer.known, &created));
    EXPECT_OK(baton_comm_destroy(created));
    newer.later = 1;
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_comm_create(MPI_COMM_WORLD, &newer.known, &created), "is set");
    refuse([](baton_config &c) { c.transport = 17; }, "transport");
    refuse([](baton_config &c) { c.timeout_seconds = std::nan(""); }, "timeout_seconds");
    refuse([](baton_config &c) { c.max_channels = 65; }, "max_channels");
    refuse([](baton_config &c) { c.max_channels = -3; }, "max_channels");
    refuse([](baton_config &c) { c.p2p = 2; }, "p2p");
    refuse([](baton_config &c) { c.tuning = "{\"version\": 1, \"tables\": 3}"; }, "tables");
    refuse([](baton_config &c) { c.tuning = "{bad"; }, "tuning table given as text: parse error at line 1");
    EXPECT_REFUSED(baton_config_init(nullptr), "config");
}

/// The same through the environment: the message names the variable.
TEST_F(BadSettings, EnvironmentVariables) {
    const auto refuse = [](const char *variable, const char *value, const char *why) {
        const SetVariable set(variable, value);
        baton_comm_t created = nullptr;
        EXPECT_REFUSED(baton_comm_create(MPI_COMM_WORLD, nullptr, &created), variable, value, why);
    };
    refuse("BATON_TRANSPORT", "pigeon", "auto, host");
    refuse("BATON_P2P", "on", "auto, off");
    refuse("BATON_TIMEOUT", "soon", "seconds");
    refuse("BATON_TIMEOUT", "1e300", "seconds");
    refuse("BATON_TIMEOUT", "0x10", "seconds");
    refuse("BATON_TIMEOUT", "0,5", "seconds");  // whatever the locale
    refuse("BATON_TIMEOUT", " 5", "seconds");
    refuse("BATON_MAX_CHANNELS", "1000", "1..64");
    refuse("BATON_PACKET_LIMIT", "12x", "64K");
    refuse("BATON_PACKET_LIMIT", " -5", "64K");
    refuse("BATON_PACKET_LIMIT", "64KX", "64K");
    refuse("BATON_LINES", "yes", "auto, off");
    refuse("BATON_COPY_ENGINE_LIMIT", "99999999999999999999", "must lie in");
    refuse("BATON_COPY_ENGINE_LIMIT", "17179869185G", "must lie in");
    refuse("BATON_SEGMENT", "-5", "64K");
    refuse("BATON_SEGMENT", "2G", "4096..1073741824");
    refuse("BATON_TUNING", "/nowhere/tuning.json", "cannot be read");
    refuse("BATON_TOPOLOGY", "/nowhere/override.json", "");
}

TEST_F(BadSettings, AnEmptyTextLeavesTheVariableItsWord) {
    baton_config config = default_config();
    config.tuning = "";
    config.topology = "";
    for (const char *variable : {"BATON_TUNING", "BATON_TOPOLOGY"}) {
        const SetVariable set(variable, "/nowhere/file.json");
        baton_comm_t created = nullptr;
        EXPECT_REFUSED(baton_comm_create(MPI_COMM_WORLD, &config, &created), "/nowhere/file.json");
    }
}

TEST_F(BadSettings, TransportsThatNeedGpus) {
    for (const char *transport : {"kernel", "copy_engine", "zero_sm"}) {
        const SetVariable set("BATON_TRANSPORT", transport);
        baton_comm_t created = nullptr;
        const baton_result result = baton_comm_create(MPI_COMM_WORLD, nullptr, &created);
        const std::string message = baton_last_error();
        if (result == BATON_SUCCESS) {
            ASSERT_OK(baton_comm_destroy(created));
            GTEST_SKIP() << "there are GPUs";
        }
        EXPECT_STREQ("BATON_ERR_UNSUPPORTED", baton_result_name(result)) << message;
        EXPECT_NE(message.find(std::string("BATON_TRANSPORT) is ") + transport + ","), std::string::npos) << message;
    }
}

TEST_F(BadSettings, MpiCommunicators) {
    baton_comm_t created = nullptr;
    EXPECT_REFUSED(baton_comm_create(MPI_COMM_NULL, nullptr, &created), "mpi_comm");
    EXPECT_REFUSED(baton_comm_create(MPI_COMM_WORLD, nullptr, nullptr), "comm");
    // The others do not wait for that rank until they time out.
    EXPECT_REFUSED(baton_comm_create(MPI_COMM_WORLD, nullptr, rank() == size() - 1 ? nullptr : &created), "comm");
    if (size() < 2) return;
    const MpiComm half = MpiComm::split(MPI_COMM_WORLD, rank() % 2, rank());
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank() % 2 == 0 ? 1 : 0, 3, &both);
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_comm_create(both, nullptr, &created), "mpi_comm");
    MPI_Comm_free(&both);
}

TEST_F(BadSettings, MpiTypesAndOperations) {
    const std::pair<MPI_Datatype, baton_type> types[] = {
        {MPI_INT8_T, BATON_INT8},
        {MPI_UINT8_T, BATON_UINT8},
        {MPI_SHORT, BATON_INT16},
        {MPI_UINT16_T, BATON_UINT16},
        {MPI_INT, BATON_INT32},
        {MPI_UNSIGNED, BATON_UINT32},
        {MPI_LONG, BATON_INT64},
        {MPI_LONG_LONG, BATON_INT64},
        {MPI_UINT64_T, BATON_UINT64},
        {MPI_FLOAT, BATON_FLOAT32},
        {MPI_DOUBLE, BATON_FLOAT64},
        {MPI_SIGNED_CHAR, BATON_INT8},
        {MPI_BYTE, BATON_UINT8},
        {MPI_UNSIGNED_CHAR, BATON_UINT8},
        {MPI_CHAR, std::numeric_limits<char>::is_signed ? BATON_INT8 : BATON_UINT8},
        {MPI_UNSIGNED_SHORT, BATON_UINT16},
        {MPI_UNSIGNED_LONG, BATON_UINT64},
        {MPI_UNSIGNED_LONG_LONG, BATON_UINT64},
        {MPI_INT16_T, BATON_INT16},
        {MPI_INT32_T, BATON_INT32},
        {MPI_UINT32_T, BATON_UINT32},
        {MPI_INT64_T, BATON_INT64},
        {MPI_AINT, BATON_INT64},
        {MPI_COUNT, BATON_INT64},
        {MPI_OFFSET, BATON_INT64},
        {MPI_INTEGER, BATON_INT32},
        {MPI_INTEGER1, BATON_INT8},
        {MPI_INTEGER2, BATON_INT16},
        {MPI_INTEGER4, BATON_INT32},
        {MPI_INTEGER8, BATON_INT64},
        {MPI_REAL, BATON_FLOAT32},
        {MPI_REAL4, BATON_FLOAT32},
        {MPI_REAL8, BATON_FLOAT64},
        {MPI_DOUBLE_PRECISION, BATON_FLOAT64}};
    for (const auto &[mpi, expected] : types) {
        int bytes = 0;
        MPI_Type_size(mpi, &bytes);
        if (bytes == 0) continue;  // the MPI has no Fortran
        baton_type type = BATON_TYPE_COUNT;
        EXPECT_OK(baton_type_from_mpi(mpi, &type));
        EXPECT_STREQ(baton_type_name(expected), baton_type_name(type));
    }
    const std::pair<MPI_Op, baton_op> ops[] = {
        {MPI_SUM, BATON_SUM}, {MPI_PROD, BATON_PROD}, {MPI_MIN, BATON_MIN}, {MPI_MAX, BATON_MAX}};
    for (const auto &[mpi, expected] : ops) {
        baton_op op = BATON_OP_COUNT;
        EXPECT_OK(baton_op_from_mpi(mpi, &op));
        EXPECT_STREQ(baton_op_name(expected), baton_op_name(op));
    }
    baton_type type = BATON_TYPE_COUNT;
    baton_op op = BATON_OP_COUNT;
    for (MPI_Datatype none : {MPI_DOUBLE_INT, MPI_C_BOOL, MPI_LOGICAL, MPI_LONG_DOUBLE, MPI_COMPLEX, MPI_DATATYPE_NULL})
        EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_type_from_mpi(none, &type), "datatype");
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_op_from_mpi(MPI_BAND, &op));
    EXPECT_REFUSED(baton_type_from_mpi(MPI_INT, nullptr), "type");
    EXPECT_REFUSED(baton_op_from_mpi(MPI_SUM, nullptr), "op");
}

}  // namespace
}  // namespace baton::test
