#pragma once

#include <optional>
#include <string>

#include "topology/graph.hpp"
#include "topology/nvml.hpp"
#include "topology/pci_path.hpp"
#include "topology/snapshot.hpp"

/// The rules that turn raw answers into kinds: pure functions.
namespace baton::topology {

/// MB/s of one link in one direction, by NVML's version code; 0 for a code that is not in the table. NVML's own figure
/// is the signalling rate (26562 for NVLink 4), of which 25000 carry data.
int nominal_link_mbps(int nvlink_version);

/// MB/s of one link of a GA10x board (A40, RTX A6000, GeForce RTX 3090) in one direction. Their NVLink 3 is slower than
/// the A100's: 14.0625 GB/s, as NVML tells it.
constexpr int ga10x_link_mbps = 14'062;

/// `peer_gpu`: the GPU of this machine at the link's remote address, or -1.
FarEnd classify_far_end(const NvmlLink &link, int peer_gpu);

/// All in the snapshot that can decide the kind of a pair.
struct PairEvidence {
    bool same_gpu = false;        ///< one entry of Snapshot::gpus
    bool same_device = false;     ///< two entries with one PCI address (slices)
    int direct_links = 0;         ///< active, to each other
    int switch_links = 0;         ///< active, to switches: the smaller of the two GPUs' counts
    int link_mbps = 0;            ///< nominal, one link, the slower of both GPUs; 0 unknown
    bool links_are_sums = false;  ///< see is_sum_of_links(); link_mbps is then a sum too
    bool switch_hidden = false;
    Source link_source = Source::nvml;  ///< who told of the links
    Source link_mbps_source = Source::none;
    Known<P2pStatus> nvlink;
    Known<int> c2c_mbps;  ///< the slower NVLink-C2C of both; unknown across NUMA nodes
    Known<CommonAncestor> ancestor;
    std::optional<PciPath> path;  ///< between them in the PCI trees
    Known<int> numa_from, numa_to;
};

/// Returns kind, links, nominal speed, hops and reason. P2P permissions are separate facts: a pair may have links and
/// be refused.
Pair classify_pair(const PairEvidence &evidence);

}  // namespace baton::topology
