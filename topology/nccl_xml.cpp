#include <algorithm>
#include <limits>

#include "topology/classify.hpp"
#include "topology/limits.hpp"
#include "topology/machine_builder.hpp"
#include "topology/pci_ids.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_checks.hpp"
#include "topology/xml_file.hpp"
#include "util/parse_number.hpp"

// NCCL's format:
//   <system> <cpu numaid affinity> <pci busid class link_speed link_width> ...
//     <gpu> <nvlink target count tclass/> </gpu>, or <nic> <net name/> </nic>
// - <cpu>: a NUMA node with all its host bridges, which the format does not tell apart (what is NODE elsewhere is PHB
//   here).
// - <pci> of class 0604: a switch with all its ports.
// - <nic>: a card; it lies right below the <cpu> if it is no PCI device. <net>: one of its ports.
namespace baton::topology {
namespace {

using pugi::xml_node;

class NcclReader {
public:
    NcclReader(std::string_view text, const std::string &origin) : file_(text, origin), builder_(Source::nccl_xml) {}

    Snapshot read() {
        const xml_node root = file_.root();
        if (std::string_view(root.name()) != "system")
            file_.refuse(root, "the root element is <{}>; NCCL's is <system>", root.name());
        for (const xml_node cpu : root.children("cpu")) {
            check_host(cpu);
            add_cpu(cpu);
        }
        for (const auto &[gpu, node] : gpus_) add_links(gpu, node);
        if (builder_.snapshot.pci.empty())
            builder_.snapshot.gaps.push_back(fmt::format("{}: no <cpu> in it: nothing is known", origin()));
        else if (builder_.snapshot.gpus.empty())
            builder_.snapshot.gaps.push_back(fmt::format("{}: no NVIDIA GPU in it", origin()));
        else if (!any_gpu_)
            builder_.snapshot.gaps.push_back(fmt::format("{}: no <gpu> in it: NVLinks are unknown", origin()));
        return builder_.finish();
    }

private:
    const std::string &origin() const { return file_.origin(); }

    template <class T>
    T number(xml_node node, const char *attribute, T least, T most, int base = 10) const {
        std::string_view text = node.attribute(attribute).value();
        const std::string_view all = text;
        if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
        const auto value = core::parse_number<T>(text, base);
        if (!value || *value < least || *value > most)
            file_.refuse(node, "{}=\"{}\" of <{}> is no number from {} to {}", attribute, all.substr(0, 80),
                         node.name(), least, most);
        return *value;
    }
    /// NCCL writes "" for what it could not find out.
    template <class T>
    T number_or(T missing, xml_node node, const char *attribute, T least, T most, int base = 10) const {
        return *node.attribute(attribute).value() ? number<T>(node, attribute, least, most, base) : missing;
    }

    /// NCCL writes the hosts whose GPUs one NVLink fabric joins into one file.
    void check_host(xml_node cpu) {
        const std::string_view host = cpu.attribute("host_hash").value();
        if (host_.empty()) host_ = host;
        if (!host.empty() && host != host_)
            file_.refuse(cpu, "host_hash=\"{}\" is another host than \"{}\"; a file may describe only one",
                         host.substr(0, 80), std::string_view(host_).substr(0, 80));
    }

    void add_cpu(xml_node cpu) {
        Host &host = builder_.snapshot.host;
        if (host.numa_list.size() >= max_numa_nodes) file_.refuse(cpu, "more than {} NUMA nodes", max_numa_nodes);
        const std::string_view affinity = cpu.attribute("affinity").value();
        const auto processors = IndexSet::from_mask(affinity);
        if (!processors) file_.refuse(cpu, "affinity=\"{}\" is no set of processors", affinity.substr(0, 80));
        const int numa = number_or<int>(-1, cpu, "numaid", -1, static_cast<int>(max_pus) - 1);
        if (numa >= 0) host.numa_list.push_back({numa, processors->to_list(), 0});
        host.pus += static_cast<int>(processors->members().size());
        if (host.cpu_model.empty()) host.cpu_model = cpu.attribute("vendor").value();

        PciNode bridge;
        bridge.kind = PciKind::host_bridge;
        bridge.cpuset = processors->to_list();
        if (numa >= 0) bridge.numa_nodes.push_back(numa);
        const int root = add_node(cpu, bridge);
        for (const xml_node child : cpu.children("pci")) add_pci(child, root, 1);
        for (const xml_node nic : cpu.children("nic")) {
            PciNode device;
            device.kind = PciKind::nic;
            device.parent = root;
            add_nics(nic, add_node(nic, device));
        }
    }

    int add_node(xml_node element, PciNode node) {
        const auto index = builder_.add_pci(std::move(node));
        if (!index) file_.refuse(element, "more than {} PCI devices", max_pci_nodes);
        return *index;
    }

    void add_pci(xml_node pci, int parent, int depth) {
        if (depth > max_depth) file_.refuse(pci, "<pci> are nested deeper than {} levels", max_depth);
        PciNode node;
        node.parent = parent;
        const std::string_view busid = pci.attribute("busid").value();
        node.address = parse_pci_address(busid);
        if (!node.address) file_.refuse(pci, "busid=\"{}\" is no PCI address", busid.substr(0, 80));
        node.class_id = number_or<std::uint32_t>(0, pci, "class", 0, 0xffffff, 16) >> 8;
        node.vendor = number_or<std::uint32_t>(0, pci, "vendor", 0, 0xffff, 16);
        node.device = number_or<std::uint32_t>(0, pci, "device", 0, 0xffff, 16);
        // Linux says 255 lanes where there is no link. NCCL adds up the lanes of NICs that it merges.
        const int lanes = number_or<int>(0, pci, "link_width", 0, std::numeric_limits<int>::max());
        if (const auto mbps = pcie_link_mbps(pci.attribute("link_speed").value(), lanes))
            node.mbps = {*mbps, Source::nccl_xml};
        const bool gpu =
            pci.child("gpu") || (is_gpu_class(node.class_id) && (node.vendor == 0 || node.vendor == vendor_nvidia));
        const bool nic = pci.child("nic") || is_network_class(node.class_id);
        node.kind = gpu                                                                   ? PciKind::gpu
                    : nic                                                                 ? PciKind::nic
                    : node.class_id == class_pci_bridge                                   ? PciKind::pci_switch
                    : node.vendor == vendor_nvidia && node.class_id == class_other_bridge ? PciKind::nvswitch
                                                                                          : PciKind::other;
        const int index = add_node(pci, node);
        if (gpu) add_gpu(pci, index);
        if (nic) add_nics(pci.child("nic"), index);
        for (const xml_node child : pci.children("pci")) add_pci(child, index, depth + 1);
    }

    void add_gpu(xml_node pci, int index) {
        if (builder_.snapshot.gpus.size() >= max_gpus) return builder_.pass_over("GPUs", max_gpus);
        const xml_node element = pci.child("gpu");
        Gpu &gpu = builder_.add_gpu(index);
        const int sm = number_or<int>(0, element, "sm", 0, 1000);
        const PciNode &node = builder_.snapshot.pci[static_cast<std::size_t>(index)];
        gpu.name = sm > 0             ? fmt::format("GPU of sm_{}", sm)
                   : node.device != 0 ? fmt::format("NVIDIA {:04x}:{:04x}", node.vendor, node.device)
                                      : "GPU";
        if (!element) return;
        any_gpu_ = true;
        gpus_.emplace_back(element, index);
        if (const xml_node c2c = element.child("c2c")) {
            const int count = number_or<int>(1, c2c, "count", 0, static_cast<int>(max_links));
            const int mbps = number_or<int>(0, c2c, "bw", 0, max_link_mbps);
            if (count > 0) gpu.c2c_links = {count, Source::nccl_xml};  // 0: like a GPU without <c2c>
            if (count > 0 && mbps > 0) gpu.c2c_mbps = {count * mbps, Source::nccl_xml};
        }
    }

    void add_nics(xml_node element, int index) {
        const auto nets = element.children("net");
        if (nets.begin() == nets.end()) add_nic("", index);
        for (const xml_node net : nets) add_nic(net.attribute("name").value(), index);
    }

    void add_nic(const std::string &name, int index) {
        if (builder_.snapshot.nics.size() >= max_nics) return builder_.pass_over("NICs", max_nics);
        const PciNode &node = builder_.snapshot.pci[static_cast<std::size_t>(index)];
        Nic &nic = builder_.add_nic(index);
        nic.name = !name.empty() ? name : node.address ? to_string(*node.address) : "virtual";
    }

    static int nvlink_version_of_sm(int sm) {
        if (sm < 60) return 0;
        return sm < 70 ? 1 : sm < 80 ? 2 : sm < 90 ? 5 : sm < 100 ? 6 : 7;
    }

    int node_at(const std::optional<PciAddress> &address) const {
        const auto &pci = builder_.snapshot.pci;
        for (std::size_t index = 0; address && index < pci.size(); ++index)
            if (pci[index].address == address) return static_cast<int>(index);
        return -1;
    }

    void add_links(xml_node element, int node) {
        const int sm = number_or<int>(0, element, "sm", 0, 1000);
        std::size_t entries = 0;
        for (const xml_node nvlink : element.children("nvlink")) {
            if (++entries > max_links) file_.refuse(nvlink, "more than {} <nvlink> of one GPU", max_links);
            MachineBuilder::Links links;
            links.from_node = node;
            links.count = number<int>(nvlink, "count", 1, static_cast<int>(max_links));
            links.version = nvlink_version_of_sm(sm);
            links.mbps = sm == 86 ? ga10x_link_mbps : nominal_link_mbps(links.version);
            const std::string_view target = nvlink.attribute("target").value();
            const std::uint32_t whole_class = number_or<std::uint32_t>(0, nvlink, "tclass", 0, 0xffffff, 16);
            const std::uint32_t target_class = whole_class >> 8;
            const int peer = node_at(parse_pci_address(target));
            // "fffffff:ff:ff.0" stands for switches that a virtual machine hides.
            const bool hidden = target.starts_with("fffffff");
            if (peer >= 0 && builder_.snapshot.pci[static_cast<std::size_t>(peer)].kind == PciKind::gpu) {
                links.to_node = peer;
            } else if (whole_class == whole_class_npu) {
                links.far_end = FarEnd::cpu;
            } else if (target_class == class_other_bridge && !hidden) {
                links.to_node = switch_at(nvlink, target);
                links.far_end = FarEnd::nvswitch;
            } else if (is_gpu_class(target_class)) {
                links.far_end = FarEnd::gpu;  // one that is not in the file
            } else {
                links.far_end = hidden || target_class == 0 || target_class == class_other_bridge
                                    ? FarEnd::hidden_switch
                                    : FarEnd::cpu;
            }
            builder_.add_links(links);
        }
    }

    /// NVSwitches are in the file only as the far ends of links. Returns -1 if there is no room for one more.
    int switch_at(xml_node nvlink, std::string_view target) {
        const auto address = parse_pci_address(target);
        if (!address) file_.refuse(nvlink, "target=\"{}\" is no PCI address", target.substr(0, 80));
        const auto known = std::find_if(switches_.begin(), switches_.end(),
                                        [&](const auto &entry) { return entry.first == *address; });
        if (known != switches_.end()) return known->second;
        if (switches_.size() >= max_nvswitches) {
            builder_.pass_over("NVSwitches", max_nvswitches);
            return -1;
        }
        int index = node_at(address);
        if (index < 0) {
            PciNode node;
            node.kind = PciKind::nvswitch;
            node.address = address;
            node.vendor = vendor_nvidia;
            node.class_id = class_other_bridge;
            index = add_node(nvlink, node);
        }
        builder_.add_switch(index);
        switches_.emplace_back(*address, index);
        return index;
    }

    XmlFile file_;
    MachineBuilder builder_;
    std::vector<std::pair<xml_node, int>> gpus_;
    std::vector<std::pair<PciAddress, int>> switches_;
    bool any_gpu_ = false;
    std::string host_;  // the first host_hash
};

}  // namespace

Snapshot read_nccl_xml(std::string_view text, const std::string &origin) {
    Snapshot machine = NcclReader(text, origin).read();
    check_snapshot(machine, origin);
    return machine;
}

}  // namespace baton::topology
