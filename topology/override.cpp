#include "topology/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "topology/limits.hpp"
#include "topology/names.hpp"
#include "util/json_field.hpp"

namespace baton::topology {
namespace {

using core::fail;
using core::JsonField;

constexpr double largest_gbps = 100'000;

LinkKind kind_of(const JsonField &field) {
    const auto kind = from_name<LinkKind>(field.text());
    if (!kind) field.refuse("\"{}\" is none of {}", field.text(), all_names<LinkKind>());
    return *kind;
}

int mbps_of(const JsonField &field) { return static_cast<int>(std::lround(field.real(0, largest_gbps) * 1000)); }

int links_of(const JsonField &field) { return static_cast<int>(field.number(0, max_links)); }

bool p2p_of(const JsonField &field) {
    if (!field.is_text()) return field.boolean();
    if (field.text() != "on" && field.text() != "off") field.refuse("must be \"on\" or \"off\"");
    return field.text() == "on";
}

std::vector<std::string> names_of(const JsonField &field) {
    std::vector<std::string> names;
    for (const JsonField &element : field.elements()) names.push_back(element.text());
    return names;
}

class OverrideReader {
public:
    OverrideReader(const JsonField &top, const std::string &origin) : top_(top) { override_.origin = origin; }

    Override read() {
        top_.only({"gpus", "ranks", "p2p", "kind", "links", "gbps", "pairs", "dead_links"});
        read_rows();
        if (top_.has("p2p") && !top_.at("p2p").is_array())
            override_.p2p = p2p_of(top_.at("p2p"));
        else
            matrix("p2p", &Override::PairEntry::p2p, [](const JsonField &field) { return field.boolean(); });
        matrix("kind", &Override::PairEntry::kind, kind_of);
        matrix("links", &Override::PairEntry::links, links_of);
        matrix("gbps", &Override::PairEntry::mbps, mbps_of);
        if (top_.has("pairs"))
            for (const JsonField &field : top_.at("pairs").elements()) read_pair(field);
        if (top_.has("dead_links"))
            for (const JsonField &field : top_.at("dead_links").elements()) read_dead(field);
        return std::move(override_);
    }

private:
    void read_rows() {
        if (top_.has("ranks")) {
            if (top_.has("gpus")) top_.refuse("\"gpus\" and \"ranks\" exclude each other");
            override_.ranks = static_cast<int>(top_.at("ranks").number(1, max_gpus));
            override_.rows = static_cast<std::size_t>(override_.ranks);
        }
        if (!top_.has("gpus")) return;
        override_.gpus = names_of(top_.at("gpus"));
        if (override_.gpus.size() > max_gpus) top_.at("gpus").refuse("more than {} entries", max_gpus);
        override_.rows = override_.gpus.size();
        sized_by_ = "gpus";
    }

    std::string row_name(std::size_t row) const {
        return override_.gpus.empty() ? fmt::format("{}", row) : override_.gpus[row];
    }

    /// Reads one matrix into pair entries; `read` makes the value of one element.
    template <class T, class F>
    void matrix(const char *key, std::optional<T> Override::PairEntry::*member, const F &read) {
        if (!top_.has(key)) return;
        const JsonField field = top_.at(key);
        const std::vector<JsonField> rows = field.elements();
        if (rows.size() > max_gpus) field.refuse("more than {} rows", max_gpus);
        if (override_.rows == 0) {
            override_.rows = rows.size();
            sized_by_ = key;
        }
        if (rows.size() != override_.rows)
            field.refuse("{} rows, but {} speaks of {}", rows.size(), sized_by_, override_.rows);
        std::vector<std::vector<std::optional<T>>> values;
        for (const JsonField &row : rows) {
            const std::vector<JsonField> elements = row.elements();
            if (elements.size() != rows.size())
                row.refuse("{} values in a row of a matrix with {} rows", elements.size(), rows.size());
            std::vector<std::optional<T>> &line = values.emplace_back();
            for (std::size_t column = 0; column < elements.size(); ++column) {
                const bool wanted = column + 1 != values.size() && !elements[column].is_null();
                line.push_back(wanted ? std::optional<T>(read(elements[column])) : std::nullopt);
            }
        }
        for (std::size_t from = 0; from < values.size(); ++from)
            for (std::size_t to = 0; to < values.size(); ++to) {
                if (values[from][to] != values[to][from])
                    field.refuse("not symmetric: [{}][{}] differs from [{}][{}]", from, to, to, from);
                if (from >= to || !values[from][to]) continue;
                Override::PairEntry entry;
                entry.from = row_name(from);
                entry.to = row_name(to);
                entry.field = fmt::format("{}[{}][{}]", key, from, to);
                entry.*member = values[from][to];
                override_.pairs.push_back(std::move(entry));
            }
    }

    void read_pair(const JsonField &field) {
        field.only({"gpus", "kind", "links", "gbps", "p2p"});
        const JsonField gpus = field.at("gpus");
        const std::vector<std::string> names = names_of(gpus);
        if (names.size() != 2) gpus.refuse("a pair has 2 entries, not {}", names.size());
        Override::PairEntry entry;
        entry.from = names[0];
        entry.to = names[1];
        entry.field = field.path();
        if (field.has("kind")) entry.kind = kind_of(field.at("kind"));
        if (field.has("links")) entry.links = links_of(field.at("links"));
        if (field.has("gbps")) entry.mbps = mbps_of(field.at("gbps"));
        if (field.has("p2p")) entry.p2p = p2p_of(field.at("p2p"));
        override_.pairs.push_back(std::move(entry));
    }

    void read_dead(const JsonField &field) {
        field.only({"gpu", "links"});
        const std::string gpu = field.at("gpu").text();
        for (const JsonField &link : field.at("links").elements())
            override_.dead_links.push_back({gpu, static_cast<int>(link.number(0, max_links - 1)), link.path()});
    }

    const JsonField &top_;
    Override override_;
    std::string sized_by_ = "ranks";
};

// ---- applying ------------------------------------------------------------------------------------------------------

const char *noun(const Override &said) { return said.ranks > 0 ? "rank" : "GPU"; }

std::size_t gpu_named(const Override &said, const Snapshot &snapshot, const std::string &name,
                      const std::string &field) {
    const int gpu = find_gpu(snapshot, name);
    if (gpu >= 0) return static_cast<std::size_t>(gpu);
    const char *what = noun(said);
    if (snapshot.gpus.empty())
        fail(BATON_ERR_ARGUMENT, "{}: {}: there is no {} \"{}\": there are none", said.origin, field, what, name);
    fail(BATON_ERR_ARGUMENT, "{}: {}: there is no {} \"{}\"; there are 0 to {}{}", said.origin, field, what, name,
         snapshot.gpus.size() - 1, said.ranks > 0 ? "" : ", by index, UUID or PCI address");
}

/// What no pair of two GPUs can be.
void check_pair(const Override &said, const Override::PairEntry &entry, const Gpu &from, const Gpu &to) {
    const auto refuse = [&](const std::string &why) {
        fail(BATON_ERR_ARGUMENT, "{}: {}: {}", said.origin, entry.field, why);
    };
    if (!entry.kind) return;
    const LinkKind kind = *entry.kind;
    if (kind == LinkKind::SELF) refuse(fmt::format("SELF is one {}, and these are two", noun(said)));
    if (kind == LinkKind::SAME_DEVICE && from.pci.known() && to.pci.known() && from.pci.value != to.pci.value)
        refuse("SAME_DEVICE, but they have different PCI addresses");
    if (!entry.links) return;
    const bool counted = kind == LinkKind::NVLINK || kind == LinkKind::NVSWITCH;
    if (counted && *entry.links == 0) refuse(fmt::format("{} without links", name_of(kind)));
    if (!counted && *entry.links > 0) refuse(fmt::format("{} has no NVLinks to count", name_of(kind)));
}

/// What the matrices, and above them "pairs", have said of each pair so far: saying a thing twice is well, saying two
/// things is not.
class Stated {
public:
    explicit Stated(const Override &said) : said_(said) {}

    /// All that this entry's level has said of its pair.
    const Override::PairEntry &add(const Override::PairEntry &entry, std::size_t from, std::size_t to) {
        Override::PairEntry &all = by_pair_[{entry.field.starts_with("pairs"), std::min(from, to), std::max(from, to)}];
        once("kind", entry, entry.kind, all.kind, all);
        once("links", entry, entry.links, all.links, all);
        once("gbps", entry, entry.mbps, all.mbps, all);
        once("p2p", entry, entry.p2p, all.p2p, all);
        all.field = entry.field;
        return all;
    }

private:
    template <class T>
    void once(const char *what, const Override::PairEntry &entry, const std::optional<T> &value,
              std::optional<T> &before, const Override::PairEntry &earlier) const {
        if (!value) return;
        if (before && *before != *value)
            fail(BATON_ERR_ARGUMENT, "{}: {}: {} contradicts an entry before it (the last of this pair is {})",
                 said_.origin, entry.field, what, earlier.field);
        before = value;
    }

    const Override &said_;
    std::map<std::tuple<bool, std::size_t, std::size_t>, Override::PairEntry> by_pair_;
};

void state_pair(const Override::PairEntry &entry, PairFacts &pair) {
    constexpr Source source = Source::override_file;
    if (entry.kind) pair.kind = {*entry.kind, source};
    if (entry.links) pair.links = {*entry.links, source};
    if (entry.mbps) pair.mbps = {*entry.mbps, source};
    if (entry.p2p) {
        pair.p2p_read = {*entry.p2p, source};
        pair.p2p_write = {*entry.p2p, source};
        if (!*entry.p2p) pair.p2p_atomics = {false, source};
    }
}

Snapshot with_ranks(Snapshot snapshot, int ranks) {
    snapshot.gpus.assign(static_cast<std::size_t>(ranks), {});
    snapshot.of_ranks = {true, Source::override_file};
    snapshot.pairs.assign(snapshot.gpus.size() * snapshot.gpus.size(), {});
    return snapshot;
}

void kill_link(const Override &said, const Override::DeadLink &dead, Snapshot &snapshot) {
    Gpu &gpu = snapshot.gpus[gpu_named(said, snapshot, dead.gpu, dead.field)];
    for (NvLink &link : gpu.nvlinks) {
        if (link.index != dead.link) continue;
        link.active = false;
        return;
    }
    fail(BATON_ERR_ARGUMENT, "{}: {}: {} \"{}\" has no NVLink {}; it has {}", said.origin, dead.field, noun(said),
         dead.gpu, dead.link, gpu.nvlinks.size());
}

}  // namespace

Override read_override(std::string_view text, const std::string &origin) {
    const std::string subject = "topology override " + origin;
    const nlohmann::json all = core::parse_json(text, subject);
    return OverrideReader(JsonField(all, subject), subject).read();
}

Snapshot apply_override(const Override &said, Snapshot snapshot) {
    if (said.ranks > 0) snapshot = with_ranks(std::move(snapshot), said.ranks);
    if (said.rows > 0 && said.gpus.empty() && said.rows != snapshot.gpus.size())
        fail(BATON_ERR_ARGUMENT, "{}: its matrices have {} rows, but the machine has {} GPUs; \"gpus\" can name some",
             said.origin, said.rows, snapshot.gpus.size());
    for (std::size_t row = 0; row < said.gpus.size(); ++row) {
        const std::size_t gpu = gpu_named(said, snapshot, said.gpus[row], fmt::format("gpus[{}]", row));
        for (std::size_t earlier = 0; earlier < row; ++earlier)
            if (gpu == gpu_named(said, snapshot, said.gpus[earlier], fmt::format("gpus[{}]", earlier)))
                fail(BATON_ERR_ARGUMENT, "{}: gpus[{}] and gpus[{}] are one GPU", said.origin, earlier, row);
    }
    for (const Override::DeadLink &dead : said.dead_links) kill_link(said, dead, snapshot);
    if (said.p2p)
        for (std::size_t from = 0; from < snapshot.gpus.size(); ++from)
            for (std::size_t to = 0; to < snapshot.gpus.size(); ++to)
                if (from != to) {
                    Override::PairEntry all;
                    all.p2p = said.p2p;
                    state_pair(all, snapshot.pair(from, to));
                }
    Stated stated(said);
    for (const Override::PairEntry &entry : said.pairs) {
        const std::size_t from = gpu_named(said, snapshot, entry.from, entry.field);
        const std::size_t to = gpu_named(said, snapshot, entry.to, entry.field);
        if (from == to)
            fail(BATON_ERR_ARGUMENT, "{}: {}: both are {} \"{}\"", said.origin, entry.field, noun(said), entry.to);
        check_pair(said, stated.add(entry, from, to), snapshot.gpus[from], snapshot.gpus[to]);
        state_pair(entry, snapshot.pair(from, to));
        state_pair(entry, snapshot.pair(to, from));
    }
    snapshot.gaps.push_back(fmt::format("{} changed what the machine says", said.origin));
    return snapshot;
}

std::string p2p_refusal(const Override &said, const Snapshot &snapshot, int a, int b) {
    bool refused = said.p2p && !*said.p2p;
    std::string field = "p2p";
    for (const Override::PairEntry &entry : said.pairs) {
        if (!entry.p2p) continue;
        const int from = find_gpu(snapshot, entry.from), to = find_gpu(snapshot, entry.to);
        if (std::minmax(from, to) != std::minmax(a, b)) continue;
        refused = !*entry.p2p;
        field = entry.field;
    }
    return refused ? fmt::format("{}: {}", said.origin, field) : "";
}

}  // namespace baton::topology
