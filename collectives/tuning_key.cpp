#include "collectives/tuning_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace baton::core {

namespace {

std::string models_of(const std::vector<std::string> &names) {
    return fmt::format("{}", fmt::join(std::set<std::string>(names.begin(), names.end()), " + "));
}

}  // namespace

TuningKey gpu_tuning_key(const std::vector<std::string> &names, const std::string &weakest_link) {
    return {models_of(names), weakest_link, static_cast<int>(names.size())};
}

TuningKey staging_tuning_key(const std::vector<std::string> &names) {
    return {models_of(names), TuningKey::apart, static_cast<int>(names.size())};
}

TuningKey host_tuning_key(int ranks) { return {"host", "shared memory", ranks}; }

}  // namespace baton::core
