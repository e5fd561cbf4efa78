#pragma once

#include <bitset>
#include <vector>

namespace baton::core {

/// Where a rank's service thread runs and its host memory lies: near its GPU, or near itself where that is not known.
struct Placement {
    int numa_node = -1;           // -1: not known
    std::vector<int> processors;  // empty: where the process may run anyway
};

/// Those of the `allowed` processors that are `near`. Empty where there is nothing to bind to: none of the near ones is
/// allowed (the user's binding is stronger), or all allowed ones are near.
std::vector<int> processors_near(const std::vector<int> &near, const std::vector<int> &allowed);

/// What the calling thread may run on; empty where the system does not say.
std::vector<int> allowed_processors();
/// The same to be sent around: processor p is bit p % 1024.
using ProcessorBits = std::bitset<1024>;
ProcessorBits bits_of(const std::vector<int> &processors);
/// Whether so many ranks can have a processor each. `allowed`: where some of them may run, the others are taken to run
/// anywhere among these. False if it is not known.
bool have_one_each(int ranks, const std::vector<ProcessorBits> &allowed);
/// The node that the calling thread runs on at the moment, or -1.
int current_numa_node();

/// From now on the calling thread runs there only. An empty set changes nothing; what the system refuses is a debug
/// line.
void bind_this_thread(const std::vector<int> &processors);

/// While it lives, new pages of the calling thread come from that node if it has free ones. Nothing happens for -1,
/// where the user has chosen a memory policy (numactl), and where the system refuses (containers do).
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
