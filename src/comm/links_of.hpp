#pragma once

#include "collectives/links.hpp"
#include "topology/advice.hpp"

namespace baton::core {

/// Returns what plans have to know of the links between the ranks. Pure. The shape is the first that holds:
/// - uniform: fewer than three ranks, a pair of which nobody knows anything, or all pairs alike. Then all-to-all uses
///   every link, and no order of ranks is better.
/// - islands: two or more groups, at least one of several GPUs. All pairs within a group have NVLinks; pairs across
///   have none, or at most half as fast ones. What crosses a shared way should cross once, so these are no islands if
///   every pair across has NVLinks of its own, which all-to-all uses at once and in one step. Of several such divisions
///   the one with the largest groups counts.
/// - ring: the worst link of the best ring is clearly better than the worst pair, in one of these ways:
///   - It has P2P, and the worst pair has not.
///   - Some pairs have no NVLinks, and the ring is at least twice as fast as the slowest pair, because such pairs share
///     the way over PCIe or through host memory. (If the two cannot be compared: the ring has NVLinks, that pair none.)
///   - All pairs have NVLinks, and the ring is more than n - 1 times as fast as the slowest pair, for it takes n - 1
///     steps where all-to-all takes one.
/// - uniform: the rest. No order avoids the slow links (every ring of PCIe crosses between the sockets).
/// all_alike is said only of the first kind of uniform, and only if all pairs are known.
/// Ranks that share a GPU are linked, and are left out where links are compared. A bandwidth that somebody tells is not
/// compared with an assumed one: only whether there are NVLinks counts then.
Links links_of(const topology::CommAdvice &advice);

/// Whether a line, which eight threads of a GPU store with one instruction, reaches the others in one piece
/// (sync/data_line.hpp). Seen on H200, within a GPU and over NVLink, and so taken for granted between Hopper GPUs that
/// are all linked by NVLink. Over PCIe lines were seen torn. `generations`: major compute capability by rank. Without
/// GPUs always true.
bool lines_arrive_whole(const Links &links, const std::vector<int> &generations);

/// "islands: 2 NVLink islands of 4 ranks".
std::string describe(const Links &links);

}  // namespace baton::core
