#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/picture_checks.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/override.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/tool/advice_json.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/picture.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

using testing::HasSubstr;
using testing::Not;

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

/// Ranks that an override puts in the place of GPUs are called ranks, and there is no transport to advise.
TEST(Outputs, CallRanksOnHostMemoryRanks) {
    const Override said = read_override(R"({"ranks": 3, "links": [[0, 2, 0], [2, 0, 0], [0, 0, 0]]})", "o.json");
    Snapshot host = read_machine_file(BATON_MACHINES "/no-gpu.xml");
    host.gaps.clear();  // they name files
    const Machine machine = make_machine("", apply_override(said, host));
    Abbreviations used;
    const std::string text = header_text(machine) + matrix_text(machine, used) + bandwidth_text(machine, used) +
                             tree_text(machine) + ring_text(machine, used) + used.legend();
    for (const std::string &one : {text, draw_picture(machine), advice_to_json(machine)}) {
        EXPECT_THAT(one, Not(HasSubstr("GPU")));
        EXPECT_THAT(one, Not(HasSubstr("kernel")));
        EXPECT_THAT(one, HasSubstr("rank"));
    }
    checks::expect_legend_of(draw_picture(machine));
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(machine.snapshot), "x"), machine.snapshot);
}

}  // namespace
}  // namespace baton::topology
