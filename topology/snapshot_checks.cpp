#include "topology/snapshot_checks.hpp"

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
        for (std::size_t index = 0; index < snapshot_.nics.size(); ++index)
            below(fmt::format("nics[{}].pci_node", index), snapshot_.nics[index].pci_node, snapshot_.pci.size());
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
        }
    }
    void gpu(std::size_t index) const {
        const Gpu &gpu = snapshot_.gpus[index];
        const std::string path = fmt::format("gpus[{}]", index);
        below(path + ".pci_node", gpu.pci_node, snapshot_.pci.size());
        list(path + ".cpuset", gpu.cpuset.value);
        at_most(path + ".nvlinks", gpu.nvlinks.size(), max_links);
        for (const NvLink &link : gpu.nvlinks) {
            below(path + ".nvlinks: peer_gpu", link.peer_gpu, snapshot_.gpus.size());
            below(path + ".nvlinks: peer_switch", link.peer_switch, snapshot_.nvswitches.size());
        }
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
        at_most("host.package_list", snapshot_.host.package_list.size(), max_numa_nodes);
        at_most("host.numa_list", snapshot_.host.numa_list.size(), max_numa_nodes);
        at_most("host.core_list", snapshot_.host.core_list.size(), max_pus);
        for (const Package &package : snapshot_.host.package_list) list("host.package_list: cpuset", package.cpuset);
        for (const NumaNode &node : snapshot_.host.numa_list) {
            list("host.numa_list: cpuset", node.cpuset);
            below("host.numa_list: os_index", node.os_index, max_pus);
        }
        for (const std::string &core : snapshot_.host.core_list) list("host.core_list", core);
    }

    const Snapshot &snapshot_;
    const std::string &origin_;
};

}  // namespace

void check_snapshot(const Snapshot &snapshot, const std::string &origin) { Checks(snapshot, origin).run(); }

}  // namespace baton::topology
