#include "topology/nvlink_matrix.hpp"

#include <algorithm>

#include "topology/classify.hpp"
#include "topology/limits.hpp"
#include "topology/pci_ids.hpp"
#include "util/parse_number.hpp"

namespace baton::topology {
namespace {

using pugi::xml_node;
using Entry = HwlocObjects::Entry;

/// All words of the <name> children of a matrix: hwloc splits long rows over several children.
std::vector<std::string> words_of(xml_node matrix, const char *name) {
    std::vector<std::string> words;
    for (const xml_node part : matrix.children(name)) {
        std::string_view text = part.child_value();
        while (!text.empty()) {
            const std::size_t start = text.find_first_not_of(" \t\r\n");
            if (start == std::string_view::npos) break;
            text.remove_prefix(start);
            const std::size_t length = std::min(text.find_first_of(" \t\r\n"), text.size());
            words.emplace_back(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return words;
}

class MatrixReader {
public:
    MatrixReader(const MatrixInput &input, xml_node matrix, MachineBuilder &builder)
        : input_(input), matrix_(matrix), builder_(builder) {}

    void read() {
        read_objects();
        read_values();
        bool doubled = false;
        for (std::size_t row = 0; row < objects_.size(); ++row)
            if (kind_at(row) == PciKind::gpu) doubled = add_links(row) || doubled;
        if (doubled)
            builder_.snapshot.gaps.push_back(
                fmt::format("{}: hwloc {} tells twice the bandwidth of these GPUs' NVLinks; halved",
                            input_.file.origin(), input_.objects.hwloc_version));
    }

private:
    std::uint64_t number(std::string_view text) const {
        const auto value = core::parse_number<std::uint64_t>(text);
        if (!value) input_.file.refuse(matrix_, "matrix NVLinkBandwidth: \"{}\" is no number", text.substr(0, 80));
        return *value;
    }

    void read_objects() {
        const bool by_gp = std::string_view(matrix_.name()) == "distances2hetero" ||
                           std::string_view(matrix_.attribute("indexing").value()) == "gp";
        if (!by_gp) input_.file.refuse(matrix_, "matrix NVLinkBandwidth: its objects are not given by gp_index");
        for (const std::string &word : words_of(matrix_, "indexes")) {
            const std::size_t colon = word.find(':');  // "PCIDev:703"
            const auto found = input_.objects.by_gp_index.find(
                number(colon == std::string::npos ? word : std::string_view(word).substr(colon + 1)));
            objects_.push_back(found == input_.objects.by_gp_index.end() ? Entry{} : found->second);
        }
        if (objects_.size() > max_gpus * 2)
            input_.file.refuse(matrix_, "matrix NVLinkBandwidth: more than {} objects", max_gpus * 2);
    }

    void read_values() {
        for (const std::string &word : words_of(matrix_, "u64values")) values_.push_back(number(word));
        if (values_.size() != objects_.size() * objects_.size())
            input_.file.refuse(matrix_, "matrix NVLinkBandwidth: {} values for {} objects, not {}", values_.size(),
                               objects_.size(), objects_.size() * objects_.size());
    }

    const PciNode &node_at(std::size_t index) const {
        return builder_.snapshot.pci[static_cast<std::size_t>(objects_[index].node)];
    }
    PciKind kind_at(std::size_t index) const { return objects_[index].node < 0 ? PciKind::other : node_at(index).kind; }
    std::uint64_t value(std::size_t row, std::size_t column) const { return values_[row * objects_.size() + column]; }

    /// hwloc 2.9.0 counts 50 GB/s for a link of NVLink 2.2 or 3. Earlier versions do not know these links; later ones
    /// are right.
    bool counts_double(const PciNode &gpu) const {
        const bool ampere = nvlink_version_of_device(gpu.device) == nvlink_version_of_device(0x2000);
        return (ampere || is_turing(gpu.device)) && input_.objects.hwloc_version.starts_with("2.9.0");
    }

    bool hidden_switches(const PciNode &gpu) const {
        return std::find(input_.objects.hidden_switch_nodes.begin(), input_.objects.hidden_switch_nodes.end(),
                         static_cast<int>(&gpu - builder_.snapshot.pci.data())) !=
               input_.objects.hidden_switch_nodes.end();
    }

    /// Returns whether the figures of the file were halved.
    bool add_links(std::size_t row) {
        const PciNode &gpu = node_at(row);
        const bool doubled = counts_double(gpu);
        bool through_switches = false;
        for (std::size_t column = 0; column < objects_.size(); ++column)
            through_switches = through_switches || (kind_at(column) == PciKind::nvswitch && value(row, column) > 0);
        std::uint64_t to_hidden = 0;
        for (std::size_t column = 0; column < objects_.size(); ++column) {
            const std::uint64_t mbps = value(row, column) / (doubled ? 2 : 1);
            if (column == row || mbps == 0 || objects_[column].node == objects_[row].node) continue;
            if (kind_at(column) == PciKind::gpu && hidden_switches(gpu))
                to_hidden = std::max(to_hidden, mbps);
            else if (kind_at(column) == PciKind::gpu && through_switches)
                continue;  // what hwloc derives from links to switches: no further links
            else if (kind_at(column) == PciKind::gpu || kind_at(column) == PciKind::nvswitch)
                add(row, {objects_[row].node, objects_[column].node, FarEnd::unknown, 0, 0, 0}, mbps);
            else if (objects_[column].package)
                add(row, {objects_[row].node, -1, FarEnd::cpu, 0, 0, 0}, mbps);
        }
        if (to_hidden > 0) add(row, {objects_[row].node, -1, FarEnd::hidden_switch, 0, 0, 0}, to_hidden);
        return doubled;
    }

    /// The matrix holds sums; how many links make up a sum follows from the GPU's generation.
    void add(std::size_t row, MachineBuilder::Links links, std::uint64_t sum) {
        const std::uint32_t device = node_at(row).device;
        const int mbps = static_cast<int>(std::min<std::uint64_t>(sum, max_link_mbps));
        const int version = nvlink_version_of_device(device), nominal = nominal_link_mbps(version);
        const int one = is_ga10x(device) ? ga10x_link_mbps : nominal;
        for (const int counted : {one, nominal}) {  // hwloc counts GA10x's links as the A100's
            if (counted <= 0 || mbps < counted || mbps % counted != 0 || mbps / counted > static_cast<int>(max_links))
                continue;
            links.count = mbps / counted;
            links.mbps = one;
            links.version = version;
            return builder_.add_links(links);
        }
        // Without a version is_sum_of_links() holds: the bandwidth in the file counts, and no number of links is made
        // of it.
        links.count = 1;
        links.mbps = mbps;
        links.version = 0;
        builder_.add_links(links);
    }

    const MatrixInput &input_;
    xml_node matrix_;
    MachineBuilder &builder_;
    std::vector<Entry> objects_;
    std::vector<std::uint64_t> values_;
};

}  // namespace

void read_nvlink_matrix(const MatrixInput &input, MachineBuilder &builder) {
    for (const xml_node child : input.topology.children()) {
        const std::string_view name = child.name();
        if ((name != "distances2" && name != "distances2hetero") ||
            std::string_view(child.attribute("name").value()) != "NVLinkBandwidth")
            continue;
        return MatrixReader(input, child, builder).read();  // the first; a second one would count the links twice
    }
    if (input.source == Source::hwloc_xml && builder.snapshot.gpus.size() > 1)
        builder.snapshot.gaps.push_back(
            fmt::format("{}: no matrix NVLinkBandwidth in it: NVLinks are unknown", input.file.origin()));
}

}  // namespace baton::topology
