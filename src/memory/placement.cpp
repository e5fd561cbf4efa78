#include "memory/placement.hpp"

#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// More than any kernel is built for: a kernel refuses a set that is smaller than its own.
constexpr int most_processors = 8192;
constexpr int most_nodes = 1024;
constexpr int bits_per_word = 8 * sizeof(unsigned long);

struct FreeCpuSet {
    void operator()(cpu_set_t *set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;
const std::size_t cpu_set_bytes = CPU_ALLOC_SIZE(most_processors);

CpuSet empty_cpu_set() {
    CpuSet set(CPU_ALLOC(most_processors));
    if (set) CPU_ZERO_S(cpu_set_bytes, set.get());
    return set;
}

/// Gives ranks a processor each, as long as that is possible: a bipartite matching by augmenting paths, in which a
/// later rank may move earlier ones to other processors of theirs.
class Seating {
public:
    explicit Seating(const std::vector<ProcessorBits> &allowed) : allowed_(allowed) { holders_.fill(nobody); }

    /// False if there is no way to seat this rank and all that have come before.
    bool seat(int rank) {
        ProcessorBits tried;
        return seat(rank, tried);
    }

private:
    static constexpr int nobody = -1;
    bool seat(int rank, ProcessorBits &tried) {
        const ProcessorBits &allowed = allowed_[static_cast<std::size_t>(rank)];
        for (std::size_t processor = 0; processor < allowed.size(); ++processor) {
            if (!allowed[processor] || tried[processor]) continue;
            tried.set(processor);
            int &holder = holders_[processor];
            if (holder != nobody && !seat(holder, tried)) continue;
            holder = rank;
            return true;
        }
        return false;
    }

    const std::vector<ProcessorBits> &allowed_;
    std::array<int, ProcessorBits().size()> holders_;  // by processor
};

}  // namespace

std::vector<int> processors_near(const std::vector<int> &near, const std::vector<int> &allowed) {
    std::vector<int> both;
    for (const int processor : allowed)
        if (std::find(near.begin(), near.end(), processor) != near.end()) both.push_back(processor);
    return both.size() == allowed.size() ? std::vector<int>() : both;
}

std::vector<int> allowed_processors() {
    const CpuSet set = empty_cpu_set();
    std::vector<int> processors;
    if (!set || ::sched_getaffinity(0, cpu_set_bytes, set.get()) != 0) return processors;
    for (int processor = 0; processor < most_processors; ++processor)
        if (CPU_ISSET_S(static_cast<std::size_t>(processor), cpu_set_bytes, set.get())) processors.push_back(processor);
    return processors;
}

ProcessorBits bits_of(const std::vector<int> &processors) {
    ProcessorBits bits;
    for (const int processor : processors) bits.set(static_cast<std::size_t>(processor) % bits.size());
    return bits;
}

bool have_one_each(int ranks, const std::vector<ProcessorBits> &allowed) {
    Seating seating(allowed);
    ProcessorBits all;
    bool shared = false;
    for (std::size_t rank = 0; rank < allowed.size(); ++rank) {
        if (!seating.seat(static_cast<int>(rank))) return false;
        shared = shared || (all & allowed[rank]).any();
        all |= allowed[rank];
    }
    return !shared || all.count() >= static_cast<std::size_t>(ranks);
}

int current_numa_node() {
    unsigned processor = 0;
    unsigned node = 0;
    return ::syscall(SYS_getcpu, &processor, &node, nullptr) == 0 ? static_cast<int>(node) : -1;
}

void bind_this_thread(const std::vector<int> &processors) {
    if (processors.empty()) return;
    const CpuSet set = empty_cpu_set();
    if (!set) return;
    for (const int processor : processors)
        if (processor < most_processors) CPU_SET_S(static_cast<std::size_t>(processor), cpu_set_bytes, set.get());
    if (::sched_setaffinity(0, cpu_set_bytes, set.get()) != 0)
        log(LogLevel::debug, -1, "a thread is not bound to processors {}: {}", fmt::join(processors, ","),
            errno_text(errno));
}

NumaNodeGuard::NumaNodeGuard(int node) {
    if (node < 0 || node >= most_nodes) return;
    int policy = MPOL_DEFAULT;
    if (::syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0 && policy != MPOL_DEFAULT) return;
    std::array<unsigned long, most_nodes / bits_per_word> nodes{};
    nodes[static_cast<std::size_t>(node / bits_per_word)] = 1ul << (node % bits_per_word);
    // The kernel looks at one node less than it is told.
    set_ = ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes.data(), most_nodes + 1) == 0;
    if (!set_) log(LogLevel::debug, -1, "memory is not placed on NUMA node {}: {}", node, errno_text(errno));
}

NumaNodeGuard::~NumaNodeGuard() {
    if (set_) ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
}

}  // namespace baton::core
