#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "comm/communicator.hpp"
#include "comm/machine.hpp"

namespace baton::core {
namespace {

TuningKey key_of(const std::vector<DeviceIdentity> &gpus, int ranks, bool reach_each_other) {
    if (gpus.empty()) return host_tuning_key(ranks);
    std::vector<std::string> names;
    std::vector<std::string> uuids;
    for (const DeviceIdentity &gpu : gpus) {
        names.push_back(gpu.name);
        uuids.push_back(gpu.uuid);
    }
    return reach_each_other ? gpu_tuning_key(names, uuids, machine()) : staging_tuning_key(names);
}

}  // namespace

/// Rank 0 reads the file and looks at the machine; the others get its table, so that ranks cannot disagree. For
/// operations that the file leaves out there are the tables that are compiled in.
void Communicator::settle_tuning(const baton_config &config, const std::vector<DeviceIdentity> &gpus) {
    std::string text;
    std::string origin;
    together([&] {
        if (view_.rank != 0) return;
        TuningTable own;
        own.key = key_of(gpus, view_.size, no_p2p_.empty());
        const std::vector<TuningTable> tables = read_tuning(config.tuning);
        if (const TuningTable *found = find_table(tables, own.key)) own = *found;
        text = format_tuning({own});
        origin = own.origin;
    });
    text = bootstrap_->allgather_strings(text)[0];
    origin = bootstrap_->allgather_strings(origin)[0];
    together([&] {
        capabilities_.tuning = parse_tuning(text, origin);
        const TuningKey key = capabilities_.tuning.front().key;
        capabilities_.tuning.push_back(nearest_table(built_in_tables(), key));
    });
}

}  // namespace baton::core
