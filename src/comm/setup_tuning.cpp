// Creation of a communicator: how its operations are to run, and the arenas that follow from it.
#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "comm/arena_limits.hpp"
#include "comm/config.hpp"
#include "comm/gpu_share.hpp"
#include "comm/machine.hpp"
#include "comm/setup.hpp"
#include "topology/links.hpp"

namespace baton::core {
namespace {

TuningKey key_of(const std::vector<DeviceIdentity> &gpus, int ranks, bool reach_each_other) {
    if (gpus.empty()) return host_tuning_key(ranks);
    std::vector<std::string> names;
    for (const DeviceIdentity &gpu : gpus) names.push_back(gpu.name);
    if (!reach_each_other) return staging_tuning_key(names);
    return gpu_tuning_key(names, topology::link_name(topology::weakest_link(machine(), uuids_of(gpus))));
}

}  // namespace

/// Rank 0 reads the file and looks at the machine. The others get its table, so that ranks cannot disagree. Operations
/// that the file leaves out follow the compiled-in tables.
void Setup::settle_tuning(bool reach_each_other) {
    std::string told;  // origin and text, with a character between them that no file name has
    meetings_.together([&] {
        if (view_.rank != 0) return;
        TuningTable own;
        own.key = key_of(gpus_, view_.size, reach_each_other);
        const std::vector<TuningTable> tables = read_tuning(config_.tuning);
        if (const TuningTable *found = find_table(tables, own.key)) own = *found;
        told = own.origin + '\0' + format_tuning({own});
    });
    told = bootstrap_.allgather_strings(told)[0];
    meetings_.together([&] {
        const std::size_t end_of_origin = told.find('\0');
        Tuning &tuning = capabilities_.tuning;
        tuning = parse_tuning(told.substr(end_of_origin + 1), told.substr(0, end_of_origin));
        const TuningKey key = tuning.front().key;
        tuning.push_back(nearest_table(built_in_tables(), key));
    });
}

void Setup::settle_capabilities(bool reach_each_other) {
    settle_tuning(reach_each_other);
    std::vector<int> generations;
    for (const DeviceIdentity &gpu : gpus_) generations.push_back(gpu.generation);
    const ArenaLayout::Limits limits = arena_limits(config_, capabilities_, reach_each_other, generations);
    const ArenaLayout layout = ArenaLayout::make(view_.size, capabilities_.channels, limits);
    take_arena_sizes(limits, layout, capabilities_);
    capabilities_.packet_limit_set = config_.packet_limit != unset_size;
    if (config_.copy_engine_limit != unset_size) capabilities_.copy_engine_limit = config_.copy_engine_limit;
    view_.layout = layout;
}

}  // namespace baton::core
