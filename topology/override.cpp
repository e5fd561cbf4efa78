#include "topology/override.hpp"

#include <fmt/format.h>

#include <cmath>

#include "topology/limits.hpp"
#include "topology/names.hpp"
#include "util/json_field.hpp"

namespace baton::topology {
namespace {

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
    const bool on = field.is("on");
    if (!on && !field.is("off")) field.refuse("must be \"on\" or \"off\", not {}", field.dump());
    return on;
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
        if (override_.gpus.empty()) top_.at("gpus").refuse("names no GPU");
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
        if (!override_.rows) {
            override_.rows = rows.size();
            sized_by_ = key;
        }
        if (rows.size() != *override_.rows)
            field.refuse("{}, but {} speaks of {}", counted(rows.size(), "row"), sized_by_, *override_.rows);
        std::vector<std::vector<std::optional<T>>> values;
        for (const JsonField &row : rows) {
            const std::vector<JsonField> elements = row.elements();
            if (elements.size() != rows.size())
                row.refuse("{} in a row of a matrix with {}", counted(elements.size(), "value"),
                           counted(rows.size(), "row"));
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

}  // namespace

Override read_override(std::string_view text, const std::string &origin) {
    const std::string subject = "topology override " + origin;
    const nlohmann::json all = core::parse_json(text, subject);
    return OverrideReader(JsonField(all, subject), subject).read();
}

}  // namespace baton::topology
