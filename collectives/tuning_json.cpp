#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/tuning_file.hpp"
#include "sync/arena.hpp"
#include "util/json_field.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

using nlohmann::json;

constexpr int format_version = 1;

/// Names of the ways that the operation has for this kind of memory: "packet by kernel".
std::vector<std::string> names_of(std::span<const Way> ways, bool on_host) {
    std::vector<std::string> names;
    for (const Way &way : ways) {
        if ((way.mover == Mover::host) == on_host)
            names.push_back(fmt::format("{} by {}", algorithm_name(way.algorithm), mover_name(way.mover)));
    }
    return names;
}

TuningRow row_from(const JsonField &field, baton_operation operation, bool on_host) {
    field.only({"up_to", "algorithm", "mover", "channels", "grain"});
    TuningRow row;
    if (field.has("up_to")) row.up_to_bytes = field.at("up_to").number(0, TuningRow::no_limit - 1);
    if (field.has("channels")) row.channels = static_cast<int>(field.at("channels").number(1, max_channels));
    if (field.has("grain")) row.grain = field.at("grain").number(1, TuningRow::no_limit - 1);
    const std::string algorithm = field.at("algorithm").text();
    const std::string mover = field.at("mover").text();
    bool known_algorithm = false;
    for (const Way &way : ways_of(operation)) {
        if (algorithm != algorithm_name(way.algorithm) || (way.mover == Mover::host) != on_host) continue;
        known_algorithm = true;
        if (mover != mover_name(way.mover)) continue;
        row.algorithm = way.algorithm;
        row.mover = way.mover;
        return row;
    }
    field.at(known_algorithm ? "mover" : "algorithm")
        .refuse("{} does not run as \"{} by {}\" on {}; it does as {}", baton_operation_name(operation), algorithm,
                mover, on_host ? "the host" : "GPUs", fmt::join(names_of(ways_of(operation), on_host), ", "));
}

std::vector<TuningRow> rows_from(const JsonField &field, baton_operation operation, bool on_host) {
    std::vector<TuningRow> rows;
    for (const JsonField &element : field.elements()) {
        if (!rows.empty() && rows.back().up_to_bytes == TuningRow::no_limit)
            element.refuse("a row without \"up_to\" is for all sizes that are left, so none may follow it");
        const TuningRow row = row_from(element, operation, on_host);
        if (!rows.empty() && row.up_to_bytes < rows.back().up_to_bytes)
            element.at("up_to").refuse("{} is less than {} of the row before", row.up_to_bytes,
                                       rows.back().up_to_bytes);
        rows.push_back(row);
    }
    if (rows.empty() || rows.back().up_to_bytes != TuningRow::no_limit)
        field.refuse("the last row must have no \"up_to\", so that there is one for every size");
    return rows;
}

TuningTable table_from(const JsonField &field, const std::string &origin) {
    field.only({"gpu", "link", "ranks", "operations"});
    TuningTable table;
    table.key.gpu = field.at("gpu").text();
    table.key.link = field.at("link").text();
    table.key.ranks = static_cast<int>(field.at("ranks").number(1, max_ranks));
    table.origin = origin;
    const JsonField operations = field.at("operations");
    for (const std::string &name : operations.keys()) {
        const auto all = tuned_operations();
        const auto known = std::find_if(all.begin(), all.end(), [&](const OperationWays &entry) {
            return name == baton_operation_name(entry.operation);
        });
        if (known == all.end()) {
            std::vector<std::string> names;
            for (const OperationWays &entry : all) names.emplace_back(baton_operation_name(entry.operation));
            operations.refuse("unknown key \"{}\"; there are {}", name, fmt::join(names, ", "));
        }
        table.operations[known->operation] = rows_from(operations.at(name), known->operation, table.key.on_host());
    }
    return table;
}

/// A GPU's name may be any bytes.
std::string quoted(const std::string &text) { return json(text).dump(-1, ' ', false, json::error_handler_t::replace); }

std::string format_row(const TuningRow &row) {
    std::string text;
    if (row.up_to_bytes != TuningRow::no_limit) text += fmt::format("\"up_to\": {}, ", row.up_to_bytes);
    text +=
        fmt::format("\"algorithm\": \"{}\", \"mover\": \"{}\"", algorithm_name(row.algorithm), mover_name(row.mover));
    if (row.channels != 0) text += fmt::format(", \"channels\": {}", row.channels);
    if (row.grain != 0) text += fmt::format(", \"grain\": {}", row.grain);
    return "{" + text + "}";
}

std::string format_table(const TuningTable &table) {
    std::vector<std::string> operations;
    for (const auto &[operation, rows] : table.operations) {
        std::vector<std::string> lines;
        for (const TuningRow &row : rows) lines.push_back("          " + format_row(row));
        operations.push_back(
            fmt::format("        \"{}\": [\n{}\n        ]", baton_operation_name(operation), fmt::join(lines, ",\n")));
    }
    return fmt::format(
        "    {{\n      \"gpu\": {}, \"link\": {}, \"ranks\": {},\n      \"operations\": {{\n{}\n      }}\n    }}",
        quoted(table.key.gpu), quoted(table.key.link), table.key.ranks, fmt::join(operations, ",\n"));
}

}  // namespace

std::vector<TuningTable> parse_tuning(const std::string &text, const std::string &origin) {
    const std::string subject = "tuning table " + origin;
    const json all = parse_json(text, subject);
    const JsonField top(all, subject);
    top.only({"version", "tables"});
    top.at("version").number(format_version, format_version);
    std::vector<TuningTable> tables;
    for (const JsonField &element : top.at("tables").elements()) {
        TuningTable table = table_from(element, origin);
        if (find_table(tables, table.key) != nullptr) element.refuse("a second table for {}", to_string(table.key));
        tables.push_back(std::move(table));
    }
    return tables;
}

std::string format_tuning(const std::vector<TuningTable> &tables) {
    std::vector<std::string> texts;
    for (const TuningTable &table : tables) texts.push_back(format_table(table));
    return fmt::format("{{\n  \"version\": {},\n  \"tables\": [\n{}\n  ]\n}}\n", format_version,
                       fmt::join(texts, ",\n"));
}

}  // namespace baton::core
