#include "startup/report.hpp"

#include <fmt/format.h>
#include <mpi.h>

namespace baton::bench::startup {

namespace {

double over_ranks(double value, MPI_Op op) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return value;
}

Row row(const std::string &name, double seconds, int ranks) {
    return {name, over_ranks(seconds, MPI_MAX), over_ranks(seconds, MPI_SUM) / ranks, over_ranks(seconds, MPI_MIN)};
}

std::string line(const Row &row) {
    return fmt::format("{:<28} {:>10.2f} {:>10.2f} {:>10.2f}\n", row.name, row.max * 1e3, row.mean * 1e3,
                       row.min * 1e3);
}

nlohmann::ordered_json to_json(const Row &row) {
    return {{"name", row.name}, {"max_s", row.max}, {"mean_s", row.mean}, {"min_s", row.min}};
}

constexpr double mebibyte = 1 << 20;

}  // namespace

Report gather(const Start &start) {
    Report report;
    report.info = start.info;
    const int ranks = start.info.size;
    for (const core::Phases::Phase &phase : start.before.all()) {
        report.rows.push_back(row(phase.name, phase.seconds, ranks));
    }
    for (const core::Phases::Phase &phase : start.creation.all()) {
        report.rows.push_back(row(fmt::format("create: {}", phase.name), phase.seconds, ranks));
    }
    for (const core::Phases::Phase &phase : start.after.all()) {
        report.rows.push_back(row(phase.name, phase.seconds, ranks));
    }
    report.creation = row("create, all of it", start.creation.seconds(), ranks);
    report.call = row("create and first call", start.call_seconds, ranks);
    report.all = row("since the processes started", start.age, ranks);
    report.hwloc_loads = over_ranks(start.hwloc_loads, MPI_SUM);
    report.resident_max = over_ranks(start.resident_growth, MPI_MAX);
    report.resident_sum = over_ranks(start.resident_growth, MPI_SUM);
    report.right = over_ranks(start.right ? 1 : 0, MPI_MIN) > 0;
    return report;
}

std::string table(const Report &report) {
    const baton_info &info = report.info;
    std::string text =
        fmt::format("# Baton start-up, {} rank{} on {}; {}\n# links are {}\n", info.size, info.size == 1 ? "" : "s",
                    info.on_gpu != 0 ? "GPUs" : "host memory", info.reach, info.links);
    text += fmt::format("{:<28} {:>10} {:>10} {:>10}\n", "# phase", "max(ms)", "mean(ms)", "min(ms)");
    for (const Row &one : report.rows) {
        text += line(one);
    }
    text += line(report.creation) + line(report.call) + line(report.all);
    text += fmt::format("# Baton loaded hwloc {:.0f} times on all ranks together\n", report.hwloc_loads);
    text += fmt::format("# resident memory grew by {:.1f} MiB on a rank at most, {:.1f} MiB on all together\n",
                        report.resident_max / mebibyte, report.resident_sum / mebibyte);
    text +=
        fmt::format("# Baton's own memory on rank 0: {:.1f} MiB on the device, {:.1f} MiB on the host\n",
                    static_cast<double>(info.device_bytes) / mebibyte, static_cast<double>(info.host_bytes) / mebibyte);
    if (!report.right) {
        text += "# the first collective's result is WRONG\n";
    }
    return text;
}

nlohmann::ordered_json to_json(const Report &report, const Versions &versions) {
    const baton_info &info = report.info;
    nlohmann::ordered_json json;
    json["baton_startup"] = versions.baton;
    json["versions"] = bench::to_json(versions);
    json["ranks"] = info.size;
    json["on_gpu"] = info.on_gpu != 0;
    json["reach"] = info.reach;
    json["links"] = info.links;
    json["phases"] = nlohmann::ordered_json::array();
    for (const Row &one : report.rows) {
        json["phases"].push_back(to_json(one));
    }
    json["create"] = to_json(report.creation);
    json["create_and_first_call"] = to_json(report.call);
    json["since_process_start"] = to_json(report.all);
    json["hwloc_loads"] = report.hwloc_loads;
    json["resident_growth_bytes"] = {{"max", report.resident_max}, {"sum", report.resident_sum}};
    json["device_bytes"] = info.device_bytes;
    json["host_bytes"] = info.host_bytes;
    json["right"] = report.right;
    return json;
}

}  // namespace baton::bench::startup
