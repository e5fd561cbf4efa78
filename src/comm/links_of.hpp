#pragma once

#include "collectives/links.hpp"
#include "topology/advice.hpp"

namespace baton::core {

/// What plans have to know of the links between the ranks: a pure function. The first that holds:
/// - uniform: fewer than three ranks, a pair of which nobody knows anything, or all pairs alike. Then all-to-all uses
///   every link, and nothing is won by an order.
/// - islands: two or more groups, at least one of several GPUs, with NVLinks between all pairs of a group, and between
///   the groups none or at most half as fast ones; but not where every pair across has NVLinks of its own, which
///   all-to-all uses at once and in one step. What crosses a shared way should cross once. Of several such divisions
///   the one with the largest groups counts.
/// - ring: the ring whose worst link is best has no slow link, that is: some pairs have no NVLinks, and the ring is at
///   least twice as fast as the slowest pair, because those share the way over PCIe or through host memory; or all
///   pairs have NVLinks of their own, and the slowest is slower than the ring by more than the number of steps that
///   the ring takes and all-to-all does not.
/// - uniform: the rest. An order does not avoid the slow links (every ring of PCIe crosses between the sockets).
/// all_alike is said of the first kind of uniform only, where everybody is known.
/// Ranks that share a GPU are linked, and are left out where links are compared. A bandwidth that somebody tells is not
/// compared with one that is assumed because nobody does: only whether there are NVLinks counts then.
Links links_of(const topology::CommAdvice &advice);

/// Whether what eight threads of a GPU store with one instruction reaches the others in one piece (sync/data_line.hpp),
/// from the generations (major compute capability) of the ranks' GPUs. Seen on H200, within a GPU and over NVLink, and
/// so taken for granted on Hopper; over PCIe it was seen not to. Without GPUs nothing is asked of the machine.
bool lines_arrive_whole(const Links &links, const std::vector<int> &generations);

/// "islands: 2 NVLink islands of 4 ranks".
std::string describe(const Links &links);

}  // namespace baton::core
