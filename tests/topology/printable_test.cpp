#include "topology/printable.hpp"

#include <gtest/gtest.h>

#include "tests/topology/texts.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

TEST(Printable, KeepsText) {
    for (const char *text :
         {"", "NVIDIA H200 SXM \"141 GB\" <&>", "Grafik\xc3\xa4", "\xe2\x80\xa6", "\xf0\x9f\x9a\x80"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesControlCharacters) {
    EXPECT_EQ(printable("a\x1b[31m\tb\nc\x7f"), "a?[31m?b?c?");
    EXPECT_EQ(printable("a\nb\r", '\n'), "a\nb?");
    EXPECT_EQ(printable("\xc2\x80 \xc2\x9b \xc2\x9f \xc2\xa0"), "? ? ? \xc2\xa0");  // C1, and what follows it
    EXPECT_EQ(printable(std::string_view("\0", 1)), "?");
}

TEST(Printable, ReplacesWhatOnlyFormats) {
    for (const char *text : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8b", "\xe2\x80\xa8", "\xd8\x9c", "\xef\xbb\xbf",
                             "\xc2\xad", "\xf3\xa0\x81\x81", "\xef\xbf\xbf"})
        EXPECT_EQ(printable(text), "?");
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
    EXPECT_EQ(printable("a\x9b"
                        "b\xff"),
              "a?b?");
    EXPECT_EQ(printable("\xc3"), "?");
    EXPECT_EQ(printable("\xc0\xaf"), "??");            // an overlong '/'
    EXPECT_EQ(printable("\xe0\x80\x80"), "???");       // overlong too
    EXPECT_EQ(printable("\xed\xa0\x80"), "?");         // half a surrogate pair
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // above the last character
    EXPECT_EQ(printable("\xe2\x80x"), "??x");
}

TEST(Printable, AllReadersGivePrintableNames) {
    const std::string evil =
        "\xc2\x9b"
        "31m\xe2\x80\xae"
        "evil";
    const Snapshot hwloc = read_machine(texts::changed(texts::hwloc, "Tesla V100", evil), "x");
    EXPECT_EQ(hwloc.gpus[1].name, "?31m?evil");
    const Snapshot nccl = read_machine(texts::changed(texts::nccl, "mlx5_3", evil), "x");
    EXPECT_EQ(nccl.nics[0].name, "?31m?evil");
}

}  // namespace
}  // namespace baton::topology
