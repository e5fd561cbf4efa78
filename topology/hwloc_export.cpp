#include "topology/hwloc_export.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "topology/graph.hpp"
#include "topology/index_set.hpp"
#include "topology/nvlink_matrix.hpp"
#include "topology/pci_ids.hpp"

namespace baton::topology {
namespace {

using pugi::xml_node;

IndexSet set_of(const std::string &list) { return IndexSet::from_list(list).value_or(IndexSet()); }

/// hwloc's order of siblings. REQUIRES: neither is empty.
bool first_is_lower(const IndexSet &a, const IndexSet &b) { return a.members().front() < b.members().front(); }

bool contains(const IndexSet &outer, const IndexSet &inner) {
    IndexSet both = outer;
    both.insert(inner);
    return both == outer;
}

/// hwloc wants a strict tree whose sets add up; what a Snapshot does not know is made the simplest thing that fits.
class Exporter {
public:
    explicit Exporter(const Snapshot &snapshot) : snapshot_(snapshot), gp_of_pci_(snapshot.pci.size(), 0) {}

    std::string write() {
        collect_processors();
        xml_node declaration = document_.append_child(pugi::node_declaration);
        declaration.append_attribute("version") = "1.0";
        declaration.append_attribute("encoding") = "UTF-8";
        document_.append_child(pugi::node_doctype).set_value("topology SYSTEM \"hwloc2.dtd\"");
        xml_node topology = document_.append_child("topology");
        topology.append_attribute("version") = "2.0";
        machine_ = object(topology, "Machine", all_pus_, all_nodes_);
        machine_.append_attribute("os_index") = 0;
        for (const char *allowed : {"allowed_cpuset", "allowed_nodeset"})
            machine_.append_attribute(allowed) =
                (std::string_view(allowed) == "allowed_cpuset" ? all_pus_ : all_nodes_).to_mask().c_str();
        info(machine_, "Backend", "Baton");
        if (!snapshot_.host.cpu_model.empty()) info(machine_, "CPUModel", snapshot_.host.cpu_model);
        add_nodes_outside(machine_);
        for (const IndexSet &package : packages_) add_package(package);
        add_pci_roots(machine_, {});
        add_matrix(topology);
        std::ostringstream text;
        document_.save(text, "  ");
        return text.str();
    }

private:
    /// Packages that cover all processors, NUMA nodes within them: as in the Snapshot where that is so, else one.
    void collect_processors() {
        for (const Package &package : snapshot_.host.package_list) packages_.push_back(set_of(package.cpuset));
        for (const IndexSet &package : packages_) all_pus_.insert(package);
        for (const NumaNode &node : snapshot_.host.numa_list) all_pus_.insert(set_of(node.cpuset));
        if (all_pus_.empty()) all_pus_.insert(0);
        bool partition = !packages_.empty();
        IndexSet covered;
        for (const IndexSet &package : packages_) {
            partition = partition && !package.empty() && !package.intersects(covered);
            covered.insert(package);
        }
        if (!partition || !(covered == all_pus_)) packages_ = {all_pus_};
        std::sort(packages_.begin(), packages_.end(), first_is_lower);
        for (const std::string &core : snapshot_.host.core_list)
            if (!core.empty()) cores_.push_back(set_of(core));
        std::sort(cores_.begin(), cores_.end(), first_is_lower);
        for (const NumaNode &node : snapshot_.host.numa_list) {
            const IndexSet near = set_of(node.cpuset);
            const bool taken = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto &other) {
                return other.os_index == node.os_index || (!near.empty() && near.intersects(set_of(other.cpuset)));
            });
            if (taken) continue;
            nodes_.push_back(node);
        }
        if (nodes_.empty()) nodes_.push_back({0, all_pus_.to_list(), 0});
        for (const NumaNode &node : nodes_) all_nodes_.insert(node.os_index);
    }

    xml_node object(xml_node parent, const char *type, const IndexSet &pus, const IndexSet &nodes) {
        xml_node result = parent.append_child("object");
        result.append_attribute("type") = type;
        for (const char *name : {"cpuset", "complete_cpuset"}) result.append_attribute(name) = pus.to_mask().c_str();
        for (const char *name : {"nodeset", "complete_nodeset"})
            result.append_attribute(name) = nodes.to_mask().c_str();
        result.append_attribute("gp_index") = next_gp_++;
        return result;
    }

    static void info(xml_node object, const char *name, const std::string &value) {
        xml_node result = object.append_child("info");
        result.append_attribute("name") = name;
        result.append_attribute("value") = value.c_str();
    }

    void add_numa_node(xml_node parent, const NumaNode &node) {
        IndexSet self;
        self.insert(node.os_index);
        xml_node result = object(parent, "NUMANode", set_of(node.cpuset), self);
        result.append_attribute("os_index") = node.os_index;
        result.append_attribute("local_memory") = std::to_string(node.memory_bytes).c_str();
    }

    /// Memory without processors, and nodes over several packages, lie at the machine.
    void add_nodes_outside(xml_node parent) {
        for (const NumaNode &node : nodes_)
            if (package_of(node) < 0) add_numa_node(parent, node);
    }

    int package_of(const NumaNode &node) const {
        const IndexSet near = set_of(node.cpuset);
        for (std::size_t index = 0; !near.empty() && index < packages_.size(); ++index)
            if (contains(packages_[index], near)) return static_cast<int>(index);
        return -1;
    }

    void add_package(const IndexSet &pus) {
        std::vector<NumaNode> inside;
        IndexSet numbers = all_nodes_without_package();
        for (const NumaNode &node : nodes_)
            if (const int package = package_of(node);
                package >= 0 && packages_[static_cast<std::size_t>(package)] == pus)
                inside.push_back(node);
        std::sort(inside.begin(), inside.end(), [](const NumaNode &a, const NumaNode &b) {
            return first_is_lower(set_of(a.cpuset), set_of(b.cpuset));
        });
        for (const NumaNode &node : inside) numbers.insert(node.os_index);
        xml_node package = object(machine_, "Package", pus, numbers);
        package.append_attribute("os_index") = next_package_++;
        const bool one = inside.size() == 1 && set_of(inside[0].cpuset) == pus;
        if (one) add_numa_node(package, inside[0]);
        IndexSet left = pus;
        if (!one) {
            for (const NumaNode &node : inside) {
                IndexSet self = all_nodes_without_package();
                self.insert(node.os_index);
                xml_node group = object(package, "Group", set_of(node.cpuset), self);
                add_numa_node(group, node);
                add_cores(group, set_of(node.cpuset), self);
                add_pci_roots(group, {node.os_index});
                left = without(left, set_of(node.cpuset));
            }
        }
        add_cores(package, left, numbers);
        if (one) add_pci_roots(package, {inside[0].os_index});
    }

    /// What lies at the machine is near everything below it.
    IndexSet all_nodes_without_package() const {
        IndexSet numbers;
        for (const NumaNode &node : nodes_)
            if (package_of(node) < 0 && !node.cpuset.empty()) numbers.insert(node.os_index);
        return numbers;
    }

    static IndexSet without(const IndexSet &set, const IndexSet &removed) {
        IndexSet result;
        for (const int index : set.members()) {
            IndexSet one;
            one.insert(index);
            if (!one.intersects(removed)) result.insert(index);
        }
        return result;
    }

    /// Cores that lie in `pus`, each with its processing units; what is in no core stands alone.
    void add_cores(xml_node parent, const IndexSet &pus, const IndexSet &nodes) {
        IndexSet left = pus;
        int number = 0;
        for (const IndexSet &core : cores_) {
            if (!contains(left, core)) continue;
            left = without(left, core);
            xml_node element = object(parent, "Core", core, nodes);
            element.append_attribute("os_index") = number++;
            for (const int pu : core.members()) add_pu(element, pu, nodes);
        }
        for (const int pu : left.members()) add_pu(parent, pu, nodes);
    }

    void add_pu(xml_node parent, int pu, const IndexSet &nodes) {
        IndexSet self;
        self.insert(pu);
        object(parent, "PU", self, nodes).append_attribute("os_index") = pu;
    }

    /// The trees that are near these NUMA nodes; with none, those that no other call has placed.
    void add_pci_roots(xml_node parent, const std::vector<int> &near) {
        for (std::size_t index = 0; index < snapshot_.pci.size(); ++index) {
            const PciNode &node = snapshot_.pci[index];
            if (node.parent >= 0 || gp_of_pci_[index] != 0) continue;
            if (near.empty() || node.numa_nodes == near) add_pci(parent, static_cast<int>(index), 0);
        }
    }

    static bool is_bridge(const PciNode &node) {
        return node.kind == PciKind::host_bridge || node.kind == PciKind::bridge || node.kind == PciKind::pci_switch;
    }

    void add_pci(xml_node parent, int index, int bridges_above) {
        const PciNode &node = snapshot_.pci[static_cast<std::size_t>(index)];
        xml_node result = parent.append_child("object");
        result.append_attribute("type") = is_bridge(node) ? "Bridge" : "PCIDev";
        gp_of_pci_[static_cast<std::size_t>(index)] = next_gp_;
        result.append_attribute("gp_index") = next_gp_++;
        if (node.kind == PciKind::nvswitch) result.append_attribute("subtype") = "NVSwitch";
        if (is_bridge(node)) {
            const std::vector<std::uint32_t> buses = buses_below(index);
            result.append_attribute("bridge_type") = node.kind == PciKind::host_bridge ? "0-1" : "1-1";
            result.append_attribute("depth") = bridges_above;
            result.append_attribute("bridge_pci") =
                fmt::format("{:04x}:[{:02x}-{:02x}]", buses[0], buses[1], buses[2]).c_str();
        }
        if (node.kind != PciKind::host_bridge) {
            const PciAddress address = node.address.value_or(PciAddress());
            result.append_attribute("pci_busid") = to_string(address).c_str();
            result.append_attribute("pci_type") =
                fmt::format("{:04x} [{:04x}:{:04x}] [0000:0000] 00", node.class_id, node.vendor, node.device).c_str();
            result.append_attribute("pci_link_speed") = fmt::format("{:.6f}", node.mbps.value / 1000.0).c_str();
            if (!node.name.empty()) info(result, "PCIDevice", node.name);
        }
        add_device(result, index);
        for (const int child : pci_children(snapshot_, index)) add_pci(result, child, bridges_above + 1);
    }

    /// Domain, first and last bus.
    std::vector<std::uint32_t> buses_below(int index) const {
        std::vector<std::uint32_t> buses{0, 0xff, 0};
        std::vector<int> open = pci_children(snapshot_, index);
        while (!open.empty()) {
            const int node = open.back();
            open.pop_back();
            if (const auto &address = snapshot_.pci[static_cast<std::size_t>(node)].address)
                buses = {address->domain, std::min(buses[1], address->bus), std::max(buses[2], address->bus)};
            for (const int child : pci_children(snapshot_, node)) open.push_back(child);
        }
        if (buses[1] > buses[2]) buses[1] = buses[2];
        return buses;
    }

    void add_device(xml_node element, int index) {
        for (const Gpu &gpu : snapshot_.gpus) {
            if (gpu.pci_node != index) continue;
            if (gpu.uuid.known()) info(element, "NVIDIAUUID", gpu.uuid.value);
            if (!gpu.name.empty()) info(element, "GPUModel", gpu.name);
            if (std::any_of(gpu.nvlinks.begin(), gpu.nvlinks.end(), to_unseen_switch))
                info(element, hidden_switches_info, "1");
            break;  // slices of one GPU are one PCI device
        }
        for (const Nic &nic : snapshot_.nics) {
            if (nic.pci_node != index) continue;
            xml_node device = element.append_child("object");
            device.append_attribute("type") = "OSDev";
            device.append_attribute("gp_index") = next_gp_++;
            device.append_attribute("name") = nic.name.c_str();
            device.append_attribute("osdev_type") = nic.kind == NicKind::ethernet ? "2" : "3";
        }
    }

    static bool to_unseen_switch(const NvLink &link) {
        return link.active && (link.far_end == FarEnd::hidden_switch || link.far_end == FarEnd::unknown);
    }

    /// GPUs to each other, and to switches that can be seen; hwloc's transformations want the switches last.
    void add_matrix(xml_node topology) {
        std::vector<int> nodes;
        std::vector<std::size_t> gpus;
        for (std::size_t index = 0; index < snapshot_.gpus.size(); ++index)
            if (const int node = snapshot_.gpus[index].pci_node;
                node >= 0 && std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
                nodes.push_back(node);
                gpus.push_back(index);
            }
        for (const NvSwitch &nvswitch : snapshot_.nvswitches)
            if (nvswitch.pci_node >= 0) nodes.push_back(nvswitch.pci_node);
        const std::size_t n = nodes.size();
        std::vector<std::uint64_t> values(n * n, 0);
        const Graph graph = make_graph(snapshot_);
        for (std::size_t row = 0; row < gpus.size(); ++row) {
            for (std::size_t column = 0; column < gpus.size(); ++column) {
                const Pair &pair = graph.pair(gpus[row], gpus[column]);
                if (pair.kind.value == LinkKind::NVLINK || (pair.kind.value == LinkKind::NVSWITCH && n == gpus.size()))
                    values[row * n + column] = static_cast<std::uint64_t>(pair.nominal_mbps.value);
            }
            for (const NvLink &link : snapshot_.gpus[gpus[row]].nvlinks) {
                if (!link.active || link.peer_switch < 0) continue;
                const int node = snapshot_.nvswitches[static_cast<std::size_t>(link.peer_switch)].pci_node;
                const auto column = static_cast<std::size_t>(
                    std::find(nodes.begin() + static_cast<std::ptrdiff_t>(gpus.size()), nodes.end(), node) -
                    nodes.begin());
                if (node < 0 || column >= n) continue;
                values[row * n + column] += static_cast<std::uint64_t>(link_mbps(link));
                values[column * n + row] = values[row * n + column];
            }
        }
        if (n < 2 || std::all_of(values.begin(), values.end(), [](auto value) { return value == 0; })) return;
        for (std::size_t index = 0; index < n; ++index) values[index * n + index] = 1'000'000;  // as hwloc does
        write_matrix(topology, nodes, values);
    }

    void write_matrix(xml_node topology, const std::vector<int> &nodes, const std::vector<std::uint64_t> &values) {
        xml_node matrix = topology.append_child("distances2");
        matrix.append_attribute("type") = "PCIDev";
        matrix.append_attribute("nbobjs") = static_cast<unsigned>(nodes.size());
        matrix.append_attribute("kind") = "10";  // told by the user; bandwidth
        matrix.append_attribute("name") = "NVLinkBandwidth";
        matrix.append_attribute("indexing") = "gp";
        const auto part = [&](const char *name, const std::string &text) {
            xml_node element = matrix.append_child(name);
            element.append_attribute("length") = static_cast<unsigned>(text.size());
            element.text().set(text.c_str());
        };
        std::string indexes;
        for (const int node : nodes) indexes += fmt::format("{} ", gp_of_pci_[static_cast<std::size_t>(node)]);
        part("indexes", indexes);
        for (std::size_t row = 0; row < nodes.size(); ++row) {
            std::string line;
            for (std::size_t column = 0; column < nodes.size(); ++column)
                line += fmt::format("{} ", values[row * nodes.size() + column]);
            part("u64values", line);
        }
    }

    const Snapshot &snapshot_;
    pugi::xml_document document_;
    xml_node machine_;
    std::vector<IndexSet> packages_, cores_;  ///< in hwloc's order
    std::vector<NumaNode> nodes_;
    IndexSet all_pus_, all_nodes_;
    std::vector<int> gp_of_pci_;  ///< 0: not written yet
    int next_gp_ = 1, next_package_ = 0;
};

}  // namespace

std::string to_hwloc_xml(const Snapshot &snapshot) { return Exporter(snapshot).write(); }

}  // namespace baton::topology
