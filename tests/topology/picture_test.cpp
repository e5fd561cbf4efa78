#include "topology/tool/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/picture_checks.hpp"
#include "topology/override.hpp"
#include "topology/readers.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/svg.hpp"

namespace baton::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Picture, IsTheSameWheneverItIsDrawn) {
    const Machine machine = make_machine("", read_machine_file(BATON_MACHINES "/dgx-1v.xml"));
    EXPECT_EQ(draw_picture(machine), draw_picture(machine));
}

Snapshot strange_names() {
    Snapshot snapshot;
    snapshot.gpus.resize(2);
    snapshot.gpus[0].name = "a<b>&\"\x1b[31m\t";
    snapshot.pairs.resize(4);
    snapshot.gaps = {"a note with <tags>"};
    return snapshot;
}

TEST(Picture, QuotesWhatNamesContain) {
    const std::string picture = draw_picture(make_machine("", strange_names()));
    EXPECT_THAT(picture, HasSubstr("a&lt;b&gt;&amp;&quot;"));
    EXPECT_THAT(picture, HasSubstr("a note with &lt;tags&gt;"));
    EXPECT_THAT(picture, Not(HasSubstr("\x1b")));
}

TEST(Picture, KnowsAMachineOfWhichNothingIsKnown) {
    EXPECT_THAT(draw_picture(make_machine("", {})), HasSubstr("no GPU"));
    EXPECT_THAT(draw_picture(make_machine("", strange_names())), HasSubstr("NUMA node unknown"));
}

TEST(Picture, ShowsTheRanksOfAGpu) {
    const Machine machine = make_machine("", read_machine_file(BATON_MACHINES "/a100-nvlink-bridges.xml"), {1, 1, 3});
    const std::string picture = draw_picture(machine);
    EXPECT_THAT(picture, HasSubstr(">rank 0, 1<"));
    EXPECT_THAT(picture, HasSubstr(">rank 2<"));
}

TEST(Picture, ExplainsWhatOverridesMake) {
    const Snapshot board = read_machine_file(BATON_MACHINES "/hgx-h200-visible-switches.xml");
    for (const char *said : {R"({"p2p": "off"})", R"({"pairs": [{"gpus": ["0", "1"], "kind": "C2C", "gbps": 200}]})",
                             R"({"pairs": [{"gpus": ["0", "1"], "kind": "NONE"}, {"gpus": ["2", "3"], "links": 2}]})",
                             R"({"dead_links": [{"gpu": "0", "links": [0, 1]}]})"})
        checks::expect_legend_of(draw_picture(make_machine("", apply_override(read_override(said, "o.json"), board))));
}

TEST(Svg, WrapsAndShortens) {
    const svg::Font font{10};
    EXPECT_THAT(svg::wrapped("one two three", svg::text_width("one two", font), font), ElementsAre("one two", "three"));
    EXPECT_THAT(svg::wrapped("", 100, font), ElementsAre());
    EXPECT_EQ(svg::shortened("fits", svg::text_width("fits", font), font), "fits");
    EXPECT_EQ(svg::shortened("does not fit", svg::text_width("does no", font), font), "does n…");
    EXPECT_EQ(svg::shortened("äöü", svg::text_width("äö", font), font), "ä…");  // whole characters only
}

TEST(Svg, WritesNumbersShort) {
    svg::Drawing drawing;
    drawing.line({{0, -0.04}, {1.25, -0.5}, {3, 4}}, {"red", 2});
    const std::string text = drawing.document(10, 10.5, "a & b", "white");
    EXPECT_THAT(text, HasSubstr("M0 0L"));
    EXPECT_THAT(text, HasSubstr("Q1.3 -0.5 "));
    EXPECT_THAT(text, HasSubstr("height=\"10.5\""));
    EXPECT_THAT(text, HasSubstr("<title>a &amp; b</title>"));
}

}  // namespace
}  // namespace baton::topology
