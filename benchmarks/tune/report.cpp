#include "tune/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace baton::bench::tune {

namespace {

std::string row_line(const core::TuningRow &row) {
    return row.up_to_bytes == core::TuningRow::no_limit
               ? fmt::format("#   larger: {}", name_of(row))
               : fmt::format("#   up to {}: {}", row.up_to_bytes, name_of(row));
}

}  // namespace

std::vector<std::string> report(const Measured &measured, const std::vector<core::TuningRow> &rows,
                                const std::vector<std::size_t> &chosen) {
    std::vector<std::string> lines{
        fmt::format("# {}", baton_operation_name(measured.tuned.operation)),
        fmt::format("#{:>11} {:>11}  {:<34} {:>11} {:>8}  {}", "size", "in force", "", "tuned", "speedup", ""),
        fmt::format("#{:>11} {:>11}  {:<34} {:>11} {:>8}  {}", "(B)", "(us)", "plan", "(us)", "", "plan")};
    std::size_t changed = 0;
    double most = 1;
    for (std::size_t index = 0; index < chosen.size(); ++index) {
        const Sample &sample = measured.samples[index];
        const Measured::InForce &now = measured.in_force[index];
        const Candidate &candidate = measured.candidates[chosen[index]];
        const double seconds = *sample.seconds[chosen[index]];
        const bool same = runs_as(candidate, now.plan);
        changed += same ? 0 : 1;
        most = std::max(most, now.seconds / seconds);
        lines.push_back(fmt::format("{:>12} {:>11.2f}  {:<34} {:>11.2f} {:>8.2f}  {}", sample.bytes, now.seconds * 1e6,
                                    name_of(now.plan), seconds * 1e6, now.seconds / seconds,
                                    same ? "the same" : name_of(candidate)));
    }
    lines.push_back(changed == 0
                        ? "# every choice is the one in force; the rows:"
                        : fmt::format("# changed at {} of {} sizes, at most {:.2f} times as fast; the rows:", changed,
                                      chosen.size(), most));
    std::transform(rows.begin(), rows.end(), std::back_inserter(lines), row_line);
    return lines;
}

std::string to_json(const Options &options, const Versions &versions, const core::TuningKey &key,
                    const std::vector<Measured> &all) {
    nlohmann::ordered_json json;
    json["baton_tune"] = versions.baton;
    json["versions"] = bench::to_json(versions);
    json["mode"] = options.graph ? "graph" : "eager";
    json["rounds"] = options.rounds;
    json["budget_s"] = options.budget;
    json["noise"] = options.noise;
    json["gpu"] = key.gpu;
    json["link"] = key.link;
    json["ranks"] = key.ranks;
    for (const Measured &measured : all) {
        auto &samples = json["operations"][baton_operation_name(measured.tuned.operation)];
        for (std::size_t index = 0; index < measured.samples.size(); ++index) {
            const Sample &sample = measured.samples[index];
            nlohmann::ordered_json one;
            one["bytes"] = sample.bytes;
            one["in_force"] = {{"plan", name_of(measured.in_force[index].plan)},
                               {"us", measured.in_force[index].seconds * 1e6}};
            for (std::size_t candidate = 0; candidate < sample.seconds.size(); ++candidate) {
                if (sample.seconds[candidate]) {
                    one["candidates"][name_of(measured.candidates[candidate])] = *sample.seconds[candidate] * 1e6;
                }
            }
            samples.push_back(std::move(one));
        }
    }
    return json.dump(2) + "\n";
}

}  // namespace baton::bench::tune
