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
/// - "links" on a pair without NVLinks make it NVLINK; 0 links leave what it is without NVLinks. A "kind" beside them
///   decides instead.
/// - "gbps" is what the pair has, all its links together. Alone it leaves the number of links.
/// - "links" alone carry what that many links of these GPUs carry; unknown where the GPUs have none.
/// - "links" and "gbps" together are as stated.
/// - A new "kind" alone clears both, unless it turns NVLINK into NVSWITCH or back.
/// - null in a matrix leaves the machine's own word. The diagonal is not looked at.
/// - "pairs" comes after the matrices; an entry holds for both directions.
namespace baton::topology {

struct Override {
    struct PairEntry {
        std::string from, to;  ///< names of GPUs
        std::string field;     ///< its place in the file, for messages: "gbps[0][1]"
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
    int ranks = 0;  ///< 0: the file is about GPUs
    std::optional<bool> p2p;
    std::optional<std::size_t> rows;  ///< of each matrix; empty: nothing tells how many
    std::vector<std::string> gpus;    ///< one for each row; empty: the order of the snapshot
    std::vector<PairEntry> pairs;
    std::vector<DeadLink> dead_links;
};

/// Refuses, naming the entry: unknown keys, matrices that are not square, not symmetric or of different sizes, negative
/// numbers, unknown kinds.
Override read_override(std::string_view text, const std::string &origin);

/// Returns the snapshot with the user's word in place of the machine's. Refuses, naming the entry: GPUs and links that
/// the machine does not have, a name that several slices of a GPU share, matrices of another size, and entries that
/// contradict each other.
Snapshot apply_override(const Override &override_file, Snapshot snapshot);

/// The entry that refuses P2P between GPUs a and b, with the name of the file; empty where none does. `snapshot`: what
/// apply_override() returned.
std::string p2p_refusal(const Override &override_file, const Snapshot &snapshot, int a, int b);

}  // namespace baton::topology
