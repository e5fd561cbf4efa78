#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

/// NVML's answers, as it gave them. The library is opened at run time, because a machine without a GPU does not have
/// it. Baton declares it itself, because most toolkits lack nvml.h. A call that is missing or fails leaves its answer
/// empty.
namespace baton::topology {

/// nvmlIntNvLinkDeviceType_t
enum class RemoteType : int {
    gpu = 0,
    ibm_npu = 1,
    nvswitch = 2,
    unknown = 0xff
};

struct NvmlLink {
    int index = 0;
    bool active = false;
    int version = 0;
    int mbps = 0;
    std::optional<RemoteType> remote_type;
    std::optional<PciAddress> remote;  ///< empty where NVML gave nothing usable
    bool remote_hidden = false;        ///< NVML answered FFFFFFFF:FF:FF.0
    bool remote_is_bridge = false;     ///< has the PCI class of NVSwitches; from sysfs, filled in by discover()
};

struct NvmlGpu {
    std::string name;
    std::string uuid;
    std::optional<PciAddress> pci;
    bool mig = false;
    std::vector<NvmlLink> links;
    std::optional<int> c2c_links, c2c_mbps;  ///< NVLink-C2C to the CPU: number, sum of their MB/s
    std::optional<int> numa_node;            ///< from sysfs, filled in by discover()
};

struct NvmlPair {
    std::optional<P2pStatus> read, write, nvlink, atomics;
    std::optional<CommonAncestor> ancestor;
};

struct NvmlFacts {
    std::string problem;  ///< why there is no answer at all; empty where NVML works
    std::string driver;
    std::vector<NvmlGpu> gpus;
    std::vector<NvmlPair> pairs;    ///< gpus.size()^2, from * n + to
    std::vector<std::string> gaps;  ///< single answers that NVML refused
};

/// Opens NVML, asks everything, closes it. Costs about a tenth of a second with 8 GPUs: once per node is enough.
NvmlFacts read_nvml(const char *library = "libnvidia-ml.so.1");

}  // namespace baton::topology
