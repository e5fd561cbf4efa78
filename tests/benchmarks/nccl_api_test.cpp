// Finding NCCL at run time, and which modes a version of it has.
#include "peers/nccl_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "environment.hpp"
#include "peers/nccl_peer.hpp"
#include "support/set_variable.hpp"

namespace baton::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string failure_of(const std::string &library) {
    try {
        nccl::Api api(library);
    } catch (const Error &error) {
        return error.what();
    }
    return "none";
}

TEST(NcclApi, FindsTheLibraryAndItsVersion) {
    const nccl::Api api(BATON_FAKE_NCCL);
    EXPECT_EQ(api.version(), 22809);
    EXPECT_THAT(api.describe(), HasSubstr("2.28.9 ("));
    EXPECT_THAT(api.describe(), Not(HasSubstr("/"))) << "a path says nothing about the library";
}

TEST(NcclApi, LooksWhereTheEnvironmentSaysButTheOptionWins) {
    const test::SetVariable fake("BATON_NCCL_LIBRARY", BATON_FAKE_NCCL);
    EXPECT_EQ(failure_of(""), "none");
    EXPECT_THAT(failure_of("/nowhere/libnccl.so.2"), HasSubstr("/nowhere/libnccl.so.2"));
    const test::SetVariable elsewhere("BATON_NCCL_LIBRARY", "/elsewhere/libnccl.so.2");
    EXPECT_THAT(failure_of(""), HasSubstr("/elsewhere/libnccl.so.2"));
}

TEST(NcclApi, SaysWhatIsWrongWithALibrary) {
    EXPECT_THAT(failure_of("libm.so.6"), HasSubstr("libm.so.6 has no ncclGetVersion"));
    const test::SetVariable version("FAKE_NCCL_VERSION", "2804");  // 2.8.4, in the numbering of its time
    EXPECT_THAT(failure_of(BATON_FAKE_NCCL), HasSubstr("older than NCCL 2.10.0"));
}

TEST(NcclApi, MulticastIsOffUnlessSomebodyAskedForIt) {
    const test::SetVariable unset("NCCL_NVLS_ENABLE", {});
    EXPECT_EQ(failure_of(BATON_FAKE_NCCL), "none");
    EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "0");
    const test::SetVariable asked_for("NCCL_NVLS_ENABLE", "2");
    EXPECT_EQ(failure_of(BATON_FAKE_NCCL), "none");
    EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "2");
}

TEST(NcclModes, AppearWithTheirVersions) {
    const nccl::Api api(BATON_FAKE_NCCL);
    const auto lacks = [&](PeerKind mode, int version) { return nccl_lacks(mode, version, api.functions()); };
    EXPECT_EQ(lacks(PeerKind::nccl, 21000), "");
    EXPECT_THAT(lacks(PeerKind::nccl_registered, 21805), HasSubstr("NCCL 2.18.5 is older than 2.19.0"));
    EXPECT_EQ(lacks(PeerKind::nccl_registered, 21900), "");
    EXPECT_THAT(lacks(PeerKind::nccl_symmetric, 22606), HasSubstr("older than 2.27.0"));
    EXPECT_EQ(lacks(PeerKind::nccl_symmetric, 22700), "");
    EXPECT_THAT(lacks(PeerKind::nccl_zero_cta, 22707), HasSubstr("older than 2.28.0"));
    EXPECT_EQ(lacks(PeerKind::nccl_zero_cta, 22800), "");

    nccl::Functions fewer = api.functions();
    fewer.window_register = nullptr;
    EXPECT_THAT(nccl_lacks(PeerKind::nccl_symmetric, 22809, fewer), HasSubstr("lacks functions"));
    EXPECT_EQ(nccl_lacks(PeerKind::nccl_registered, 22809, fewer), "");
}

}  // namespace
}  // namespace baton::bench
