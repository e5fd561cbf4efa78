#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace baton::test {

/// Gives an environment variable another value, or none, while it lives. Not for use while other threads read the
/// environment.
class SetVariable {
public:
    SetVariable(const char *name, std::optional<std::string> value) : name_(name) {
        if (const char *before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~SetVariable() { set(before_); }
    SetVariable(const SetVariable &) = delete;
    SetVariable &operator=(const SetVariable &) = delete;

private:
    void set(const std::optional<std::string> &value) const {
        if (value)
            setenv(name_, value->c_str(), 1);
        else
            unsetenv(name_);
    }
    const char *name_;
    std::optional<std::string> before_;
};

}  // namespace baton::test
