#include "topology/snapshot_checks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "topology/index_set.hpp"
#include "topology/limits.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

class Checks {
public:
    Checks(const Snapshot &snapshot, const std::string &origin) : snapshot_(snapshot), origin_(origin) {}

    void run() const {
        at_most("gpus", snapshot_.gpus.size(), max_gpus);
        at_most("nics", snapshot_.nics.size(), max_nics);
        at_most("nvswitches", snapshot_.nvswitches.size(), max_nvswitches);
        at_most("pci", snapshot_.pci.size(), max_pci_nodes);
        if (snapshot_.pairs.size() != snapshot_.gpus.size() * snapshot_.gpus.size())
            refuse("pairs", "{} entries, but {} GPUs have {} pairs", snapshot_.pairs.size(), snapshot_.gpus.size(),
                   snapshot_.gpus.size() * snapshot_.gpus.size());
        tree();
        for (std::size_t index = 0; index < snapshot_.gpus.size(); ++index) gpu(index);
        identities();
        for (std::size_t index = 0; index < snapshot_.nvswitches.size(); ++index)
            below(fmt::format("nvswitches[{}].pci_node", index), snapshot_.nvswitches[index].pci_node,
                  snapshot_.pci.size());
        for (std::size_t index = 0; index < snapshot_.nics.size(); ++index) {
            const std::string path = fmt::format("nics[{}]", index);
            below(path + ".pci_node", snapshot_.nics[index].pci_node, snapshot_.pci.size());
            known_from_0_to(path + ".numa_node", snapshot_.nics[index].numa_node, static_cast<int>(max_pus) - 1);
        }
        for (std::size_t index = 0; index < snapshot_.pairs.size(); ++index) pair(index);
        host();
    }

private:
    template <class... Args>
    [[noreturn]] void refuse(const std::string &path, fmt::format_string<Args...> format, Args &&...args) const {
        core::fail(BATON_ERR_ARGUMENT, "{}: {}: {}", origin_, path, fmt::format(format, std::forward<Args>(args)...));
    }
    void at_most(const std::string &path, std::size_t size, std::size_t most) const {
        if (size > most) refuse(path, "{} entries, more than {}", size, most);
    }
    void below(const std::string &path, int index, std::size_t size) const {
        if (index < -1 || index >= static_cast<int>(size)) refuse(path, "{} is no index among {} entries", index, size);
    }
    void from_0_to(const std::string &path, int number, int most) const {
        if (number < 0 || number > most) refuse(path, "{} is not from 0 to {}", number, most);
    }
    void known_from_0_to(const std::string &path, const Known<int> &number, int most) const {
        if (number.known()) from_0_to(path, number.value, most);
    }
    void list(const std::string &path, const std::string &text) const {
        if (!IndexSet::from_list(text)) refuse(path, "\"{}\" is no list of processors, such as \"0-3,8\"", text);
    }
    void tree() const {
        std::vector<int> depth(snapshot_.pci.size(), 0);
        for (std::size_t index = 0; index < snapshot_.pci.size(); ++index) {
            const int parent = snapshot_.pci[index].parent;
            const std::string path = fmt::format("pci[{}].parent", index);
            if (parent < -1 || parent >= static_cast<int>(index)) refuse(path, "{} is no earlier entry", parent);
            if (parent >= 0) depth[index] = depth[static_cast<std::size_t>(parent)] + 1;
            if (depth[index] > max_depth) refuse(path, "more than {} levels deep", max_depth);
            list(fmt::format("pci[{}].cpuset", index), snapshot_.pci[index].cpuset);
            const std::vector<int> &nodes = snapshot_.pci[index].numa_nodes;
            at_most(fmt::format("pci[{}].numa_nodes", index), nodes.size(), max_numa_nodes);
            if (!std::is_sorted(nodes.begin(), nodes.end()))
                refuse(fmt::format("pci[{}].numa_nodes", index), "not ascending");
            for (const int node : nodes)
                from_0_to(fmt::format("pci[{}].numa_nodes", index), node, static_cast<int>(max_pus) - 1);
            known_from_0_to(fmt::format("pci[{}].mbps", index), snapshot_.pci[index].mbps, max_mbps);
        }
    }
    void gpu(std::size_t index) const {
        const Gpu &gpu = snapshot_.gpus[index];
        const std::string path = fmt::format("gpus[{}]", index);
        below(path + ".pci_node", gpu.pci_node, snapshot_.pci.size());
        list(path + ".cpuset", gpu.cpuset.value);
        known_from_0_to(path + ".numa_node", gpu.numa_node, static_cast<int>(max_pus) - 1);
        known_from_0_to(path + ".c2c_links", gpu.c2c_links, static_cast<int>(max_links));
        known_from_0_to(path + ".c2c_mbps", gpu.c2c_mbps, max_mbps);
        at_most(path + ".nvlinks", gpu.nvlinks.size(), max_links);
        for (const NvLink &link : gpu.nvlinks) {
            below(path + ".nvlinks: peer_gpu", link.peer_gpu, snapshot_.gpus.size());
            below(path + ".nvlinks: peer_switch", link.peer_switch, snapshot_.nvswitches.size());
            from_0_to(path + ".nvlinks: index", link.index, static_cast<int>(max_links) - 1);
            from_0_to(path + ".nvlinks: reported_mbps", link.reported_mbps, max_link_mbps);
        }
    }
    void pair(std::size_t index) const {
        const PairFacts &said = snapshot_.pairs[index];
        const std::string path = fmt::format("pairs[{}]", index);
        known_from_0_to(path + ".links", said.links, static_cast<int>(max_links));
        known_from_0_to(path + ".mbps", said.mbps, max_mbps);
        known_from_0_to(path + ".measured_mbps", said.measured_mbps, max_mbps);
    }
    /// Slices of one GPU share its address.
    void identities() const {
        for (std::size_t index = 0; index < snapshot_.gpus.size(); ++index) {
            const Gpu &gpu = snapshot_.gpus[index];
            const std::string path = fmt::format("gpus[{}]", index);
            for (std::size_t earlier = 0; earlier < index; ++earlier) {
                const Gpu &other = snapshot_.gpus[earlier];
                if (gpu.uuid.known() && other.uuid.known() && gpu.uuid.value == other.uuid.value)
                    refuse(path + ".uuid", "gpus[{}] has it too", earlier);
                if (!gpu.mig && !other.mig && gpu.pci.known() && other.pci.known() && gpu.pci.value == other.pci.value)
                    refuse(path + ".pci", "gpus[{}] is at this address too", earlier);
            }
        }
    }
    void host() const {
        for (const auto &[name, count] :
             {std::pair("host.packages", snapshot_.host.packages),
              std::pair("host.numa_nodes", snapshot_.host.numa_nodes), std::pair("host.cores", snapshot_.host.cores),
              std::pair("host.pus", snapshot_.host.pus),
              std::pair("cuda_driver_version", snapshot_.cuda_driver_version),
              std::pair("cuda_runtime_version", snapshot_.cuda_runtime_version)})
            from_0_to(name, count, std::numeric_limits<int>::max());
        at_most("host.package_list", snapshot_.host.package_list.size(), max_numa_nodes);
        at_most("host.numa_list", snapshot_.host.numa_list.size(), max_numa_nodes);
        at_most("host.core_list", snapshot_.host.core_list.size(), max_pus);
        for (const Package &package : snapshot_.host.package_list) list("host.package_list: cpuset", package.cpuset);
        for (const NumaNode &node : snapshot_.host.numa_list) {
            list("host.numa_list: cpuset", node.cpuset);
            from_0_to("host.numa_list: os_index", node.os_index, static_cast<int>(max_pus) - 1);
        }
        for (const std::string &core : snapshot_.host.core_list) list("host.core_list", core);
        if (snapshot_.host.restriction) restriction(*snapshot_.host.restriction);
    }
    void restriction(const Restriction &said) const {
        const std::string path = "host.restriction.";
        list(path + "usable_pus", said.usable_pus);
        if (said.usable_pus.empty()) refuse(path + "usable_pus", "names no processor");
        at_most(path + "hidden_nodes", said.hidden_nodes.size(), max_numa_nodes);
        if (!said.hidden_nodes.empty() && snapshot_.host.numa_list.empty())
            refuse(path + "hidden_nodes", "host.numa_list has none that are not hidden");
        for (std::size_t index = 0; index < said.hidden_nodes.size(); ++index) {
            const int hidden = said.hidden_nodes[index];
            from_0_to(path + "hidden_nodes", hidden, static_cast<int>(max_pus) - 1);
            if (index > 0 && hidden <= said.hidden_nodes[index - 1]) refuse(path + "hidden_nodes", "not ascending");
            for (const NumaNode &node : snapshot_.host.numa_list)
                if (node.os_index == hidden) refuse(path + "hidden_nodes", "{} is in host.numa_list too", hidden);
        }
    }

    const Snapshot &snapshot_;
    const std::string &origin_;
};

}  // namespace

void check_snapshot(const Snapshot &snapshot, const std::string &origin) { Checks(snapshot, origin).run(); }

}  // namespace baton::topology
