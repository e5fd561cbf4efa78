#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/snapshot.hpp"

/// The user's word on the machine, a JSON file. All keys are optional:
///   {
///     "gpus": ["GPU-1b2c...", "0000:1b:00.0", "2"],   which GPUs the matrices speak of: UUID, PCI address or index;
///                                                      all GPUs in the snapshot's order where it is missing
///     "ranks": 4,                                      instead of "gpus": ranks of a communicator, which take
///                                                      the place of the machine's GPUs
///     "p2p": "off",                                    for all pairs; or a matrix of true, false and null
///     "kind":  [["SELF", "NVLINK"], ["NVLINK", "SELF"]],
///     "links": [[0, 4], [4, 0]],
///     "gbps":  [[0, 100], [100, 0]],                   GB/s of one direction
///     "pairs": [{"gpus": ["0", "1"], "kind": "SYS", "links": 0, "gbps": 12.5, "p2p": "off"}],
///     "dead_links": [{"gpu": "0", "links": [3, 4]}]    NVLinks, by their index, that shall count as down
///   }
/// Links where the machine has none make the pair NVLINK, and 0 links leave it what it is without NVLinks; "kind" says
/// otherwise. "gbps" is what the pair has, all its links together. "links" alone carry what so many links of these GPUs
/// carry, unknown where the GPUs have none; "gbps" alone leaves the number of links; of both, each is as stated. A new
/// "kind" alone leaves neither, unless the pair goes from NVLINK to NVSWITCH or back. null in a matrix leaves the
/// machine's own word; the diagonal is not looked at. "pairs" comes after the matrices, and holds for both directions.
namespace baton::topology {

struct Override {
    struct PairEntry {
        std::string from, to;  ///< names of GPUs
        std::string field;     ///< where it stands: "gbps[0][1]", for messages
        std::optional<LinkKind> kind;
        std::optional<int> links;
        std::optional<int> mbps;
        std::optional<bool> p2p;
    };
    struct DeadLink {
        std::string gpu;
        int link = 0;
        std::string field;
    };

    std::string origin;
    int ranks = 0;  ///< 0: it is about GPUs
    std::optional<bool> p2p;
    std::optional<std::size_t> rows;  ///< of the matrices; empty: there are none
    std::vector<std::string> gpus;    ///< of the rows; empty: the snapshot's order
    std::vector<PairEntry> pairs;
    std::vector<DeadLink> dead_links;
};

/// Refuses, naming the entry: unknown keys, matrices that are not square, not symmetric or of different sizes, negative
/// numbers, unknown kinds.
Override read_override(std::string_view text, const std::string &origin);

/// The snapshot with the user's word in place of the machine's. Refuses, naming the entry, GPUs and links that the
/// machine does not have, a name that several slices of a GPU have, matrices of another size, and entries that
/// contradict each other.
Snapshot apply_override(const Override &override_file, Snapshot snapshot);

/// The entry that refuses P2P between two GPUs of the snapshot that it was applied to, with the file's name; empty
/// where none does.
std::string p2p_refusal(const Override &override_file, const Snapshot &snapshot, int a, int b);

}  // namespace baton::topology
