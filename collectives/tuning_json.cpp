#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "collectives/tuning_file.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

using nlohmann::json;

constexpr int format_version = 1;

/// A value of the text and where it stands, for the message when it is wrong.
class Field {
public:
    Field(const json &value, const std::string &origin, std::string path)
        : value_(value), origin_(origin), path_(std::move(path)) {}

    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args &&...args) const {
        fail(BATON_ERR_ARGUMENT, "tuning table {}: {}{}{}", origin_, path_, path_.empty() ? "" : ": ",
             fmt::format(format, std::forward<Args>(args)...));
    }

    /// REQUIRES: an object with no other keys than these, which was checked by only().
    Field at(const std::string &key) const {
        if (!value_.contains(key)) refuse("\"{}\" is missing", key);
        return {value_[key], origin_, path_.empty() ? key : path_ + "." + key};
    }
    bool has(const std::string &key) const { return value_.contains(key); }
    void only(const std::vector<std::string> &keys) const {
        if (!value_.is_object()) refuse("must be an object");
        for (const auto &[key, ignored] : value_.items()) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                refuse("unknown key \"{}\"; there are {}", key, fmt::join(keys, ", "));
        }
    }
    std::vector<std::string> keys() const {
        if (!value_.is_object()) refuse("must be an object");
        std::vector<std::string> all;
        for (const auto &[key, ignored] : value_.items()) all.push_back(key);
        return all;
    }
    std::vector<Field> elements() const {
        if (!value_.is_array()) refuse("must be an array");
        std::vector<Field> all;
        for (std::size_t index = 0; index < value_.size(); ++index)
            all.emplace_back(value_[index], origin_, fmt::format("{}[{}]", path_, index));
        return all;
    }
    std::string text() const {
        if (!value_.is_string()) refuse("must be a string");
        return value_.get<std::string>();
    }
    std::uint64_t number(std::uint64_t least, std::uint64_t most) const {
        if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() < least || value_.get<std::uint64_t>() > most)
            refuse("must be a whole number from {} to {}, not {}", least, most, value_.dump());
        return value_.get<std::uint64_t>();
    }

private:
    const json &value_;
    const std::string &origin_;
    std::string path_;
};

/// nlohmann keeps the last of equal keys; which one was meant is not for us to say.
class EqualKeys {
public:
    bool operator()(json::parse_event_t event, const json &parsed) {
        if (event == json::parse_event_t::object_start) seen_.emplace_back();
        if (event == json::parse_event_t::object_end) seen_.pop_back();
        if (event == json::parse_event_t::key && !seen_.back().insert(parsed.get<std::string>()).second)
            twice = parsed.get<std::string>();
        return true;
    }
    std::string twice;

private:
    std::vector<std::set<std::string>> seen_;
};

json parse_json(const std::string &text, const std::string &origin) {
    EqualKeys keys;
    try {
        const auto look = [&](int /*depth*/, json::parse_event_t event, json &parsed) { return keys(event, parsed); };
        json all = json::parse(text, look);
        if (keys.twice.empty()) return all;
    } catch (const json::exception &error) {
        // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        const std::string what = error.what();
        const std::size_t words = what.find("] ");
        fail(BATON_ERR_ARGUMENT, "tuning table {}: {}", origin,
             words == std::string::npos ? what : what.substr(words + 2));
    }
    fail(BATON_ERR_ARGUMENT, "tuning table {}: the key \"{}\" stands twice in one object", origin, keys.twice);
}

/// Names of the ways that the operation has for this kind of memory: "packet by kernel".
std::vector<std::string> names_of(std::span<const Way> ways, bool on_host) {
    std::vector<std::string> names;
    for (const Way &way : ways) {
        if ((way.mover == Mover::host) == on_host)
            names.push_back(fmt::format("{} by {}", algorithm_name(way.algorithm), mover_name(way.mover)));
    }
    return names;
}

TuningRow row_from(const Field &field, baton_operation operation, bool on_host) {
    field.only({"up_to", "algorithm", "mover", "channels", "grain"});
    TuningRow row;
    if (field.has("up_to")) row.up_to_bytes = field.at("up_to").number(0, TuningRow::no_limit - 1);
    if (field.has("channels")) row.channels = static_cast<int>(field.at("channels").number(1, 64));
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

std::vector<TuningRow> rows_from(const Field &field, baton_operation operation, bool on_host) {
    std::vector<TuningRow> rows;
    for (const Field &element : field.elements()) {
        if (!rows.empty() && rows.back().up_to_bytes == TuningRow::no_limit)
            element.refuse("a row without \"up_to\" is for all sizes that are left, so none may follow it");
        const TuningRow row = row_from(element, operation, on_host);
        if (!rows.empty() && row.up_to_bytes <= rows.back().up_to_bytes)
            element.at("up_to").refuse("{} is not more than {} of the row before", row.up_to_bytes,
                                       rows.back().up_to_bytes);
        rows.push_back(row);
    }
    if (rows.empty() || rows.back().up_to_bytes != TuningRow::no_limit)
        field.refuse("the last row must have no \"up_to\", so that there is one for every size");
    return rows;
}

TuningTable table_from(const Field &field, const std::string &origin) {
    field.only({"gpu", "link", "ranks", "operations"});
    TuningTable table;
    table.key.gpu = field.at("gpu").text();
    table.key.link = field.at("link").text();
    table.key.ranks = static_cast<int>(field.at("ranks").number(1, 64));
    table.origin = origin;
    const Field operations = field.at("operations");
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

std::string quoted(const std::string &text) { return json(text).dump(); }

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
    const json all = parse_json(text, origin);
    const Field top(all, origin, "");
    top.only({"version", "tables"});
    top.at("version").number(format_version, format_version);
    std::vector<TuningTable> tables;
    for (const Field &element : top.at("tables").elements()) {
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
