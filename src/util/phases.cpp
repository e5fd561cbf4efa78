#include "util/phases.hpp"

#include <fmt/format.h>

namespace baton::core {

void Phases::begin(const char *name) {
    end();
    all_.push_back({name, 0});
    begun_ = Clock::now();
    running_ = true;
}

void Phases::end() {
    if (running_) all_.back().seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    running_ = false;
}

void Phases::add(const char *name, double seconds) {
    end();
    all_.push_back({name, seconds});
}

double Phases::seconds() const {
    double sum = 0;
    for (const Phase &phase : all_) sum += phase.seconds;
    return sum;
}

std::string Phases::text() const {
    std::string text = fmt::format("{:.1f} ms", seconds() * 1e3);
    for (const Phase &phase : all_)
        text += fmt::format("{} {} {:.1f}", &phase == all_.data() ? ":" : ",", phase.name, phase.seconds * 1e3);
    return text;
}

}  // namespace baton::core
