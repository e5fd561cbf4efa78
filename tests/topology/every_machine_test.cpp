#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>

#include "support/seed.hpp"
#include "tests/topology/picture_checks.hpp"
#include "topology/readers.hpp"
#include "topology/tool/advice_json.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/picture.hpp"
#include "topology/tool/text.hpp"
#include "topology/tool/view.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

using checks::count;
using testing::HasSubstr;

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

TEST_P(EveryMachine, IsPicturedWithoutOverlapAndWithinThePage) {
    const std::string picture = draw_picture(machine_);
    double width = 0, height = 0;
    const std::size_t page = picture.find("viewBox=");
    ASSERT_NE(page, std::string::npos);
    ASSERT_EQ(std::sscanf(picture.c_str() + page, "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    const std::vector<svg::Box> cards = checks::cards_in(picture);
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

TEST_P(EveryMachine, IsPicturedWithWordsThatFitTheirCells) {
    EXPECT_EQ(checks::too_wide_for_its_cell(draw_picture(machine_)), "");
}

TEST_P(EveryMachine, IsPicturedWithALegendOfWhatIsThere) { checks::expect_legend_of(draw_picture(machine_)); }

TEST_P(EveryMachine, IsWrittenWithALegendOfWhatIsThere) {
    Abbreviations used;
    const std::string matrix = matrix_text(machine_, used), legend = used.legend();
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
    const std::uint64_t seed = test::draw_seed();
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    const std::string text = read_text_file(GetParam());
    int shown = 0;
    // Of JSON, damage leaves a machine in one case of ten or so.
    for (int round = 0; round < 30 || (shown == 0 && round < 1000); ++round) {
        Snapshot snapshot;
        try {
            snapshot = read_machine(damaged(text, random), "damaged");
        } catch (const core::Failure &) {
            continue;
        }
        const Machine machine = make_machine("damaged", std::move(snapshot));
        EXPECT_THAT(draw_picture(machine), HasSubstr("</svg>"));
        Abbreviations used;
        EXPECT_NE(matrix_text(machine, used) + bandwidth_text(machine, used) + ring_text(machine, used), "");
        EXPECT_NE(advice_to_json(machine), "");
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

}  // namespace
}  // namespace baton::topology
