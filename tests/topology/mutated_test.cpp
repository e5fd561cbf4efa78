#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>

#include "support/seed.hpp"
#include "tests/topology/builders.hpp"
#include "tests/topology/edited.hpp"
#include "tests/topology/fuzz.hpp"
#include "tests/topology/texts.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"

// The work of the fuzz targets without a fuzzer, in every run of the suite: seeds with a few random changes each.
namespace baton::topology {
namespace {

constexpr int rounds = 400;

class Mutated : public testing::Test {
protected:
    void SetUp() override {
        const std::uint64_t seed = test::draw_seed();
        random_.seed(static_cast<std::mt19937::result_type>(seed));
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }

    std::string mutate(std::string text) {
        static const char *const words[] = {"-1", "0", "99999999999999999999", "\"",  "<",
                                            "]",  "{", "0xffffffff,",          "&#0;"};
        for (std::size_t change = 0; change < 1 + below(4) && !text.empty(); ++change) {
            const std::size_t at = below(text.size());
            switch (below(6)) {
                case 0:
                    text[at] = static_cast<char>(random_());
                    break;
                case 1:
                    text.erase(at, 1 + below(40));
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), 1 + below(200)));
                    break;
                case 3:
                    text.insert(at, words[below(std::size(words))]);
                    break;
                case 4:
                    text.resize(at);
                    break;
                case 5:
                    for (std::size_t digit = at; digit < text.size(); ++digit)  // changes the next digit
                        if (text[digit] >= '0' && text[digit] <= '9') {
                            text[digit] = static_cast<char>('0' + below(10));
                            break;
                        }
                    break;
            }
        }
        return text;
    }

    void run(const std::vector<std::string> &seeds, void (*reader)(std::string_view)) {
        for (const std::string &seed : seeds) {
            reader(seed);
            for (int round = 0; round < rounds; ++round) {
                reader(mutate(seed));
                reader(edited(seed, random_));
            }
        }
    }

    std::mt19937 random_;
};

std::vector<std::string> overrides() {
    std::vector<std::string> texts;
    for (const auto &entry : std::filesystem::directory_iterator(BATON_TOPOLOGY_FIXTURES "/overrides"))
        if (entry.path().extension() == ".json") texts.push_back(read_text_file(entry.path()));
    std::sort(texts.begin(), texts.end());  // so that a seed gives the same texts everywhere
    return texts;
}

TEST_F(Mutated, HwlocXml) {
    const std::string restricted = read_text_file(BATON_TOPOLOGY_FIXTURES "/container-memory-of-one-socket.xml");
    run({texts::hwloc, to_hwloc_xml(read_machine(texts::hwloc, "x")), restricted,
         to_hwloc_xml(read_machine(restricted, "x"))},
        fuzz_hwloc_xml);
}
TEST_F(Mutated, NcclXml) { run({texts::nccl}, fuzz_nccl_xml); }
TEST_F(Mutated, SnapshotJson) {
    run({snapshot_to_json(read_machine(texts::hwloc, "x")), snapshot_to_json(builders::cube_mesh())},
        fuzz_snapshot_json);
}
TEST_F(Mutated, Override) {
    const std::vector<std::string> seeds = overrides();
    ASSERT_FALSE(seeds.empty());
    run(seeds, fuzz_override);
}

}  // namespace
}  // namespace baton::topology
