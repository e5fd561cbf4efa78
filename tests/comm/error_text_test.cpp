#include "comm/error_text.hpp"

#include <gmock/gmock.h>

namespace baton::core {
namespace {

using ::testing::HasSubstr;

std::string text_of_record(baton_result code) {
    ErrorRecord record{};
    record.code = static_cast<std::uint64_t>(code);
    record.point.peer = 1;
    record.point.epoch = 7;
    record.point.mine = Signature::make(BATON_RECV, BATON_INT32, BATON_SUM, 100);
    const Failure failure = failure_of(record, 3, std::chrono::seconds(2));
    EXPECT_EQ(failure.code(), code);
    return failure.what();
}

/// The system does not say whose buffer is at fault, so neither may Baton.
TEST(ErrorText, OfACopyNamesBothRanks) {
    EXPECT_THAT(text_of_record(BATON_ERR_SYSTEM),
                HasSubstr("rank 3 could not copy between its buffer and that of rank 1"));
}

TEST(ErrorText, OfMemoryNamesTheRankThatHadNone) {
    EXPECT_THAT(text_of_record(BATON_ERR_MEMORY), ::testing::StartsWith("rank 3 ran out of host memory"));
}

TEST(ErrorText, OfATimeoutNamesWhoIsMissingAndWhatHelps) {
    const std::string text = text_of_record(BATON_ERR_TIMEOUT);
    for (const char *part : {"rank 3 waited 2 s for rank 1 in recv", "(message 7, channel 0)", "BATON_TIMEOUT"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(ErrorText, OfWhoHasSeenAllArriveBlamesTheOthers) {
    ErrorRecord record{};
    record.code = BATON_ERR_TIMEOUT;
    record.point.peer = 3;
    record.point.mine = Signature::make(BATON_ALLGATHER, BATON_INT32, BATON_SUM, 100);
    const auto text = [&] { return std::string(failure_of(record, 3, std::chrono::seconds(2)).what()); };
    EXPECT_THAT(text(), HasSubstr("rank 3 waited 2 s for one of the others in allgather"));
    record.point.mine = Signature::make(BATON_WAIT_SIGNAL, BATON_UINT8, BATON_SUM, 1);  // one may signal oneself
    EXPECT_THAT(text(), HasSubstr("rank 3 waited 2 s for rank 3 in wait_signal"));
}

}  // namespace
}  // namespace baton::core
