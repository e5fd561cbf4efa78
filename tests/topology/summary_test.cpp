#include "topology/summary.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/topology/builders.hpp"
#include "tests/topology/machines.hpp"
#include "topology/discover.hpp"
#include "topology/graph.hpp"
#include "topology/names.hpp"

namespace baton::topology {
namespace {

const Host two_xeons{"Intel(R) Xeon(R) Platinum 8480+", 2, 2, 112, 224, Source::hwloc, {}, {}, {}, {}};

Snapshot snapshot_of(const NvmlFacts &nvml, bool access, const Host &host = two_xeons) {
    Snapshot snapshot = assemble(nvml, machines::cuda_for(nvml, access));
    snapshot.host = host;
    return snapshot;
}

TEST(Summary, EightH200WithHiddenSwitches) {
    EXPECT_EQ(summarize(snapshot_of(machines::h200_hidden_switches(), true)),
              "GPUs: 8 x NVIDIA H200 at 0000:10:00.0 0000:20:00.0 0000:30:00.0 0000:40:00.0 0000:50:00.0 0000:60:00.0 "
              "0000:70:00.0 0000:80:00.0; driver 580.159.04 (CUDA 13.0); built with CUDA 13.0\n"
              "links: all pairs NV18 through NVSwitch (hidden), 450 GB/s per direction nominal, P2P yes\n"
              "CPU: 2 x Intel(R) Xeon(R) Platinum 8480+, 112 cores, 224 PUs, 2 NUMA nodes\n"
              "note: the NUMA node of 8 of 8 GPUs is unknown\n");
}

TEST(Summary, TwoGpusOnPcieWithoutP2p) {
    EXPECT_EQ(summarize(snapshot_of(machines::two_pcie(P2pStatus::chipset_not_supported), false)),
              "GPUs: 2 x NVIDIA L4 at 0000:10:00.0 0000:20:00.0; driver 550.54.15 (CUDA 13.0); built with CUDA 13.0\n"
              "links: the pair PHB (PCIe and one PCIe host bridge, usually the CPU), P2P refused\n"
              "CPU: 2 x Intel(R) Xeon(R) Platinum 8480+, 112 cores, 224 PUs, 2 NUMA nodes; GPU 0 at node 0; GPU 1 at "
              "node 1\n");
}

TEST(Summary, UnequalLinksNameTheirPairs) {
    std::string text = summarize(snapshot_of(machines::two_bridges(), true));
    EXPECT_NE(
        text.find("links: 0-1 2-3 NV12, 300 GB/s per direction nominal, P2P yes; 0-2 0-3 1-2 1-3 SYS (PCIe and the "
                  "link between NUMA nodes), P2P yes\n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("GPUs 0 1 at node 0; GPUs 2 3 at node 1"), std::string::npos) << text;
}

/// A header of a benchmark and the legend of baton_topo must not contradict each other.
TEST(Summary, MeansByKindsWhatAllMean) {
    Snapshot snapshot = builders::gpus(2);
    for (const LinkKind kind : {LinkKind::PIX, LinkKind::PXB, LinkKind::PHB, LinkKind::NODE, LinkKind::SYS}) {
        snapshot.pair(0, 1).kind = snapshot.pair(1, 0).kind = {kind, Source::nvml};
        const std::string expected = std::string(name_of(kind)) + " (" + meaning_of(kind) + ")";
        EXPECT_NE(summarize(snapshot).find(expected), std::string::npos) << expected;
    }
}

TEST(Summary, OneDeadLinkAmongEight) {
    NvmlFacts nvml = machines::h200_hidden_switches();
    nvml.gpus[0].links[0].active = false;
    std::string text = summarize(snapshot_of(nvml, true));
    EXPECT_NE(text.find("0-1 0-2 0-3 0-4 0-5 0-6 0-7 NV17 through NVSwitch (hidden), 425 GB/s"), std::string::npos)
        << text;
    EXPECT_NE(text.find("the other 21 pairs NV18"), std::string::npos) << text;
    EXPECT_NE(text.find("note: only 17 of the 18 NVLinks of GPU 0 are up\n"), std::string::npos) << text;
}

TEST(Summary, SingleGpuHasNoLinksLine) {
    Snapshot snapshot =
        snapshot_of(machines::h200_hidden_switches(1), true, {"CPU", 1, 1, 1, 2, Source::hwloc, {}, {}, {}, {}});
    EXPECT_EQ(summarize(snapshot),
              "GPUs: 1 x NVIDIA H200 at 0000:10:00.0; driver 580.159.04 (CUDA 13.0); built with CUDA 13.0\n"
              "CPU: CPU, 1 core, 2 PUs, 1 NUMA node\n");
}

TEST(Summary, PartOfTheGpusVisible) {
    NvmlFacts nvml = machines::h200_hidden_switches(4);
    CudaFacts cuda = machines::cuda_for(nvml, true);
    cuda.devices.resize(1);
    cuda.pairs.resize(1);
    EXPECT_NE(summarize(assemble(nvml, cuda)).find("; 1 of them visible to CUDA here;"), std::string::npos);
}

TEST(Summary, NoGpuAndNoHwloc) {
    CudaFacts cuda;
    cuda.problem = "CUDA sees no GPU: no CUDA-capable device is detected";
    EXPECT_EQ(summarize(assemble(machines::no_nvml(), cuda)),
              "GPUs: none\n"
              "CPU: unknown\n"
              "note: NVML not found: libnvidia-ml.so.1: no such file\n"
              "note: CUDA sees no GPU: no CUDA-capable device is detected\n");
}

TEST(Summary, OfThisMachineNamesNoHost) {
    std::string text = summarize(discover());
    EXPECT_EQ(text.rfind("GPUs: ", 0), 0u);
    EXPECT_NE(text.find("\nCPU: "), std::string::npos);
    EXPECT_EQ(text.back(), '\n');
    char host[256] = {};
    ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
    if (std::string(host).size() > 3) {  // a shorter one may be part of an honest word
        EXPECT_EQ(text.find(host), std::string::npos);
    }
}

}  // namespace
}  // namespace baton::topology
