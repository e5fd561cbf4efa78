#include "topology/names.hpp"

#include <array>
#include <utility>

namespace baton::topology {
namespace {

template <class E>
struct Entry {
    E value;
    std::string_view name;
};

template <class E>
struct Names;

template <>
struct Names<Source> {
    static constexpr auto list = std::to_array<Entry<Source>>({{Source::none, "none"},
                                                               {Source::nvml, "nvml"},
                                                               {Source::cuda, "cuda"},
                                                               {Source::hwloc, "hwloc"},
                                                               {Source::sysfs, "sysfs"},
                                                               {Source::table, "table"},
                                                               {Source::hwloc_xml, "hwloc_xml"},
                                                               {Source::nccl_xml, "nccl_xml"},
                                                               {Source::override_file, "override"},
                                                               {Source::probe, "probe"},
                                                               {Source::measured, "measured"}});
};

template <>
struct Names<LinkKind> {
    static constexpr auto list = std::to_array<Entry<LinkKind>>({{LinkKind::SELF, "SELF"},
                                                                 {LinkKind::SAME_DEVICE, "SAME_DEVICE"},
                                                                 {LinkKind::NVLINK, "NVLINK"},
                                                                 {LinkKind::NVSWITCH, "NVSWITCH"},
                                                                 {LinkKind::C2C, "C2C"},
                                                                 {LinkKind::PIX, "PIX"},
                                                                 {LinkKind::PXB, "PXB"},
                                                                 {LinkKind::PHB, "PHB"},
                                                                 {LinkKind::NODE, "NODE"},
                                                                 {LinkKind::SYS, "SYS"},
                                                                 {LinkKind::NONE, "NONE"}});
};

template <>
struct Names<PciKind> {
    static constexpr auto list = std::to_array<Entry<PciKind>>({{PciKind::host_bridge, "host_bridge"},
                                                                {PciKind::bridge, "bridge"},
                                                                {PciKind::pci_switch, "switch"},
                                                                {PciKind::gpu, "gpu"},
                                                                {PciKind::nic, "nic"},
                                                                {PciKind::nvswitch, "nvswitch"},
                                                                {PciKind::other, "other"}});
};

template <>
struct Names<NicKind> {
    static constexpr auto list = std::to_array<Entry<NicKind>>(
        {{NicKind::ethernet, "ethernet"}, {NicKind::infiniband, "infiniband"}, {NicKind::other, "other"}});
};

template <>
struct Names<FarEnd> {
    static constexpr auto list = std::to_array<Entry<FarEnd>>({{FarEnd::unknown, "unknown"},
                                                               {FarEnd::gpu, "gpu"},
                                                               {FarEnd::nvswitch, "nvswitch"},
                                                               {FarEnd::hidden_switch, "hidden_switch"},
                                                               {FarEnd::cpu, "cpu"}});
};

template <>
struct Names<P2pStatus> {
    static constexpr auto list =
        std::to_array<Entry<P2pStatus>>({{P2pStatus::ok, "ok"},
                                         {P2pStatus::chipset_not_supported, "chipset not supported"},
                                         {P2pStatus::gpu_not_supported, "GPU not supported"},
                                         {P2pStatus::ioh_topology_not_supported, "PCIe topology not supported"},
                                         {P2pStatus::disabled_by_regkey, "disabled by a driver setting"},
                                         {P2pStatus::not_supported, "not supported"},
                                         {P2pStatus::unknown, "unknown"}});
};

template <>
struct Names<CommonAncestor> {
    static constexpr auto list = std::to_array<Entry<CommonAncestor>>({{CommonAncestor::internal, "internal"},
                                                                       {CommonAncestor::single, "single"},
                                                                       {CommonAncestor::multiple, "multiple"},
                                                                       {CommonAncestor::host_bridge, "host_bridge"},
                                                                       {CommonAncestor::node, "node"},
                                                                       {CommonAncestor::system, "system"}});
};

template <>
struct Names<Advised> {
    static constexpr auto list = std::to_array<Entry<Advised>>({{Advised::none, "-"},
                                                                {Advised::kernel_and_copy_engine, "kernel+ce"},
                                                                {Advised::copy_engine, "ce"},
                                                                {Advised::host_staging, "host"}});
};

template <class E>
std::string_view name_in_list(E value) {
    for (const auto &entry : Names<E>::list)
        if (entry.value == value) return entry.name;
    return "unknown";  // NVML may answer with a number that is newer than this list
}

}  // namespace

std::string_view name_of(Source source) { return name_in_list(source); }
std::string_view name_of(LinkKind kind) { return name_in_list(kind); }
std::string_view name_of(PciKind kind) { return name_in_list(kind); }
std::string_view name_of(NicKind kind) { return name_in_list(kind); }
std::string_view name_of(FarEnd end) { return name_in_list(end); }
std::string_view name_of(P2pStatus status) { return name_in_list(status); }
std::string_view name_of(CommonAncestor ancestor) { return name_in_list(ancestor); }
std::string_view name_of(Advised transport) { return name_in_list(transport); }

template <class E>
std::optional<E> from_name(std::string_view name) {
    for (const auto &entry : Names<E>::list)
        if (entry.name == name) return entry.value;
    return std::nullopt;
}

template <class E>
std::string all_names() {
    std::string text;
    for (const auto &entry : Names<E>::list) text += (text.empty() ? "" : ", ") + std::string(entry.name);
    return text;
}

template std::optional<Source> from_name(std::string_view);
template std::optional<LinkKind> from_name(std::string_view);
template std::optional<PciKind> from_name(std::string_view);
template std::optional<NicKind> from_name(std::string_view);
template std::optional<FarEnd> from_name(std::string_view);
template std::optional<P2pStatus> from_name(std::string_view);
template std::optional<CommonAncestor> from_name(std::string_view);

template std::string all_names<Source>();
template std::string all_names<LinkKind>();
template std::string all_names<PciKind>();
template std::string all_names<NicKind>();
template std::string all_names<FarEnd>();
template std::string all_names<P2pStatus>();
template std::string all_names<CommonAncestor>();

}  // namespace baton::topology
