#include "topology/snapshot.hpp"

#include <fmt/format.h>

#include <charconv>

#include "util/parse_number.hpp"

namespace baton::topology {
namespace {

/// Takes a hexadecimal number of at most `digits` digits from the front of the text.
std::optional<std::uint32_t> take_hex(std::string_view &text, std::size_t digits) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(digits, text.size()), value, 16);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view &text, char character) {
    if (!text.starts_with(character)) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string to_string(const PciAddress &address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device, address.function);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
    const auto domain = take_hex(text, 8);
    if (!domain || !take(text, ':')) return std::nullopt;
    const auto bus = take_hex(text, 2);
    if (!bus || !take(text, ':')) return std::nullopt;
    const auto device = take_hex(text, 2);
    if (!device || *device > 0x1f) return std::nullopt;
    PciAddress address{*domain, *bus, *device, 0};
    if (text.empty()) return address;
    if (!take(text, '.')) return std::nullopt;
    const auto function = take_hex(text, 1);
    if (!function || *function > 7 || !text.empty()) return std::nullopt;
    address.function = *function;
    return address;
}

const NumaNode *only_numa_node(const Host &host) {
    const bool hidden = host.restriction && !host.restriction->hidden_nodes.empty();
    return host.numa_list.size() == 1 && !hidden ? &host.numa_list[0] : nullptr;
}

int pci_root_of(const Snapshot &snapshot, int node) {
    while (node >= 0 && snapshot.pci[static_cast<std::size_t>(node)].parent >= 0)
        node = snapshot.pci[static_cast<std::size_t>(node)].parent;
    return node;
}

/// CUDA's UUID of a GPU slice begins with "GPU-" too.
bool same_uuid(std::string_view a, std::string_view b) {
    const auto body = [](std::string_view uuid) {
        return uuid.starts_with("GPU-") || uuid.starts_with("MIG-") ? uuid.substr(4) : uuid;
    };
    return body(a) == body(b);
}

bool is_named(const Gpu &gpu, std::size_t index, std::string_view name) {
    return core::parse_number<std::size_t>(name) == index || (gpu.uuid.known() && same_uuid(gpu.uuid.value, name)) ||
           (gpu.pci.known() && parse_pci_address(name) == gpu.pci.value);
}

std::vector<int> find_gpus(const Snapshot &snapshot, std::string_view name) {
    std::vector<int> gpus;
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index)
        if (is_named(snapshot.gpus[index], index, name)) gpus.push_back(static_cast<int>(index));
    return gpus;
}

int find_gpu(const Snapshot &snapshot, std::string_view name) {
    const std::vector<int> gpus = find_gpus(snapshot, name);
    return gpus.empty() ? -1 : gpus[0];
}

std::vector<int> pci_children(const Snapshot &snapshot, int node) {
    std::vector<int> children;
    for (std::size_t index = 0; index < snapshot.pci.size(); ++index)
        if (snapshot.pci[index].parent == node) children.push_back(static_cast<int>(index));
    return children;
}

}  // namespace baton::topology
