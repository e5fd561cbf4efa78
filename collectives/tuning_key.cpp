#include "collectives/tuning_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "topology/links.hpp"

namespace baton::core {

TuningKey gpu_tuning_key(const std::vector<std::string> &names, const std::vector<std::string> &uuids,
                         const topology::Snapshot &machine) {
    const std::set<std::string> models(names.begin(), names.end());
    return {fmt::format("{}", fmt::join(models, " + ")), topology::link_name(topology::weakest_link(machine, uuids)),
            static_cast<int>(names.size())};
}

TuningKey host_tuning_key(int ranks) { return {"host", "shared memory", ranks}; }

}  // namespace baton::core
