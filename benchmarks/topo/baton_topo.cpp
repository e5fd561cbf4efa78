#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>

#include "atomic_file.hpp"
#include "program.hpp"
#include "topo/measure.hpp"
#include "topo/options.hpp"
#include "topology/cuda_devices.hpp"
#include "topology/discover.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/override.hpp"
#include "topology/printable.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/tool/advice_json.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/picture.hpp"
#include "topology/tool/png.hpp"
#include "topology/tool/rank_gpus.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

/// The GPU that this rank would use, as bench::Communicator chooses it.
RankGpu my_gpu(const bench::World &world) {
    const CudaFacts cuda = read_cuda();
    if (cuda.devices.empty()) return {world.local_rank(), {}, {}, {}};
    const CudaDevice &device = cuda.devices[static_cast<std::size_t>(world.local_rank()) % cuda.devices.size()];
    return {world.local_rank(), device.uuid, device.pci, device.name};
}

/// The GPUs of all ranks, on rank 0.
std::vector<RankGpu> gather_gpus(const bench::World &world) {
    std::vector<RankGpu> ranks;
    for (const std::string &line : world.gather(to_line(my_gpu(world)))) ranks.push_back(rank_gpu_from(line));
    return ranks;
}

Snapshot read_snapshot(const Options &options) {
    Snapshot snapshot = options.from.empty() ? discover() : read_machine_file(options.from);
    if (options.override_file.empty()) return snapshot;
    return apply_override(read_override(read_text_file(options.override_file), options.override_file),
                          std::move(snapshot));
}

std::string text_of(const Machine &machine, const std::vector<std::string> &show) {
    Abbreviations used;
    const std::pair<const char *, std::function<std::string()>> makers[] = {{"matrix", [&] { return matrix_text(machine, used); }},
                                                                            {"matrix", [&] { return nic_names_text(machine); }},
                                                                            {"bandwidth", [&] { return bandwidth_text(machine, used); }},
                                                                            {"tree", [&] { return tree_text(machine); }},
                                                                            {"ring", [&] { return ring_text(machine, used); }},
                                                                            {"ranks", [&] { return ranks_text(machine, used); }}};
    std::vector<std::string> parts;
    std::string all;
    for (const auto &[name, make] : makers) {
        if (std::count(show.begin(), show.end(), name) == 0) continue;
        parts.push_back(make());
        all += parts.back();
    }
    // If only one part was asked for, say why it is empty; among others it is left out silently.
    if (show.size() == 1 && all.empty())
        parts[0] = fmt::format("Nothing to show: {} takes {}\n", show[0],
                               show[0] == "ranks" ? "several ranks under mpirun, on this machine" : "two GPUs or more");
    if (!parts.empty()) parts.insert(parts.begin() + 1, used.legend());
    parts.push_back(gaps_text(machine));
    std::string text = header_text(machine);
    for (const std::string &part : parts)
        if (!part.empty()) text += "\n" + part;
    return printable(text, '\n');
}

/// The files by name.
using Files = std::map<std::string, bench::AtomicFile>;

/// Opens the files before anything is read or measured, so that an unwritable one is known by then. Leaves nothing
/// there.
Files open_files(const Options &options) {
    Files files;
    for (const std::string &name : options.outputs()) {
        if (name.empty() || name == "-") continue;
        for (const auto &[ignored, file] : files)
            if (file.is(name)) throw bench::Error(fmt::format("two things cannot both go to {}", name));
        files.try_emplace(name, name);
    }
    return files;
}

struct Output {
    std::string file;
    std::string content;
};

/// Makes all of the output before any of it is written.
std::vector<Output> make_outputs(const Machine &machine, const Options &options) {
    std::vector<Output> outputs;
    if (!options.show.empty()) outputs.push_back({"-", text_of(machine, options.show)});
    if (!options.svg.empty()) outputs.push_back({options.svg, draw_picture(machine)});
    if (!options.png.empty()) outputs.push_back({options.png, make_png(draw_picture(machine))});
    if (!options.json.empty()) outputs.push_back({options.json, snapshot_to_json(machine.snapshot, 2) + "\n"});
    if (!options.advice.empty()) outputs.push_back({options.advice, advice_to_json(machine) + "\n"});
    if (!options.xml.empty()) outputs.push_back({options.xml, to_hwloc_xml(machine.snapshot)});
    return outputs;
}

/// Writes all of the files or none; none if the standard output cannot be written, which run_benchmark() says.
void write(const std::vector<Output> &outputs, Files &files) {
    for (const Output &output : outputs)
        if (output.file != "-") files.at(output.file).draft(output.content);
    for (const Output &output : outputs)
        if (output.file == "-") std::fwrite(output.content.data(), 1, output.content.size(), stdout);
    if (!bench::output_is_written()) return;
    for (const bool printed : {true, false})
        for (auto &[ignored, file] : files)
            if (file.is_standard_output() == printed) file.publish();
}

/// Runs `work` on rank 0. What it throws becomes wrong usage on all ranks.
void on_rank_0_as_usage(const bench::World &world, const std::function<void()> &work) {
    world.on_rank_0([&] {
        try {
            work();
        } catch (const std::exception &error) {
            throw bench::Error(printable(error.what()), 2);
        }
    });
}

int run(const bench::World &world, int argc, char **argv) {
    const Options options = parse_options(argc, argv, world.rank() == 0);
    const std::vector<RankGpu> ranks = options.from.empty() ? gather_gpus(world) : std::vector<RankGpu>();
    Files files;
    Snapshot snapshot;
    std::vector<int> gpus;
    on_rank_0_as_usage(world, [&] {
        require_one_host(ranks);
        files = open_files(options);
        snapshot = read_snapshot(options);
        gpus = find_or_add_gpus(ranks, snapshot);
    });
    if (options.measure) measure_pairs(world, gpus, snapshot);
    on_rank_0_as_usage(world, [&] {
        if (gpus.size() < 2) gpus.clear();
        const Machine machine = make_machine(options.from, std::move(snapshot), std::move(gpus));
        write(make_outputs(machine, options), files);
    });
    return 0;
}

}  // namespace
}  // namespace baton::topology

int main(int argc, char **argv) {
    using namespace baton;
    return bench::run_benchmark(argc, argv,
                                [&](const bench::World &world) { return topology::run(world, argc, argv); });
}
