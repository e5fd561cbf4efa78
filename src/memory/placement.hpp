#pragma once

#include <bitset>
#include <vector>

namespace baton::core {

/// Where a rank's service thread runs and its host memory lies: near its GPU, or near the rank if that is unknown.
struct Placement {
    int numa_node = -1;           // -1: not known
    std::vector<int> processors;  // empty: wherever the process may run
};

/// Returns those of the `allowed` processors that are `near`. Empty if there is nothing to bind to: none of the near
/// ones is allowed (the user's binding is stronger), or all allowed ones are near.
std::vector<int> processors_near(const std::vector<int> &near, const std::vector<int> &allowed);

/// Returns the processors on which the calling thread may run; empty if the system does not say.
std::vector<int> allowed_processors();
/// A set of processors to be sent around: processor p is bit p % 1024.
using ProcessorBits = std::bitset<1024>;
ProcessorBits bits_of(const std::vector<int> &processors);
/// Whether `ranks` ranks can have a processor each. `allowed` has the sets of some of them. If any two of these sets
/// overlap, the other ranks are taken to run anywhere among them; else each is taken to be bound to processors of its
/// own. False if one of the sets is empty, that is unknown.
bool have_one_each(int ranks, const std::vector<ProcessorBits> &allowed);
/// Returns the node on which the calling thread runs at the moment, or -1.
int current_numa_node();

/// Makes the calling thread run on these processors only. An empty set changes nothing; a refusal by the system is a
/// debug line.
void bind_this_thread(const std::vector<int> &processors);

/// While it lives, new pages of the calling thread come from `node` if it has free ones. Does nothing for -1, where the
/// user has chosen a memory policy (numactl), and where the system refuses (containers do).
class NumaNodeGuard {
public:
    explicit NumaNodeGuard(int node);
    ~NumaNodeGuard();
    NumaNodeGuard(const NumaNodeGuard &) = delete;
    NumaNodeGuard &operator=(const NumaNodeGuard &) = delete;

private:
    bool set_ = false;
};

}  // namespace baton::core
