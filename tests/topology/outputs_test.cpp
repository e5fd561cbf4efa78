#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>

#include "topology/hwloc_export.hpp"
#include "topology/override.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/tool/advice_json.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/picture.hpp"
#include "topology/tool/svg.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"
#include "topology/tool/view.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> machine_files() {
    std::vector<std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(BATON_MACHINES))
        if (const auto suffix = entry.path().extension(); suffix == ".xml" || suffix == ".json")
            files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

class EveryMachine : public testing::TestWithParam<std::string> {
protected:
    Machine machine_ = make_machine("a machine", read_machine_file(GetParam()));
};

void collect(const std::vector<Branch> &branches, std::vector<int> &gpus, std::vector<int> &nics) {
    for (const Branch &branch : branches) {
        gpus.insert(gpus.end(), branch.gpus.begin(), branch.gpus.end());
        nics.insert(nics.end(), branch.nics.begin(), branch.nics.end());
        collect(branch.children, gpus, nics);
    }
}

std::vector<int> up_to(std::size_t count) {
    std::vector<int> all;
    for (std::size_t index = 0; index < count; ++index) all.push_back(static_cast<int>(index));
    return all;
}

TEST_P(EveryMachine, IsSeenWithEachDeviceOnce) {
    std::vector<int> gpus, nics, pictured_gpus, pictured_nics;
    for (const SocketView &socket : view_of(machine_.snapshot))
        for (const NodeView &node : socket.nodes) {
            collect(node.branches, gpus, nics);
            collect(without_switches(node.branches), pictured_gpus, pictured_nics);
        }
    for (auto *list : {&gpus, &nics, &pictured_gpus, &pictured_nics}) std::sort(list->begin(), list->end());
    EXPECT_EQ(gpus, up_to(machine_.snapshot.gpus.size()));
    EXPECT_EQ(nics, up_to(machine_.snapshot.nics.size()));
    EXPECT_EQ(pictured_gpus, gpus);
    EXPECT_EQ(pictured_nics, nics);
}

/// The cards' outlines: white, with a border of 1.5.
std::vector<svg::Box> cards_in(const std::string &picture) {
    std::vector<svg::Box> boxes;
    std::istringstream lines(picture);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("fill=\"#ffffff\" stroke=") == std::string::npos || line.find("\"1.5\"/>") == std::string::npos)
            continue;
        svg::Box box;
        if (std::sscanf(line.c_str(), "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\" rx=\"6\"", &box.x, &box.y,
                        &box.width, &box.height) == 4)
            boxes.push_back(box);
    }
    return boxes;
}

std::size_t count(const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST_P(EveryMachine, IsPicturedWithoutOverlapAndWithinThePage) {
    const std::string picture = draw_picture(machine_);
    double width = 0, height = 0;
    const std::size_t page = picture.find("viewBox=");
    ASSERT_NE(page, std::string::npos);
    ASSERT_EQ(std::sscanf(picture.c_str() + page, "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    const std::vector<svg::Box> cards = cards_in(picture);
    ASSERT_GE(cards.size(), machine_.snapshot.gpus.size());
    for (std::size_t one = 0; one < cards.size(); ++one) {
        EXPECT_GE(cards[one].x, 0);
        EXPECT_LE(cards[one].right(), width);
        EXPECT_LE(cards[one].bottom(), height);
        for (std::size_t other = one + 1; other < cards.size(); ++other)
            EXPECT_TRUE(cards[one].right() <= cards[other].x || cards[other].right() <= cards[one].x ||
                        cards[one].bottom() <= cards[other].y || cards[other].bottom() <= cards[one].y)
                << "cards " << one << " and " << other;
    }
    for (std::size_t gpu = 0; gpu < machine_.snapshot.gpus.size(); ++gpu)
        EXPECT_EQ(count(picture, ">GPU " + std::to_string(gpu) + "</text>"), 1u) << gpu;
}

/// What follows `mark` in all lines that start with `begin`, up to the next quote.
std::set<std::string> values(const std::string &text, const std::string &begin, const std::string &mark) {
    std::set<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t at = line.find(mark); line.starts_with(begin) && at != std::string::npos)
            found.insert(line.substr(at + mark.size(), line.find('"', at + mark.size()) - at - mark.size()));
    return found;
}

/// Each color of a line, each shade of the matrix, and red words are in the legend, and the legend has no others.
void expect_legend_of(const std::string &picture) {
    const std::size_t legend = picture.find(">Legend</text>");
    const std::string drawn = picture.substr(0, legend);
    const std::string explained = legend == std::string::npos ? "" : picture.substr(legend);
    EXPECT_EQ(values(drawn, "<path", " stroke=\""), values(explained, "<path", " stroke=\""));
    EXPECT_EQ(values(drawn, "<path", "dasharray=\""), values(explained, "<path", "dasharray=\""));
    std::set<std::string> cells;
    std::istringstream lines(drawn);
    for (std::string line; std::getline(lines, line);)
        if (line.find("stroke=\"#ffffff\"") != std::string::npos) cells.merge(values(line, "<rect", "fill=\""));
    cells.erase("#f5f7fa");  // the diagonal
    EXPECT_EQ(cells, values(explained, "<rect", "fill=\""));
    EXPECT_EQ(drawn.find("#c81e1e") == std::string::npos, explained.find("#c81e1e") == std::string::npos);
}

TEST_P(EveryMachine, IsPicturedWithALegendOfWhatIsThere) { expect_legend_of(draw_picture(machine_)); }

TEST_P(EveryMachine, IsWrittenWithALegendOfWhatIsThere) {
    const std::string matrix = matrix_text(machine_), legend = legend_text(matrix);
    std::set<std::string> words;
    std::istringstream all(matrix.substr(matrix.find('\n') + 1));
    for (std::string word; all >> word;) {
        if (word.starts_with("GPU") || word.starts_with("NIC") ||
            word.find_first_not_of("0123456789,-") == std::string::npos)
            continue;
        words.insert(word.starts_with("NV") && word != "NV?" ? "NV#" : word);
    }
    for (const std::string &word : words) EXPECT_THAT(legend, HasSubstr("  " + word + " "));
    EXPECT_EQ(count(legend, " = "), words.size());
}

/// The file's text with some of it left out, doubled, or exchanged: often still a machine, and then a strange one.
std::string damaged(std::string text, std::mt19937 &random) {
    const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
    for (std::size_t rounds = 1 + below(4); rounds > 0; --rounds) {
        const std::size_t begin = text.rfind('\n', below(text.size())), end = text.find('\n', begin + 1);
        if (begin == std::string::npos || end == std::string::npos) continue;
        const std::string line = text.substr(begin, end - begin);
        std::size_t digit = begin + below(line.size());
        switch (below(4)) {
            case 0:
                text.erase(begin, end - begin);
                break;
            case 1:
                text.insert(end, line);
                break;
            case 2:
                text.insert(below(text.size()), line);
                break;
            default:
                digit = text.find_first_of("0123456789", digit);
                if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(10));
        }
    }
    return text;
}

TEST_P(EveryMachine, IsShownOrRefusedWhenItsFileIsDamaged) {
    std::mt19937 random(1);
    const std::string text = read_text_file(GetParam());
    int shown = 0;
    for (int round = 0; round < 30; ++round) {
        Snapshot snapshot;
        try {
            snapshot = read_machine(damaged(text, random), "damaged");
        } catch (const core::Failure &) {
            continue;
        }
        const Machine machine = make_machine("damaged", std::move(snapshot));
        EXPECT_THAT(draw_picture(machine), HasSubstr("</svg>"));
        EXPECT_NE(matrix_text(machine) + bandwidth_text(machine) + ring_text(machine) + advice_to_json(machine), "");
        EXPECT_THAT(tree_text(machine), HasSubstr("Machine: "));
        ++shown;
    }
    EXPECT_GT(shown, 0);
}

INSTANTIATE_TEST_SUITE_P(Topology, EveryMachine, testing::ValuesIn(machine_files()), [](const auto &each) {
    std::string name = std::filesystem::path(each.param).stem().string();
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

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

/// Bytes that must not be in any output: escape, C1 and bidirectional overrides in UTF-8, a lone byte of C1.
TEST(Outputs, AreFreeOfWhatSteersTerminals) {
    const std::string hostile =
        "x\x1b[31m\xc2\x9b"
        "2J\xe2\x80\xae"
        "evil\x9b\x7f\xe2\x80\xa8\xff";
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/l40s-pcie-dual-socket.xml");
    snapshot.gpus[0].name = snapshot.nics[0].name = snapshot.host.cpu_model = snapshot.pci[1].name = hostile;
    snapshot.gaps = {hostile};
    snapshot.gpus[0].uuid = {hostile, Source::nvml};
    const std::string all[] = {draw_picture(make_machine(hostile, snapshot)),
                               advice_to_json(make_machine("", snapshot)), snapshot_to_json(snapshot),
                               to_hwloc_xml(snapshot)};
    for (const std::string &text : all) {
        EXPECT_THAT(text, HasSubstr("evil"));
        for (const char *bytes : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\x9b", "\x7f", "\xe2\x80\xa8", "\xff"})
            EXPECT_THAT(text, Not(HasSubstr(bytes)));
    }
    const Snapshot read = snapshot_from_json(all[2], "x");
    EXPECT_THAT(tree_text(make_machine("", read)), HasSubstr("x?[31m?2J?evil"));
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

TEST(Text, LegendExplainsWordsThatStandForThemselves) {
    EXPECT_EQ(legend_text("NVLink-C2C and NVSwitch, NVIDIA_X in GPU 4"), "");
    EXPECT_EQ(legend_text("bottleneck 3 GB/s (SYS)"), "Legend:\n  SYS  = PCIe and the link between NUMA nodes\n");
    EXPECT_THAT(legend_text("0 NV? NV12"), AllOf(HasSubstr("  NV#  = "), HasSubstr("  NV?  = ")));
    EXPECT_THAT(legend_text("P2P read ?, write ?"), HasSubstr("  ?    = not known"));
}

TEST(Text, ExplainsTheLettersThatAreThere) {
    const Machine pcie = make_machine("", read_machine_file(BATON_MACHINES "/a100-mig.json"));
    EXPECT_THAT(bandwidth_text(pcie), HasSubstr("\n(h: through host memory)\n"));
}

/// Ranks that an override puts in the place of GPUs are called ranks, and there is no transport to advise.
TEST(Outputs, CallRanksOnHostMemoryRanks) {
    const Override said = read_override(R"({"ranks": 3, "links": [[0, 2, 0], [2, 0, 0], [0, 0, 0]]})", "o.json");
    Snapshot host = read_machine_file(BATON_MACHINES "/no-gpu.xml");
    host.gaps.clear();  // they name files
    const Machine machine = make_machine("", apply_override(said, host));
    const std::string text =
        header_text(machine) + matrix_text(machine) + bandwidth_text(machine) + tree_text(machine) + ring_text(machine);
    for (const std::string &one : {text, draw_picture(machine), advice_to_json(machine)}) {
        EXPECT_THAT(one, Not(HasSubstr("GPU")));
        EXPECT_THAT(one, Not(HasSubstr("kernel")));
        EXPECT_THAT(one, HasSubstr("rank"));
    }
    expect_legend_of(draw_picture(machine));
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(machine.snapshot), "x"), machine.snapshot);
}

TEST(Picture, ExplainsWhatOverridesMake) {
    const Snapshot board = read_machine_file(BATON_MACHINES "/hgx-h200-visible-switches.xml");
    for (const char *said : {R"({"p2p": "off"})", R"({"pairs": [{"gpus": ["0", "1"], "kind": "C2C", "gbps": 200}]})",
                             R"({"pairs": [{"gpus": ["0", "1"], "kind": "NONE"}, {"gpus": ["2", "3"], "links": 2}]})",
                             R"({"dead_links": [{"gpu": "0", "links": [0, 1]}]})"})
        expect_legend_of(draw_picture(make_machine("", apply_override(read_override(said, "o.json"), board))));
}

TEST(Text, ListsRanksAndTheirRing) {
    const Machine machine =
        make_machine("", read_machine_file(BATON_MACHINES "/a100-nvlink-bridges.xml"), {0, 2, 1, -1});
    const std::string text = ranks_text(machine);
    EXPECT_THAT(text, HasSubstr("2      1    0000:65:00.0"));
    EXPECT_THAT(text, HasSubstr("3     none"));
    EXPECT_THAT(text, HasSubstr("Ring (ranks)"));
    EXPECT_EQ(ranks_text(make_machine("", machine.snapshot, {-1, -1})), "2 ranks, none with a GPU\n");
    EXPECT_EQ(ranks_text(make_machine("", machine.snapshot)), "");
}

TEST(Text, ShowsMeasuredBesideNominal) {
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/h200-dead-link.json");
    snapshot.pair(0, 1).measured_mbps = {391234, Source::measured};
    const std::string text = bandwidth_text(make_machine("", snapshot));
    EXPECT_THAT(text, HasSubstr("391.2/450 k"));
    EXPECT_THAT(text, HasSubstr("?/425 k"));
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

TEST(Table, AlignsColumns) {
    Table table;
    table.add({"", "wide heading", "b"});
    table.add({"row", "x"});
    EXPECT_EQ(table.text(), "     wide heading  b\nrow       x\n");
}

TEST(View, ReadsCpuLists) {
    EXPECT_TRUE(contains_cpu("0-3,8", 3));
    EXPECT_TRUE(contains_cpu("0-3,8", 8));
    EXPECT_FALSE(contains_cpu("0-3,8", 4));
    EXPECT_FALSE(contains_cpu("", 0));
    EXPECT_FALSE(contains_cpu("nonsense", 0));
    EXPECT_FALSE(contains_cpu("5-", 5));
}

}  // namespace
}  // namespace baton::topology
