#include "topology/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "topology/nvml_api.hpp"

namespace baton::topology {
namespace {

using nvml::Device;
using nvml::FieldValue;
using nvml::Library;
using nvml::success;

std::optional<long long> integer_of(const FieldValue &value) {
    if (value.result != success) return std::nullopt;
    switch (value.value_type) {
        case 0:
            return static_cast<long long>(value.as_double);
        case 1:
            return value.as_unsigned;
        case 2:
            return static_cast<long long>(value.as_unsigned_long);
        case 3:
            return static_cast<long long>(value.as_unsigned_long_long);
        case 4:
            return value.as_long_long;
        case 5:
            return value.as_int;
        case 6:
            return value.as_unsigned_short;
    }
    return std::nullopt;
}

std::optional<int> read_field(const Library &library, Device device, unsigned field, unsigned scope) {
    if (!library.field_values) return std::nullopt;
    FieldValue value{};
    value.field = field;
    value.scope = scope;
    value.result = -1;  // an old library that does not know the field may leave the record alone
    if (library.field_values(device, 1, &value) != success) return std::nullopt;
    auto number = integer_of(value);
    if (!number || *number < 0 || *number > 100'000'000) return std::nullopt;
    return static_cast<int>(*number);
}

/// NVML may leave the address empty or all ones; only the text tells an empty record from 0000:00:00.0.
void read_remote_address(const nvml::PciInfo &info, NvmlLink &link) {
    if (info.domain == 0xffffffffu || (info.bus >= 0xff && info.device >= 0xff) ||
        std::strncmp(info.bus_id, "FFFFFFFF", 8) == 0) {
        link.remote_hidden = true;
        return;
    }
    if (info.bus_id[0] == '\0' && info.bus_id_legacy[0] == '\0') return;
    if (info.bus > 0xff || info.device > 0x1f) return;
    link.remote = PciAddress{info.domain, info.bus, info.device};
}

/// Empty where the GPU has no such link.
std::optional<NvmlLink> read_link(const Library &library, Device device, unsigned index) {
    std::optional<int> state = read_field(library, device, nvml::field_link_state, index);
    if (!state && library.link_state) {
        int active = 0;
        if (library.link_state(device, index, &active) == success) state = active;
    }
    if (!state) return std::nullopt;

    NvmlLink link;
    link.index = static_cast<int>(index);
    link.active = *state == 1;
    if (!link.active) return link;  // the other questions have no answer for a link that is down

    link.version = read_field(library, device, nvml::field_link_version, index).value_or(0);
    if (unsigned version = 0; link.version == 0 && library.link_version &&
                              library.link_version(device, index, &version) == success && version < 256)
        link.version = static_cast<int>(version);
    link.mbps = read_field(library, device, nvml::field_link_speed, index).value_or(0);
    if (link.mbps == 0) link.mbps = read_field(library, device, nvml::field_speed_common, 0).value_or(0);

    if (int type = 0; library.link_remote_type && library.link_remote_type(device, index, &type) == success)
        link.remote_type = static_cast<RemoteType>(type);
    nvml::PciInfo info{};
    if (library.link_remote_pci && library.link_remote_pci(device, index, &info) == success)
        read_remote_address(info, link);
    return link;
}

NvmlGpu read_gpu(const Library &library, Device device) {
    NvmlGpu gpu;
    char text[96] = {};
    if (library.device_name && library.device_name(device, text, sizeof text - 1) == success) gpu.name = text;
    std::memset(text, 0, sizeof text);
    if (library.device_uuid && library.device_uuid(device, text, sizeof text - 1) == success) gpu.uuid = text;
    nvml::PciInfo info{};
    if (library.device_pci && library.device_pci(device, &info) == success)
        gpu.pci = PciAddress{info.domain, info.bus, info.device};
    unsigned mode = 0, pending = 0;
    if (library.device_mig_mode && library.device_mig_mode(device, &mode, &pending) == success) gpu.mig = mode == 1;

    if (const auto c2c = read_field(library, device, nvml::field_c2c_count, 0); c2c && *c2c > 0 && *c2c <= 64) {
        gpu.c2c_links = *c2c;
        if (const auto one = read_field(library, device, nvml::field_c2c_speed, 0); one && *one > 0 && *one < 1'000'000)
            gpu.c2c_mbps = *c2c * *one;
    }
    auto count = read_field(library, device, nvml::field_link_count, 0);
    unsigned links = std::min(nvml::max_links, static_cast<unsigned>(count.value_or(nvml::max_links)));
    for (unsigned index = 0; index < links; ++index) {
        auto link = read_link(library, device, index);
        if (link)
            gpu.links.push_back(*link);
        else if (!count)
            break;  // number unknown: the first link that NVML does not know ends the list
    }
    return gpu;
}

NvmlPair read_pair(const Library &library, Device from, Device to) {
    NvmlPair pair;
    if (library.p2p_status) {
        std::optional<P2pStatus> *answers[] = {&pair.read, &pair.write, &pair.nvlink, &pair.atomics};
        for (int index = 0; index < 4; ++index) {  // nvmlGpuP2PCapsIndex_t has the same order
            int status = 0;
            if (library.p2p_status(from, to, index, &status) == success)
                *answers[index] = static_cast<P2pStatus>(status);
        }
    }
    int level = 0;
    if (library.common_ancestor && library.common_ancestor(from, to, &level) == success)
        pair.ancestor = static_cast<CommonAncestor>(level);
    return pair;
}

}  // namespace

NvmlFacts read_nvml(const char *path) {
    NvmlFacts facts;
    Library library(path);
    if (!library.ok()) {
        facts.problem = library.problem();
        return facts;
    }
    char text[96] = {};
    if (library.driver_version && library.driver_version(text, sizeof text - 1) == success) facts.driver = text;

    unsigned count = 0;
    if (nvml::Return code = library.device_count(&count); code != success) {
        facts.problem = fmt::format("NVML does not count the GPUs: {}", library.error_text(code));
        return facts;
    }
    std::vector<Device> devices;
    for (unsigned index = 0; index < count; ++index) {
        Device device = nullptr;
        if (nvml::Return code = library.device_by_index(index, &device); code != success) {
            facts.gaps.push_back(
                fmt::format("NVML gives no access to its GPU {}: {}", index, library.error_text(code)));
            continue;
        }
        devices.push_back(device);
        facts.gpus.push_back(read_gpu(library, device));
    }
    for (Device from : devices)
        for (Device to : devices) facts.pairs.push_back(from == to ? NvmlPair{} : read_pair(library, from, to));
    return facts;
}

}  // namespace baton::topology
