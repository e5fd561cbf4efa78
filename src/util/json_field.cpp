#include "util/json_field.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace baton::core {
namespace {

using nlohmann::json;

constexpr int deepest_nesting = 64;

/// Looks at the parser's events for what the parser lets pass.
class Watcher {
public:
    bool operator()(int depth, json::parse_event_t event, const json &parsed) {
        if (depth > deepest_nesting) throw Failure(BATON_ERR_ARGUMENT, "");
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

/// The line of a number that no double holds: nlohmann gives its text, but only for other errors the place.
std::string line_of_overflow(std::string_view text, const json::exception &error) {
    constexpr int number_overflow = 406;
    const std::string what = error.what();
    const std::size_t quote = what.find('\'');
    if (error.id != number_overflow || quote == std::string::npos) return {};
    const std::string number = what.substr(quote + 1, what.rfind('\'') - quote - 1);
    const std::string_view before = text.substr(0, text.find(number));
    return fmt::format("line {}: ", std::count(before.begin(), before.end(), '\n') + 1);
}

template <class N>
std::string whole_number(N least, N most) {
    return least == most ? fmt::format("{}", least) : fmt::format("a whole number from {} to {}", least, most);
}

}  // namespace

JsonField JsonField::at(const std::string &key) const {
    if (!value_.contains(key)) refuse("\"{}\" is missing", key);
    return {value_[key], origin_, path_.empty() ? key : path_ + "." + key};
}

void JsonField::only(const std::vector<std::string> &keys) const {
    for (const std::string &key : this->keys())
        if (std::find(keys.begin(), keys.end(), key) == keys.end())
            refuse("unknown key \"{}\"; there are {}", key, fmt::join(keys, ", "));
}

std::vector<std::string> JsonField::keys() const {
    if (!value_.is_object()) refuse("must be an object");
    std::vector<std::string> all;
    for (const auto &[key, ignored] : value_.items()) all.push_back(key);
    return all;
}

std::vector<JsonField> JsonField::elements() const {
    if (!value_.is_array()) refuse("must be an array");
    std::vector<JsonField> all;
    for (std::size_t index = 0; index < value_.size(); ++index)
        all.emplace_back(value_[index], origin_, fmt::format("{}[{}]", path_, index));
    return all;
}

std::string JsonField::text() const {
    if (!value_.is_string()) refuse("must be a string");
    return value_.get<std::string>();
}

bool JsonField::boolean() const {
    if (!value_.is_boolean()) refuse("must be true or false");
    return value_.get<bool>();
}

std::uint64_t JsonField::number(std::uint64_t least, std::uint64_t most) const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() < least || value_.get<std::uint64_t>() > most)
        refuse("must be {}, not {}", whole_number(least, most), value_.dump());
    return value_.get<std::uint64_t>();
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
    const bool fits = value_.is_number_integer() &&
                      (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
    if (!fits || value_.get<std::int64_t>() < least || value_.get<std::int64_t>() > most)
        refuse("must be {}, not {}", whole_number(least, most), value_.dump());
    return value_.get<std::int64_t>();
}

double JsonField::real(double least, double most) const {
    if (!value_.is_number() || !(value_.get<double>() >= least) || !(value_.get<double>() <= most))
        refuse("must be a number from {} to {}, not {}", least, most, value_.dump());
    return value_.get<double>();
}

bool is_json_text(std::string_view setting) {
    const std::size_t first = setting.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && setting[first] == '{';
}

json parse_json(std::string_view text, const std::string &origin) {
    // The parser would take it for the end.
    if (text.find('\0') != std::string_view::npos)
        fail(BATON_ERR_ARGUMENT, "{}: has a zero byte, so is not text", origin);
    Watcher watcher;
    try {
        const auto on_event = [&](int depth, json::parse_event_t event, json &parsed) {
            return watcher(depth, event, parsed);
        };
        json all = json::parse(text, on_event);
        if (watcher.twice.empty()) return all;
    } catch (const json::exception &error) {
        // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        const std::string what = error.what();
        const std::size_t words = what.find("] ");
        fail(BATON_ERR_ARGUMENT, "{}: {}{}", origin, line_of_overflow(text, error),
             words == std::string::npos ? what : what.substr(words + 2));
    } catch (const Failure &) {
        fail(BATON_ERR_ARGUMENT, "{}: nested deeper than {} levels", origin, deepest_nesting);
    }
    fail(BATON_ERR_ARGUMENT, "{}: the key \"{}\" stands twice in one object", origin, watcher.twice);
}

}  // namespace baton::core
