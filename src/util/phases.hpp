#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace baton::core {

/// How long the steps of something took, one after the other.
class Phases {
public:
    struct Phase {
        const char *name;
        double seconds;
    };
    void begin(const char *name);  // ends the one before; `name` must live as long as this
    void end();
    void add(const char *name, double seconds);  // one that something else has timed

    const std::vector<Phase> &all() const { return all_; }
    double seconds() const;    // all of them together
    std::string text() const;  // "12.3 ms: connect 1.2, memory 11.1"

private:
    using Clock = std::chrono::steady_clock;
    std::vector<Phase> all_;
    Clock::time_point begun_;
    bool running_ = false;
};

}  // namespace baton::core
