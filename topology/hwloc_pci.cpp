#include "topology/hwloc_pci.hpp"

#include "topology/pci_ids.hpp"
#include "util/parse_number.hpp"

namespace baton::topology {
namespace {

using pugi::xml_node;

/// "0302 [10de:2335] [10de:18be] a1"
void read_type(const XmlFile &file, xml_node object, PciNode &node) {
    const std::string_view text = object.attribute("pci_type").value();
    const auto hex = [&](std::size_t at) {
        return text.size() < at + 4 ? std::nullopt : core::parse_number<std::uint32_t>(text.substr(at, 4), 16);
    };
    const auto class_id = hex(0), vendor = hex(6), device = hex(11);
    if (!class_id || !vendor || !device)
        file.refuse(object, "pci_type=\"{}\" is not of the form \"0302 [10de:2335] ...\"", text.substr(0, 80));
    node.class_id = *class_id;
    node.vendor = *vendor;
    node.device = *device;
}

void read_device(const XmlFile &file, xml_node object, Source source, PciNode &node) {
    const std::string_view address = object.attribute("pci_busid").value();
    node.address = parse_pci_address(address);
    if (!node.address) file.refuse(object, "pci_busid=\"{}\" is no PCI address", address.substr(0, 80));
    if (object.attribute("pci_type")) read_type(file, object, node);
    const double mbps = object.attribute("pci_link_speed").as_double() * 1000;  // hwloc counts in GB/s
    if (is_plausible_link(std::string_view(object.attribute("type").value()) == "Bridge", mbps))
        node.mbps = {static_cast<int>(mbps + 0.5), source};
    node.name = object.attribute("name") ? object.attribute("name").value() : hwloc_info(object, "PCIDevice");
}

PciKind kind_of(xml_node object, const PciNode &node) {
    if (std::string_view(object.attribute("subtype").value()) == "NVSwitch" ||
        (node.vendor == vendor_nvidia && node.class_id == class_other_bridge))
        return PciKind::nvswitch;
    if (node.vendor == vendor_nvidia && is_gpu_class(node.class_id)) return PciKind::gpu;
    return is_network_class(node.class_id) ? PciKind::nic : PciKind::other;
}

}  // namespace

bool is_plausible_link(bool of_bridge, double mbps) { return mbps >= (of_bridge ? 2000 : 100) && mbps < 10'000'000; }

const char *hwloc_info(xml_node object, const char *name) {
    for (const xml_node child : object.children("info"))
        if (std::string_view(child.attribute("name").value()) == name) return child.attribute("value").value();
    return "";
}

PciNode read_hwloc_pci(const XmlFile &file, xml_node object, Source source) {
    PciNode node;
    const bool bridge = std::string_view(object.attribute("type").value()) == "Bridge";
    if (bridge && std::string_view(object.attribute("bridge_type").value()).starts_with("0-")) {
        node.kind = PciKind::host_bridge;
        return node;
    }
    read_device(file, object, source, node);
    node.kind = bridge ? PciKind::bridge : kind_of(object, node);
    return node;
}

}  // namespace baton::topology
