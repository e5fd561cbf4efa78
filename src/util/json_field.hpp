#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "util/failure.hpp"

namespace baton::core {

/// A value of a JSON text and where it stands, for the message when it is wrong: `origin` says what the text is
/// ("tuning table x.json"), `path` which value ("tables[0].ranks"). `value` and `origin` must outlive it.
class JsonField {
public:
    JsonField(const nlohmann::json &value, const std::string &origin, std::string path = {})
        : value_(value), origin_(origin), path_(std::move(path)) {}

    template <class... Args>
    [[noreturn]] void refuse(fmt::format_string<Args...> format, Args &&...args) const {
        fail(BATON_ERR_ARGUMENT, "{}: {}{}{}", origin_, path_, path_.empty() ? "" : ": ",
             fmt::format(format, std::forward<Args>(args)...));
    }

    const std::string &path() const { return path_; }
    std::string dump() const { return value_.dump(); }
    bool is_null() const { return value_.is_null(); }
    bool is(const char *text) const { return value_ == text; }
    bool is_array() const { return value_.is_array(); }

    /// at() and has() REQUIRE an object, which only() or keys() has checked.
    JsonField at(const std::string &key) const;
    bool has(const std::string &key) const { return value_.contains(key); }
    void only(const std::vector<std::string> &keys) const;
    std::vector<std::string> keys() const;
    std::vector<JsonField> elements() const;

    std::string text() const;
    bool boolean() const;
    std::uint64_t number(std::uint64_t least, std::uint64_t most) const;
    std::int64_t integer(std::int64_t least, std::int64_t most) const;
    double real(double least, double most) const;

private:
    const nlohmann::json &value_;
    const std::string &origin_;
    std::string path_;
};

/// Whether a setting is the text of a JSON object, and not the name of a file.
bool is_json_text(std::string_view setting);

/// Parses a JSON text. Refuses what is not JSON (saying where), nesting that nobody writes, and a key that stands twice
/// in one object (naming it). nlohmann would keep the last of the two, but which one was meant is not for us to say.
nlohmann::json parse_json(std::string_view text, const std::string &origin);

}  // namespace baton::core
