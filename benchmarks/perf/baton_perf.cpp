#include <fmt/format.h>

#include <algorithm>

#include "names.hpp"
#include "perf/measure.hpp"
#include "perf/report.hpp"

namespace baton::bench::perf {

namespace {

Place choose_place(const World &world, Device device) {
    if (device == Device::automatic) {
        return world.all(visible_gpus() > 0) ? Place::gpu : Place::host;
    }
    return device == Device::cuda ? Place::gpu : Place::host;
}

/// Fills in the sizes that depend on where the buffers are.
void complete(Options &options, Place place) {
    constexpr std::size_t default_min = 1024;
    const std::size_t default_max = std::size_t{place == Place::gpu ? 64U : 4U} << 20;
    if (options.max_bytes == 0) {
        options.max_bytes = std::max(default_max, options.min_bytes);
    }
    if (options.min_bytes == 0) {
        options.min_bytes = std::min(default_min, options.max_bytes);
    }
}

std::vector<TableKey> tables(const Options &options, Place place, Report &report) {
    std::vector<TableKey> keys;
    for (const Kind kind : options.operations) {
        for (const Memory memory : options.memories) {
            for (const InPlace in_place : options.in_place) {
                for (const Mode mode : options.modes) {
                    const bool exists = (in_place == InPlace::no || has_in_place(kind)) &&
                                        (kind != Kind::barrier || memory == options.memories.front());
                    if (exists && (mode == Mode::eager || place == Place::gpu)) {
                        keys.push_back({kind, mode, in_place, memory});
                    }
                }
            }
        }
    }
    if (place == Place::host && std::count(options.modes.begin(), options.modes.end(), Mode::graph) > 0) {
        report.note("graph mode is left out: CUDA graphs need GPUs");
    }
    return keys;
}

std::vector<Shape> shapes(const TableKey &key, const Options &options, int ranks) {
    if (key.kind == Kind::barrier) {
        return {{key.kind, BATON_UINT8, BATON_SUM, 0, InPlace::no}};
    }
    std::vector<Shape> all;
    for (const baton_type type : options.types) {
        for (const baton_op op : has_reduction(key.kind) ? options.ops : std::vector<baton_op>{BATON_SUM}) {
            for (std::size_t bytes = options.min_bytes; is_defined(op, type) && bytes <= options.max_bytes;
                 bytes *= options.factor) {
                const std::size_t count = count_for(key.kind, type, bytes, ranks);
                if (count > 0) {
                    all.push_back({key.kind, type, op, count, key.in_place});
                }
                if (bytes > options.max_bytes / options.factor) {
                    break;
                }
            }
        }
    }
    return all;
}

void run_table(const TableKey &key, const Options &options, const Communicator &communicator, const Verifier &verifier,
               Report &report) {
    const std::vector<Shape> all = shapes(key, options, communicator.size());
    if (all.empty()) {
        return report.note(fmt::format("{}: no size from {} to {} bytes holds an element per rank", kind_name(key.kind),
                                       options.min_bytes, options.max_bytes));
    }
    std::size_t send = 0;
    std::size_t recv = 0;
    for (const Shape &shape : all) {
        send = std::max(send, send_elements(shape, communicator.size()) * baton_type_size(shape.type));
        recv = std::max(recv, recv_elements(shape, communicator.size()) * baton_type_size(shape.type));
    }
    const std::size_t window = key.kind == Kind::put || key.kind == Kind::get ? send : 0;
    Workspace workspace(communicator, send, recv, window, key.memory);
    report.begin_table(key);
    for (const Buffer *buffer : {&workspace.send, &workspace.recv}) {
        if (!buffer->refusal().empty()) {
            report.note("not registered: " + buffer->refusal());
            break;
        }
    }
    for (const Shape &shape : all) {
        report.add(measure(shape, key.mode, options, communicator, verifier, workspace));
    }
    report.end_table();
}

int run(const World &world, int argc, char **argv) {
    int exit_code = 0;
    auto options = parse_options(argc, argv, world.rank() == 0, exit_code);
    if (!options) {
        return exit_code;
    }
    const Place place = choose_place(world, options->device);
    complete(*options, place);
    const Communicator communicator(world, place);
    const Verifier verifier(communicator);
    Report report(*options, communicator);
    for (const TableKey &key : tables(*options, place, report)) {
        run_table(key, *options, communicator, verifier, report);
    }
    report.finish();
    return report.wrong() == 0 ? 0 : 1;
}

}  // namespace

}  // namespace baton::bench::perf

int main(int argc, char **argv) {
    using namespace baton::bench;
    return run_benchmark(argc, argv, [&](const World &world) { return perf::run(world, argc, argv); });
}
