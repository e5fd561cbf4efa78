#include "topology/hwloc_export.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "topology/graph.hpp"
#include "topology/index_set.hpp"
#include "topology/nvlink_matrix.hpp"
#include "topology/pci_ids.hpp"
#include "topology/printable.hpp"
#include "topology/processor_tree.hpp"
#include "topology/snapshot_json.hpp"

namespace baton::topology {
namespace {

using pugi::xml_node;

/// Makes each GPU that NVML or CUDA shows, but no PCI tree (as in containers without sysfs), a root of its own.
Snapshot with_all_gpus_on_pci(Snapshot snapshot) {
    for (Gpu &gpu : snapshot.gpus) {
        if (gpu.pci_node >= 0 || !gpu.pci.known()) continue;
        for (std::size_t index = 0; index < snapshot.pci.size() && gpu.pci_node < 0; ++index)
            if (snapshot.pci[index].address == gpu.pci.value) gpu.pci_node = static_cast<int>(index);  // another slice
        if (gpu.pci_node >= 0) continue;
        PciNode node;
        node.kind = PciKind::gpu;
        node.address = gpu.pci.value;
        node.vendor = vendor_nvidia;
        node.class_id = class_3d;
        node.cpuset = gpu.cpuset.value;
        if (gpu.numa_node.known()) node.numa_nodes = {gpu.numa_node.value};
        gpu.pci_node = static_cast<int>(snapshot.pci.size());
        snapshot.pci.push_back(node);
    }
    return snapshot;
}

/// The snapshot as text that XML need not escape: hwloc compares its length before anything is unescaped.
std::string facts_text(const Snapshot &snapshot) {
    std::string text;
    for (const char character : snapshot_to_json(snapshot)) {
        const bool markup = character == '<' || character == '>' || character == '&';  // within JSON's strings only
        text += markup ? fmt::format("\\u{:04x}", static_cast<unsigned>(character)) : std::string(1, character);
    }
    return text;
}

class Exporter {
public:
    explicit Exporter(const Snapshot &snapshot)
        : facts_(facts_text(snapshot)),
          snapshot_(with_all_gpus_on_pci(snapshot)),
          children_(snapshot_.pci.size()),
          gp_of_pci_(snapshot_.pci.size(), 0) {
        for (std::size_t index = 0; index < snapshot_.pci.size(); ++index)
            if (const int parent = snapshot_.pci[index].parent; parent >= 0)
                children_[static_cast<std::size_t>(parent)].push_back(static_cast<int>(index));
    }

    std::string write() {
        xml_node declaration = document_.append_child(pugi::node_declaration);
        declaration.append_attribute("version") = "1.0";
        declaration.append_attribute("encoding") = "UTF-8";
        document_.append_child(pugi::node_doctype).set_value("topology SYSTEM \"hwloc2.dtd\"");
        xml_node topology = document_.append_child("topology");
        topology.append_attribute("version") = "2.0";
        add_processors(topology, processor_tree(snapshot_), IndexSet());
        add_matrix(topology);
        std::ostringstream text;
        document_.save(text, "  ");
        return text.str();
    }

private:
    static void set(xml_node object, const char *name, const IndexSet &usable, const IndexSet &complete) {
        object.append_attribute(name) = usable.to_mask().c_str();
        object.append_attribute((std::string("complete_") + name).c_str()) = complete.to_mask().c_str();
    }
    void set_cpus(xml_node object, const IndexSet &pus) const { set(object, "cpuset", usable_of(snapshot_, pus), pus); }

    static void info(xml_node object, const char *name, const std::string &value) {
        xml_node result = object.append_child("info");
        result.append_attribute("name") = name;
        result.append_attribute("value") = printable(value).c_str();
    }

    IndexSet seen(const IndexSet &nodes) const {
        IndexSet result;
        for (const int node : nodes.members())
            if (!is_hidden(snapshot_, node)) result.insert(node);
        return result;
    }

    /// `above`: NUMA nodes of the parts around this one, which are near it too.
    void add_processors(xml_node parent, const ProcessorPart &part, IndexSet above) {
        xml_node object = parent.append_child("object");
        object.append_attribute("type") = part.type.c_str();
        if (part.os_index >= 0) object.append_attribute("os_index") = part.os_index;
        set_cpus(object, part.pus);
        IndexSet all_nodes = numa_nodes_of(part);
        all_nodes.insert(above);
        if (const auto &restriction = snapshot_.host.restriction; restriction && part.type == "Machine")
            for (const int node : restriction->hidden_nodes) all_nodes.insert(node);
        const IndexSet nodes = seen(all_nodes);
        set(object, "nodeset", nodes, all_nodes);
        object.append_attribute("gp_index") = next_gp_++;
        if (part.type == "Machine") {
            object.append_attribute("allowed_cpuset") = usable_of(snapshot_, part.pus).to_mask().c_str();
            object.append_attribute("allowed_nodeset") = nodes.to_mask().c_str();
            info(object, "Backend", "Baton");
            if (!snapshot_.host.cpu_model.empty()) info(object, "CPUModel", snapshot_.host.cpu_model);
            add_facts(object);
        }
        for (const NumaNode &node : part.memory) {
            if (is_hidden(snapshot_, node.os_index)) continue;
            add_memory(object, node);
            if (!node.cpuset.empty()) above.insert(node.os_index);
        }
        for (const ProcessorPart &child : part.children) add_processors(object, child, above);
        // The machine takes what no smaller part has taken.
        for (const NumaNode &node : part.memory) add_pci_roots(object, {node.os_index});
        if (const auto own = numa_nodes_of(part).members(); own.size() > 1) add_pci_roots(object, own);
        if (part.type == "Machine") add_pci_roots(object, {});
    }

    void add_facts(xml_node machine) const {
        xml_node facts = machine.append_child("userdata");
        facts.append_attribute("name") = facts_userdata;
        facts.append_attribute("length") = static_cast<unsigned>(facts_.size());
        facts.text().set(facts_.c_str());
    }

    void add_memory(xml_node parent, const NumaNode &node) {
        xml_node object = parent.append_child("object");
        object.append_attribute("type") = "NUMANode";
        object.append_attribute("os_index") = node.os_index;
        set_cpus(object, IndexSet::from_list_or_empty(node.cpuset));
        IndexSet self;
        self.insert(node.os_index);
        set(object, "nodeset", self, self);
        object.append_attribute("gp_index") = next_gp_++;
        object.append_attribute("local_memory") = std::to_string(node.memory_bytes).c_str();
    }

    /// Adds the trees near these NUMA nodes; with none, all trees that no other call has placed.
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
        if (node.kind == PciKind::nic && !node.address) return;  // a virtual one of NCCL's, no PCI device
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
        for (const int child : children_[static_cast<std::size_t>(index)]) add_pci(result, child, bridges_above + 1);
    }

    /// Domain, first bus and last bus.
    std::vector<std::uint32_t> buses_below(int index) const {
        std::vector<std::uint32_t> buses{0, 0xff, 0};
        std::vector<int> open = children_[static_cast<std::size_t>(index)];
        while (!open.empty()) {
            const int node = open.back();
            open.pop_back();
            if (const auto &address = snapshot_.pci[static_cast<std::size_t>(node)].address)
                buses = {address->domain, std::min(buses[1], address->bus), std::max(buses[2], address->bus)};
            for (const int child : children_[static_cast<std::size_t>(node)]) open.push_back(child);
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
            if (nic.pci_node != index || std::string_view(element.attribute("type").value()) != "PCIDev") continue;
            xml_node device = element.append_child("object");
            device.append_attribute("type") = "OSDev";
            device.append_attribute("gp_index") = next_gp_++;
            device.append_attribute("name") = printable(nic.name).c_str();
            device.append_attribute("osdev_type") = nic.kind == NicKind::ethernet ? "2" : "3";
        }
    }

    static bool to_unseen_switch(const NvLink &link) {
        return link.active && (link.far_end == FarEnd::hidden_switch || link.far_end == FarEnd::unknown);
    }

    /// The matrix from GPUs to each other, and to switches that can be seen. hwloc's transformations want the switches
    /// last.
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

    const std::string facts_;
    const Snapshot snapshot_;
    pugi::xml_document document_;
    std::vector<std::vector<int>> children_;  ///< of each node of the PCI trees
    std::vector<int> gp_of_pci_;              ///< 0: not written yet
    int next_gp_ = 1;
};

}  // namespace

std::string to_hwloc_xml(const Snapshot &snapshot) { return Exporter(snapshot).write(); }

}  // namespace baton::topology
