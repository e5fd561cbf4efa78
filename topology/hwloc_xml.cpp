#include <algorithm>

#include "topology/hwloc_export.hpp"
#include "topology/hwloc_pci.hpp"
#include "topology/limits.hpp"
#include "topology/machine_builder.hpp"
#include "topology/nvlink_matrix.hpp"
#include "topology/pci_ids.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_checks.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/xml_file.hpp"
#include "util/parse_number.hpp"

// hwloc's own reader is not used: it ends the process on some hostile files and tells no line, and that of version 2
// refuses what 3.0 writes. We need little of the format.
namespace baton::topology {
namespace {

using pugi::xml_node;

bool is_any(std::string_view text, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), text) != names.end();
}

class HwlocReader {
public:
    HwlocReader(std::string_view text, const std::string &origin, Source source)
        : file_(text, origin), source_(source), builder_(source) {}

    /// What to_hwloc_xml() wrote beside hwloc's objects; empty in files of others.
    std::string_view facts() const {
        for (const xml_node data : file_.root().child("object").children("userdata"))
            if (std::string_view(data.attribute("name").value()) == facts_userdata) return data.child_value();
        return {};
    }

    Snapshot read() {
        const xml_node root = file_.root();
        if (std::string_view(root.name()) != "topology")
            file_.refuse(root, "the root element is <{}>; hwloc's is <topology>", root.name());
        read_version(root);
        const xml_node machine = root.child("object");
        if (!machine) file_.refuse(root, "no <object> in <topology>");
        normal_object(machine, 0);
        read_host(machine);
        if (!builder_.snapshot.host.numa_list.empty())
            builder_.set_usable(mask(machine, "cpuset"), mask(machine, "complete_cpuset"),
                                mask(machine, "complete_nodeset"));
        place_at_machine();
        note_gaps();
        read_nvlink_matrix({file_, root, source_, objects_}, builder_);
        return builder_.finish();
    }

private:
    void read_version(xml_node root) {
        const std::string_view version = root.attribute("version").value();
        if (version.empty()) return;  // version 1 has none
        if (version.starts_with("1.") || version.starts_with("2.")) return;
        if (!version.starts_with("3.")) file_.refuse(root, "version \"{}\" of hwloc's format is not known", version);
        osdev_masks_ = true;
    }

    std::uint64_t number(xml_node object, const char *attribute) const {
        const std::string_view text = object.attribute(attribute).value();
        const auto value = core::parse_number<std::uint64_t>(text);
        if (!value) file_.refuse(object, "{}=\"{}\" is no number", attribute, text);
        return *value;
    }

    IndexSet mask(xml_node object, const char *attribute) const {
        const std::string_view text = object.attribute(attribute).value();
        if (text.find("...") != std::string_view::npos) return {};  // a set without an end: says nothing
        const auto set = IndexSet::from_mask(text);
        if (!set) file_.refuse(object, "{}=\"{}\" is no set", attribute, text.substr(0, 80));
        return *set;
    }

    /// The set of the whole machine. The attribute without "complete_" lacks what this process may not use.
    IndexSet whole(xml_node object, const char *attribute) const {
        const IndexSet set = mask(object, (std::string("complete_") + attribute).c_str());
        return set.empty() ? mask(object, attribute) : set;
    }

    void check_depth(xml_node object, int depth) const {
        if (depth > max_depth) file_.refuse(object, "objects are nested deeper than {} levels", max_depth);
    }

    template <class T>
    void at_most(xml_node object, const std::vector<T> &full, std::size_t most, const char *what) const {
        if (full.size() >= most) file_.refuse(object, "more than {} {}", most, what);
    }

    void remember(xml_node object, HwlocObjects::Entry entry) {
        if (object.attribute("gp_index")) objects_.by_gp_index.insert({number(object, "gp_index"), entry});
    }

    void normal_object(xml_node object, int depth) {
        check_depth(object, depth);
        const std::string_view type = object.attribute("type").value();
        if (type.empty()) file_.refuse(object, "an <object> without a type");
        Host &host = builder_.snapshot.host;
        if (is_any(type, {"Package", "Socket"})) {
            at_most(object, host.package_list, max_numa_nodes, "packages");
            host.package_list.push_back({whole(object, "cpuset").to_list()});
            remember(object, {-1, true});
        } else if (is_any(type, {"NUMANode", "Node"})) {
            add_numa_node(object);
        } else if (type == "Core") {
            at_most(object, host.core_list, max_pus, "cores");
            host.core_list.push_back(whole(object, "cpuset").to_list());
        } else if (type == "PU") {
            ++host.pus;
        }
        for (const xml_node child : object.children("object")) {
            const std::string_view kind = child.attribute("type").value();
            if (is_any(kind, {"Bridge", "PCIDev"}))
                io_object(child, -1, object, depth + 1);
            else if (kind != "OSDev" && kind != "Misc")
                normal_object(child, depth + 1);
        }
    }

    void add_numa_node(xml_node object) {
        NumaNode node;
        const std::uint64_t os_index = number(object, "os_index");
        if (os_index >= max_pus) file_.refuse(object, "os_index=\"{}\" is no NUMA node", os_index);
        node.os_index = static_cast<int>(os_index);
        node.cpuset = whole(object, "cpuset").to_list();
        at_most(object, builder_.snapshot.host.numa_list, max_numa_nodes, "NUMA nodes");
        if (object.attribute("local_memory")) node.memory_bytes = number(object, "local_memory");
        builder_.snapshot.host.numa_list.push_back(node);
    }

    /// The kind, or `other` if there is no room for one more: thousands of virtual functions may look like devices.
    PciKind with_room(PciKind kind) {
        const Snapshot &machine = builder_.snapshot;
        if (kind == PciKind::gpu && machine.gpus.size() >= max_gpus) {
            builder_.pass_over("GPUs", max_gpus);
        } else if (kind == PciKind::nic && machine.nics.size() >= max_nics) {
            builder_.pass_over("NICs", max_nics);
        } else if (kind == PciKind::nvswitch && machine.nvswitches.size() >= max_nvswitches) {
            builder_.pass_over("NVSwitches", max_nvswitches);
        } else {
            return kind;
        }
        return PciKind::other;
    }

    /// `holder`: the object, not an I/O object, that holds the tree.
    void io_object(xml_node object, int parent, xml_node holder, int depth) {
        check_depth(object, depth);
        PciNode node = read_hwloc_pci(file_, object, source_);
        node.parent = parent;
        if (parent < 0) {
            node.cpuset = (is_machine(holder) ? mask(holder, "cpuset") : whole(holder, "cpuset")).to_list();
            node.numa_nodes = whole(holder, "nodeset").members();
            pci_places_ += node.cpuset.size() + node.numa_nodes.size() * sizeof(node.numa_nodes[0]);
            if (pci_places_ > max_pci_places)
                file_.refuse(object, "cpusets and nodesets of PCI roots have more than {} bytes", max_pci_places);
        }
        const PciKind kind = node.kind = with_room(node.kind);
        const auto index = builder_.add_pci(std::move(node));
        if (!index) file_.refuse(object, "more than {} PCI objects", max_pci_nodes);
        if (parent < 0 && is_machine(holder)) at_machine_.push_back(*index);
        remember(object, {*index, false});
        if (kind == PciKind::gpu) add_gpu(object, *index);
        if (kind == PciKind::nic) add_nic(object, *index);
        if (kind == PciKind::nvswitch) builder_.add_switch(*index);
        for (const xml_node child : object.children("object")) {
            const std::string_view type = child.attribute("type").value();
            if (is_any(type, {"Bridge", "PCIDev"})) io_object(child, *index, holder, depth + 1);
            if (type == "OSDev") remember(child, {*index, false});
        }
    }

    void add_gpu(xml_node object, int index) {
        const PciNode &node = builder_.snapshot.pci[static_cast<std::size_t>(index)];
        const std::string fallback =
            node.name.empty() ? fmt::format("NVIDIA {:04x}:{:04x}", node.vendor, node.device) : node.name;
        Gpu &gpu = builder_.add_gpu(index);
        if (*hwloc_info(object, hidden_switches_info)) objects_.hidden_switch_nodes.push_back(index);
        std::string uuid = hwloc_info(object, "NVIDIAUUID");
        gpu.name = hwloc_info(object, "GPUModel");
        for (const xml_node child : object.children("object")) {
            if (uuid.empty()) uuid = hwloc_info(child, "NVIDIAUUID");
            if (gpu.name.empty()) gpu.name = hwloc_info(child, "GPUModel");
        }
        if (gpu.name.empty()) gpu.name = fallback;
        if (!uuid.empty()) gpu.uuid = {uuid.starts_with("GPU-") ? uuid : "GPU-" + uuid, source_};
    }

    bool is_osdev(xml_node object, const char *number, unsigned mask_bit) const {
        if (std::string_view(object.attribute("type").value()) != "OSDev") return false;
        const pugi::xml_attribute value = object.attribute("osdev_type");
        return osdev_masks_ ? (value.as_uint() >> mask_bit & 1) != 0 : std::string_view(value.value()) == number;
    }

    void add_nic(xml_node object, int index) {
        const PciNode &node = builder_.snapshot.pci[static_cast<std::size_t>(index)];
        Nic &nic = builder_.add_nic(index);
        for (const xml_node child : object.children("object")) {  // the verbs name comes before the network's
            if (is_osdev(child, "3", 5))
                nic.name = child.attribute("name").value();
            else if (is_osdev(child, "2", 4) && nic.name.empty())
                nic.name = child.attribute("name").value();
        }
        if (nic.name.empty()) nic.name = to_string(*node.address);
    }

    static bool is_machine(xml_node object) { return std::string_view(object.attribute("type").value()) == "Machine"; }

    /// Gives the roots that hang at the machine the processors of its packages and NUMA nodes. The machine's own sets
    /// will not do: the complete one also has processors that are switched off, which no part has, and the other lacks
    /// those that this process may not use.
    void place_at_machine() {
        IndexSet pus = builder_.pus_of_parts();
        if (pus.empty()) return;
        for (const int index : at_machine_) {
            PciNode &root = builder_.snapshot.pci[static_cast<std::size_t>(index)];
            pus.insert(IndexSet::from_list_or_empty(root.cpuset));
            root.cpuset = pus.to_list();
        }
    }

    void read_host(xml_node machine) {
        Host &host = builder_.snapshot.host;
        host.cores = static_cast<int>(host.core_list.size());
        host.cpu_model = hwloc_info(machine, "CPUModel");
        for (const xml_node child : machine.children("object"))
            if (host.cpu_model.empty()) host.cpu_model = cpu_model(child, 0);
        objects_.hwloc_version = hwloc_info(machine, "hwlocVersion");
        for (const xml_node child : machine.parent().children("info"))  // where version 3 has it
            if (std::string_view(child.attribute("name").value()) == "hwlocVersion")
                objects_.hwloc_version = child.attribute("value").value();
        if (std::any_of(host.core_list.begin(), host.core_list.end(), [](const auto &core) { return core.empty(); }))
            host.core_list.clear();
        if (host.package_list.empty()) host.packages = 0;
    }

    std::string cpu_model(xml_node object, int depth) const {
        std::string model = hwloc_info(object, "CPUModel");
        for (const xml_node child : object.children("object"))
            if (model.empty() && depth < 3) model = cpu_model(child, depth + 1);
        return model;
    }

    void note_gaps() {
        if (source_ != Source::hwloc_xml) return;
        if (builder_.snapshot.pci.empty())
            builder_.snapshot.gaps.push_back(
                fmt::format("{}: no PCI objects in it: GPUs and NICs are unknown", file_.origin()));
        else if (builder_.snapshot.gpus.empty())
            builder_.snapshot.gaps.push_back(fmt::format("{}: no NVIDIA GPU in it", file_.origin()));
    }

    XmlFile file_;
    Source source_;
    MachineBuilder builder_;
    HwlocObjects objects_;
    bool osdev_masks_ = false;  ///< version 3: OSDev types are bits
    std::size_t pci_places_ = 0;
    std::vector<int> at_machine_;  ///< roots in Snapshot::pci
};

/// Ignores the gaps, which name files.
bool equal_objects(Snapshot a, Snapshot b) {
    a.gaps.clear();
    b.gaps.clear();
    return a == b;
}

}  // namespace

Snapshot read_hwloc_xml(std::string_view text, const std::string &origin, Source source) {
    HwlocReader reader(text, origin, source);
    Snapshot objects = reader.read();
    check_snapshot(objects, origin);
    if (source != Source::hwloc_xml || reader.facts().empty()) return objects;
    Snapshot facts = snapshot_from_json(reader.facts(), fmt::format("{}: userdata {}", origin, facts_userdata));
    // Other tools may have changed the objects; then the objects count.
    if (equal_objects(objects, HwlocReader(to_hwloc_xml(facts), origin, source).read())) return facts;
    objects.gaps.push_back(fmt::format(
        "{}: its objects are not those that its userdata {} is about any more: it is passed over, and with it what "
        "hwloc cannot say (dead NVLinks, slices of GPUs, P2P)",
        origin, facts_userdata));
    return objects;
}

}  // namespace baton::topology
