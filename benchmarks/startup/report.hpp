#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "startup/measure.hpp"
#include "versions.hpp"

namespace baton::bench::startup {

/// One line of the table: seconds over the ranks.
struct Row {
    std::string name;
    double max = 0;
    double mean = 0;
    double min = 0;
};

/// All ranks' figures together; the same on all of them.
struct Report {
    std::vector<Row> rows;  // the phases in their order; they overlap, since ranks wait for each other
    Row creation;           // baton_comm_create()
    Row call;               // that and the first collective
    Row all;                // from the start of the processes
    double hwloc_loads = 0;
    double resident_max = 0;
    double resident_sum = 0;
    bool right = true;
    baton_info info{};  // this rank's
};

/// Collective.
Report gather(const Start &start);

std::string table(const Report &report);
nlohmann::ordered_json to_json(const Report &report, const Versions &versions);

}  // namespace baton::bench::startup
