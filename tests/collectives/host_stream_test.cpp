#include "transport/host/host_stream.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace baton::core {
namespace {

/// Many rounds, because it is chance whether its thread or its destructor comes first.
TEST(HostStream, ItsEndWaitsForAllThatIsQueued) {
    for (int round = 0; round < 200; ++round) {
        int ran = 0;
        {
            HostStream stream;
            for (int i = 0; i < 50; ++i) stream.enqueue([&] { ++ran; });
        }
        ASSERT_EQ(ran, 50) << "round " << round;
    }
}

TEST(HostStream, SynchronizeThrowsTheFirstErrorOnce) {
    HostStream stream;
    stream.enqueue([] { throw std::runtime_error("first"); });
    stream.enqueue([] { throw std::runtime_error("second"); });
    try {
        stream.synchronize();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_NO_THROW(stream.synchronize());
    stream.enqueue([] { throw std::runtime_error("third"); });
    EXPECT_THROW(stream.synchronize(), std::runtime_error);
}

}  // namespace
}  // namespace baton::core
