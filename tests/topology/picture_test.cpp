#include "topology/tool/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "tests/topology/picture_checks.hpp"
#include "topology/override.hpp"
#include "topology/readers.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/svg.hpp"

namespace baton::topology {
namespace {

using testing::AllOf;
using testing::Each;
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

/// Whether each line of the ring's circle is dashed.
std::vector<bool> dashed_edges(const std::string &picture) {
    const std::size_t ring = picture.find(">Ring</text>");
    std::istringstream lines(picture.substr(ring, picture.find("<circle", ring) - ring));
    std::vector<bool> dashed;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("<path")) dashed.push_back(line.find("dasharray") != std::string::npos);
    return dashed;
}

Machine overridden(const std::string &file, const std::string &said) {
    return make_machine("",
                        apply_override(read_override(said, "o.json"), read_machine_file(BATON_MACHINES "/" + file)));
}

TEST(Picture, DashesTheWorstEdgesOfTheRingOnly) {
    const std::string l40s = "l40s-pcie-dual-socket.xml";
    EXPECT_THAT(dashed_edges(draw_picture(overridden(l40s, "{}"))),
                ElementsAre(false, false, false, true, false, false, false, true));
    // 3-4 is of the same kind as 7-0, but 7-0 is slower. Nothing else leads across.
    const std::string faster =
        R"({"gbps": [[0, 31, 31, 31, 1, 1, 1, 5], [31, 0, 31, 31, 1, 1, 1, 1], [31, 31, 0, 31, 1, 1, 1, 1],
                     [31, 31, 31, 0, 20, 1, 1, 1], [1, 1, 1, 20, 0, 31, 31, 31], [1, 1, 1, 1, 31, 0, 31, 31],
                     [1, 1, 1, 1, 31, 31, 0, 31], [5, 1, 1, 1, 31, 31, 31, 0]]})";
    EXPECT_THAT(dashed_edges(draw_picture(overridden(l40s, faster))),
                ElementsAre(false, false, false, false, false, false, false, true));
    EXPECT_THAT(dashed_edges(draw_picture(overridden("h200-dead-link.json", "{}"))),
                ElementsAre(false, false, true, true, false, false, false, false));
    EXPECT_THAT(dashed_edges(draw_picture(overridden("dgx-1v.xml", "{}"))), Each(false));  // double links all around
}

TEST(Picture, HasNamesThatDifferAtTheirEnds) {
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/l40s-pcie-dual-socket.xml");
    snapshot.nics[0].name = "enp193s0f0np0";
    snapshot.nics[1].name = "enp193s0f1np1";
    snapshot.gpus[0].name = "NVIDIA V100-SXM3-32GB-H";
    const std::string picture = draw_picture(make_machine("", snapshot));
    for (const char *name : {">enp193s0f0np0<", ">enp193s0f1np1<", ">V100-SXM3-32GB-H<"})
        EXPECT_THAT(picture, HasSubstr(name));
    snapshot.nics[0].name = "a_name_without_an_end_and_without_a_meaning_0";
    snapshot.nics[1].name = "a_name_without_an_end_and_without_a_meaning_1";
    EXPECT_THAT(draw_picture(make_machine("", snapshot)), AllOf(HasSubstr("ning_0<"), HasSubstr("ning_1<")));
}

struct Line {
    svg::Point from, to;
};

std::vector<Line> edges_of_ring(const std::string &picture) {
    const std::size_t ring = picture.find(">Ring</text>");
    std::istringstream lines(picture.substr(ring, picture.find("<circle", ring) - ring));
    std::vector<Line> edges;
    for (std::string text; std::getline(lines, text);) {
        Line line;
        if (std::sscanf(text.c_str(), "<path d=\"M%lf %lfL%lf %lf\"", &line.from.x, &line.from.y, &line.to.x,
                        &line.to.y) == 4)
            edges.push_back(line);
    }
    return edges;
}

/// How far `point` lies to the right of the line, seen along it; negative on its left.
double right_of(const Line &line, const svg::Point &point) {
    const double x = line.to.x - line.from.x, y = line.to.y - line.from.y;
    return (x * (point.y - line.from.y) - y * (point.x - line.from.x)) / std::hypot(x, y);
}

TEST(Picture, HasTheRingsWordsBetweenItsLines) {
    for (const std::size_t ranks : {3, 4, 5, 8}) {
        const std::string said = R"({"pairs": [{"gpus": ["0", "1"], "gbps": 12.5}], "ranks": )" + std::to_string(ranks);
        const std::string picture = draw_picture(overridden("no-gpu.xml", said + "}"));
        const std::size_t words = picture.rfind("<text", picture.find(">at its worst<"));
        double x = 0, y = 0;
        ASSERT_EQ(std::sscanf(picture.c_str() + words, "<text x=\"%lf\" y=\"%lf\"", &x, &y), 2);
        const double half = svg::text_width("at its worst", {11}) / 2, up = 25, down = 3;
        const std::vector<Line> edges = edges_of_ring(picture);  // clockwise
        EXPECT_EQ(edges.size(), ranks);
        for (const Line &edge : edges)
            for (const svg::Point &corner : {svg::Point{x - half, y - up}, svg::Point{x + half, y - up},
                                             svg::Point{x - half, y + down}, svg::Point{x + half, y + down}})
                EXPECT_GT(right_of(edge, corner), 4) << ranks << " ranks";
    }
}

TEST(Picture, TellsTheLinksOfTheRingsWorstEdge) {
    const std::string two = R"({"ranks": 3, "links": [[0, 2, 2], [2, 0, 2], [2, 2, 0]]})";
    const std::string picture = draw_picture(overridden("no-gpu.xml", two));
    EXPECT_THAT(picture.substr(picture.find(">Ring<")), HasSubstr(">NV2<"));
    EXPECT_THAT(picture, Not(HasSubstr("NV?")));
}

/// Found with a damaged file.
TEST(Picture, HasGpusBelowWhatIsCalledAnNvswitch) {
    const Machine intact = overridden("hgx-h200-visible-switches.xml", "{}");
    std::string text = read_text_file(BATON_MACHINES "/hgx-h200-visible-switches.xml");
    const std::string target = "<nvlink target=\"0000:0a:00.0\"";
    text.replace(text.find(target), target.size(), "<nvlink target=\"0000:4a:00.0\"");
    const Machine machine = make_machine("", read_machine(text, "edited"));
    EXPECT_EQ(machine.snapshot.gpus.size(), intact.snapshot.gpus.size());
    EXPECT_GT(machine.snapshot.nvswitches.size(), intact.snapshot.nvswitches.size());
    const std::string picture = draw_picture(machine);
    for (std::size_t gpu = 0; gpu < machine.snapshot.gpus.size(); ++gpu)
        EXPECT_THAT(picture, HasSubstr(">GPU " + std::to_string(gpu)));
}

TEST(Picture, ExplainsWhatOverridesMake) {
    for (const char *said : {R"({"p2p": "off"})", R"({"pairs": [{"gpus": ["0", "1"], "kind": "C2C", "gbps": 200}]})",
                             R"({"pairs": [{"gpus": ["0", "1"], "kind": "NONE"}, {"gpus": ["2", "3"], "links": 2}]})",
                             R"({"dead_links": [{"gpu": "0", "links": [0, 1]}]})"})
        checks::expect_legend_of(draw_picture(overridden("hgx-h200-visible-switches.xml", said)));
    const char *number_unknown = R"({"ranks": 3, "kind": [["SELF", "NVLINK", "NVSWITCH"], ["NVLINK", "SELF", "NVLINK"],
                                                          ["NVSWITCH", "NVLINK", "SELF"]]})";
    checks::expect_legend_of(draw_picture(overridden("no-gpu.xml", number_unknown)));
}

/// Drawn as wires, they took half a minute and a page 400 thousand units high.
TEST(Picture, LeavesOutMoreWiresThanAnybodyCanLookAt) {
    const auto picture_of = [](int ranks) {
        Override said;
        said.ranks = ranks;
        for (int a = 0; a < ranks; ++a)
            for (int b = a + 1; b < ranks; ++b) {
                Override::PairEntry &pair = said.pairs.emplace_back();
                pair.from = std::to_string(a);
                pair.to = std::to_string(b);
                pair.links = 2;
            }
        return draw_picture(make_machine("", apply_override(said, {})));
    };
    const char *note = ">528 pairs have NVLinks of their own, too many to draw: the matrix has them<";
    const std::string drawn = picture_of(32), left_out = picture_of(33);
    EXPECT_THAT(drawn, Not(HasSubstr("too many to draw")));
    EXPECT_GT(checks::count(drawn, "<path"), 496u);
    EXPECT_THAT(left_out, HasSubstr(note));
    EXPECT_LT(checks::count(left_out, "<path"), 100u);
    checks::expect_legend_of(left_out);
}

TEST(Svg, WrapsAndShortens) {
    const svg::Font font{10};
    EXPECT_THAT(svg::wrapped("one two three", svg::text_width("one two", font), font), ElementsAre("one two", "three"));
    EXPECT_THAT(svg::wrapped("", 100, font), ElementsAre());
    EXPECT_EQ(svg::shortened("fits", svg::text_width("fits", font), font), "fits");
    EXPECT_EQ(svg::shortened("does not fit", svg::text_width("does no", font), font), "does n…");
    EXPECT_EQ(svg::shortened("äöü", svg::text_width("äö", font), font), "ä…");  // whole characters only
    const auto in_the_middle = [&](const std::string &text, const std::string &as_wide_as) {
        return svg::shortened_in_the_middle(text, svg::text_width(as_wide_as, font), font);
    };
    EXPECT_EQ(in_the_middle("fits", "fits"), "fits");
    EXPECT_EQ(in_the_middle("enp193s0f1np1", "12345678"), "enp1…np1");
    EXPECT_EQ(in_the_middle("äöüäöü", "12345"), "äö…öü");
    EXPECT_EQ(in_the_middle("does not fit", "1"), "…");
    EXPECT_EQ(in_the_middle("does not fit", ""), "…");
    const std::string long_name(1 << 20, 'x');  // from a description; a character at a time this took hours
    EXPECT_EQ(in_the_middle(long_name, "12345"), "xx…xx");
    EXPECT_EQ(svg::shortened(long_name, svg::text_width("12345", font), font), "xxxx…");
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
