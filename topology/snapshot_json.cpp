#include "topology/snapshot_json.hpp"

#include <limits>
#include <type_traits>

#include "topology/names.hpp"
#include "topology/printable.hpp"
#include "topology/snapshot_checks.hpp"
#include "util/json_field.hpp"

namespace baton::topology {
namespace {

using core::JsonField;
using nlohmann::ordered_json;

constexpr int format_version = 1;

// ---- which keys each type has, once for both directions ------------------------------------------------------------

// Vectors, addresses and scalars have overloads of write() and read(); everything else is an object with these fields.
// A value that nobody told is left out.

template <class A>
void fields(A &&each, NvLink &link) {
    each("index", link.index);
    each("active", link.active);
    each("version", link.version);
    each("reported_mbps", link.reported_mbps);
    each("far_end", link.far_end);
    each("peer_gpu", link.peer_gpu);
    each("peer_switch", link.peer_switch);
}

template <class A>
void fields(A &&each, Gpu &gpu) {
    each("name", gpu.name);
    each("uuid", gpu.uuid);
    each("pci", gpu.pci);
    each("cuda_ordinal", gpu.cuda_ordinal);
    each("numa_node", gpu.numa_node);
    each("cpuset", gpu.cpuset);
    each("mig", gpu.mig);
    each("pci_node", gpu.pci_node);
    each("c2c_links", gpu.c2c_links);
    each("c2c_mbps", gpu.c2c_mbps);
    each("nvlink_source", gpu.nvlink_source);
    each("nvlinks", gpu.nvlinks);
}

template <class A>
void fields(A &&each, PairFacts &pair) {
    each("kind", pair.kind);
    each("links", pair.links);
    each("mbps", pair.mbps);
    each("p2p_read", pair.p2p_read);
    each("p2p_write", pair.p2p_write);
    each("p2p_atomics", pair.p2p_atomics);
    each("nvlink", pair.nvlink);
    each("ancestor", pair.ancestor);
    each("measured_mbps", pair.measured_mbps);
}

template <class A>
void fields(A &&each, NvSwitch &nvswitch) {
    each("pci", nvswitch.pci);
    each("pci_node", nvswitch.pci_node);
}

template <class A>
void fields(A &&each, Nic &nic) {
    each("name", nic.name);
    each("kind", nic.kind);
    each("pci", nic.pci);
    each("numa_node", nic.numa_node);
    each("pci_node", nic.pci_node);
}

template <class A>
void fields(A &&each, PciNode &node) {
    each("kind", node.kind);
    each("parent", node.parent);
    each("address", node.address);
    each("vendor", node.vendor);
    each("device", node.device);
    each("class", node.class_id);
    each("mbps", node.mbps);
    each("name", node.name);
    each("cpuset", node.cpuset);
    each("numa_nodes", node.numa_nodes);
}

template <class A>
void fields(A &&each, Package &package) {
    each("cpuset", package.cpuset);
}

template <class A>
void fields(A &&each, NumaNode &node) {
    each("os_index", node.os_index);
    each("cpuset", node.cpuset);
    each("memory_bytes", node.memory_bytes);
}

template <class A>
void fields(A &&each, Restriction &restriction) {
    each("usable_pus", restriction.usable_pus);
    each("hidden_nodes", restriction.hidden_nodes);
}

template <class A>
void fields(A &&each, Host &host) {
    each("cpu_model", host.cpu_model);
    each("packages", host.packages);
    each("numa_nodes", host.numa_nodes);
    each("cores", host.cores);
    each("pus", host.pus);
    each("source", host.source);
    each("package_list", host.package_list);
    each("numa_list", host.numa_list);
    each("core_list", host.core_list);
    each("restriction", host.restriction);
}

template <class A>
void fields(A &&each, Snapshot &snapshot) {
    each("driver", snapshot.driver);
    each("cuda_driver_version", snapshot.cuda_driver_version);
    each("cuda_runtime_version", snapshot.cuda_runtime_version);
    each("gaps", snapshot.gaps);
    each("host", snapshot.host);
    each("gpus", snapshot.gpus);
    each("of_ranks", snapshot.of_ranks);
    each("pairs", snapshot.pairs);
    each("nvswitches", snapshot.nvswitches);
    each("nics", snapshot.nics);
    each("pci_source", snapshot.pci_source);
    each("pci", snapshot.pci);
}

// ---- writing -------------------------------------------------------------------------------------------------------

ordered_json write(bool value) { return value; }
ordered_json write(int value) { return value; }
ordered_json write(std::uint32_t value) { return value; }
ordered_json write(std::uint64_t value) { return value; }
ordered_json write(const std::string &value) { return value; }
ordered_json write(const PciAddress &value) { return to_string(value); }

template <class T>
ordered_json write(const T &value);

template <class T>
ordered_json write(const std::vector<T> &values) {
    ordered_json out = ordered_json::array();
    for (const T &value : values) out.push_back(write(value));
    return out;
}

struct Writer {
    ordered_json &out;

    template <class T>
    void operator()(const char *key, const T &value) {
        out[key] = write(value);
    }
    template <class T>
    void operator()(const char *key, const Known<T> &value) {
        if (value.known()) out[key] = {{"value", write(value.value)}, {"source", name_of(value.source)}};
    }
    template <class T>
    void operator()(const char *key, const std::optional<T> &value) {
        if (value) out[key] = write(*value);
    }
};

template <class T>
ordered_json write(const T &value) {
    if constexpr (std::is_enum_v<T>) {
        return name_of(value);
    } else {
        ordered_json out = ordered_json::object();
        fields(Writer{out}, const_cast<T &>(value));  // fields() also serves reading; Writer changes nothing
        return out;
    }
}

// ---- reading -------------------------------------------------------------------------------------------------------

void read(const JsonField &field, bool &value) { value = field.boolean(); }
void read(const JsonField &field, int &value) {
    value = static_cast<int>(field.integer(-1, std::numeric_limits<int>::max()));
}
void read(const JsonField &field, std::uint32_t &value) {
    value = static_cast<std::uint32_t>(field.number(0, std::numeric_limits<std::uint32_t>::max()));
}
void read(const JsonField &field, std::uint64_t &value) {
    value = field.number(0, std::numeric_limits<std::uint64_t>::max());
}
void read(const JsonField &field, std::string &value) { value = field.text(); }
void read(const JsonField &field, PciAddress &value) {
    const auto address = parse_pci_address(field.text());
    if (!address) field.refuse("\"{}\" is no PCI address", field.text());
    value = *address;
}

template <class T>
void read(const JsonField &field, T &value);

template <class T>
void read(const JsonField &field, std::vector<T> &values) {
    for (const JsonField &element : field.elements()) read(element, values.emplace_back());
}

struct Reader {
    const JsonField &in;

    template <class T>
    void operator()(const char *key, T &value) {
        read(in.at(key), value);
    }
    template <class T>
    void operator()(const char *key, Known<T> &value) {
        if (!in.has(key)) return;
        const JsonField known = in.at(key);
        known.only({"value", "source"});
        read(known.at("value"), value.value);
        read(known.at("source"), value.source);
    }
    template <class T>
    void operator()(const char *key, std::optional<T> &value) {
        if (in.has(key)) read(in.at(key), value.emplace());
    }
};

struct Keys {
    std::vector<std::string> &all;

    template <class T>
    void operator()(const char *key, T &) {
        all.emplace_back(key);
    }
};

template <class T>
void read(const JsonField &field, T &value) {
    if constexpr (std::is_enum_v<T>) {
        const auto found = from_name<T>(field.text());
        if (!found) field.refuse("\"{}\" is none of {}", field.text(), all_names<T>());
        value = *found;
    } else {
        std::vector<std::string> keys;
        fields(Keys{keys}, value);
        if constexpr (std::is_same_v<T, Snapshot>) keys.emplace_back("baton_snapshot");
        field.only(keys);
        fields(Reader{field}, value);
    }
}

}  // namespace

std::string snapshot_to_json(const Snapshot &snapshot, int indent) {
    ordered_json all;
    all["baton_snapshot"] = format_version;
    all.update(write(snapshot));
    // A name that is not UTF-8 must not make a machine unreadable, and no character of a name may steer a terminal.
    return all.dump(indent, ' ', true, ordered_json::error_handler_t::replace);
}

Snapshot snapshot_from_json(std::string_view text, const std::string &origin) {
    const nlohmann::json all = core::parse_json(text, origin);
    const JsonField top(all, origin);
    if (!all.is_object() || !top.has("baton_snapshot")) top.refuse("not a snapshot: \"baton_snapshot\" is missing");
    top.at("baton_snapshot").number(format_version, format_version);
    Snapshot snapshot;
    read(top, snapshot);
    check_snapshot(snapshot, origin);
    make_printable(snapshot);
    return snapshot;
}

}  // namespace baton::topology
