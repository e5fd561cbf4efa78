// The settings of a communicator: its fields, their variables, the defaults that docs/environment.md promises.
#include "comm/config.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/set_variable.hpp"

namespace baton::core {
namespace {

constexpr const char *variables[] = {
    "BATON_TRANSPORT", "BATON_TIMEOUT", "BATON_MAX_CHANNELS", "BATON_PACKET_LIMIT", "BATON_COPY_ENGINE_LIMIT",
    "BATON_SEGMENT",   "BATON_P2P",     "BATON_LINES",        "BATON_TUNING",       "BATON_TOPOLOGY"};

class Config : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char *name : variables) unsetenv(name);
    }
    void TearDown() override { SetUp(); }
};

TEST_F(Config, HasTheDefaultsOfTheDocuments) {
    const baton_config config = resolve_config(nullptr);
    EXPECT_EQ(config.transport, BATON_TRANSPORT_AUTO);
    EXPECT_EQ(config.timeout_seconds, 60.0);
    EXPECT_EQ(timeout_of(config), std::chrono::seconds(60));
    EXPECT_EQ(config.max_channels, 64);
    EXPECT_EQ(config.packet_limit, unset_size);
    EXPECT_EQ(config.copy_engine_limit, unset_size);
    EXPECT_EQ(config.segment_bytes, 1048576U);
    EXPECT_EQ(config.p2p, BATON_P2P_AUTO);
    EXPECT_EQ(config.lines, BATON_LINES_AUTO);
    EXPECT_EQ(config.tuning, nullptr);
    EXPECT_EQ(config.topology, nullptr);
}

TEST_F(Config, TakesVariablesForFieldsThatAreUnset) {
    constexpr const char *values[] = {"kernel", "2.5", "7", "4K", "8M", "64K", "off", "off", "none", "/a/file"};
    for (std::size_t at = 0; at < std::size(variables); ++at) setenv(variables[at], values[at], 1);
    const baton_config config = resolve_config(nullptr);
    EXPECT_EQ(config.transport, BATON_TRANSPORT_KERNEL);
    EXPECT_EQ(config.timeout_seconds, 2.5);
    EXPECT_EQ(config.max_channels, 7);
    EXPECT_EQ(config.packet_limit, 4096U);
    EXPECT_EQ(config.copy_engine_limit, 8388608U);
    EXPECT_EQ(config.segment_bytes, 65536U);
    EXPECT_EQ(config.p2p, BATON_P2P_OFF);
    EXPECT_EQ(config.lines, BATON_LINES_OFF);
    EXPECT_STREQ(config.tuning, "none");
    EXPECT_STREQ(config.topology, "/a/file");
}

TEST_F(Config, PrefersFieldsToVariables) {
    setenv("BATON_TIMEOUT", "2.5", 1);
    setenv("BATON_P2P", "off", 1);
    baton_config given = unset_config();
    given.timeout_seconds = 3.5;
    given.p2p = BATON_P2P_AUTO;
    const baton_config config = resolve_config(&given);
    EXPECT_EQ(config.timeout_seconds, 3.5);
    EXPECT_EQ(config.p2p, BATON_P2P_AUTO);
}

TEST_F(Config, KnowsItsVariables) {
    for (const char *name : variables) EXPECT_TRUE(is_known_variable(name)) << name;
    for (const char *name : {"BATON_LOG", "BATON_NCCL_LIBRARY", "BATON_TEST_SEED"})
        EXPECT_TRUE(is_known_variable(name)) << name;
    for (const char *name : {"BATON_TRANSPROT", "BATON_TIMEOUTS", "BATON_", "BATON", "PATH"})
        EXPECT_FALSE(is_known_variable(name)) << name;
}

TEST_F(Config, FindsUnknownVariablesThatAreSet) {
    const char *const environment[] = {"PATH=/bin",      "BATON_TRANSPROT=host", "BATON_EMPTY=",      "BATON_NO_SIGN",
                                       "BATON_LOG=info", "BATON_TEST_SEED=1",    "BATON_LIMITS=a=b=", nullptr};
    EXPECT_EQ(unknown_variables(environment), (std::vector<std::string_view>{"BATON_TRANSPROT", "BATON_LIMITS"}));
    EXPECT_TRUE(unknown_variables(nullptr).empty());
}

}  // namespace
}  // namespace baton::core
