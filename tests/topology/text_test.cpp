#include "topology/tool/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/readers.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/table.hpp"

namespace baton::topology {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

TEST(Table, AlignsColumns) {
    Table table;
    table.add({"", "wide heading", "b"});
    table.add({"row", "x"});
    EXPECT_EQ(table.text(), "     wide heading  b\nrow       x\n");
}

}  // namespace
}  // namespace baton::topology
