#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "atomic_file.hpp"
#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "program.hpp"
#include "topology/discover.hpp"
#include "topology/links.hpp"
#include "topology/summary.hpp"
#include "tune/file.hpp"
#include "tune/measure.hpp"
#include "tune/report.hpp"
#include "util/environment.hpp"

namespace baton::bench::tune {

namespace {

constexpr std::size_t mebibyte = 1 << 20;

struct EnvironmentVariable {
    const char *name;
    std::string_view neutral = {};  // the value that changes nothing, if there is one
};

/// Refuses variables that are set on any rank, since some of them are in force on all ranks if one has them.
void refuse(const World &world, std::initializer_list<EnvironmentVariable> variables, const char *why) {
    for (const EnvironmentVariable &variable : variables) {
        const char *value = core::variable(variable.name);
        const bool set = value != nullptr && value != variable.neutral;
        const auto rank = static_cast<int>(world.min(set ? world.rank() : world.size()));
        if (rank < world.size()) {
            throw Refusal(fmt::format("{} is set on rank {}: {}", variable.name, rank, why), 2);
        }
    }
}

/// Refuses settings under which candidates would not be measured: the table is for everybody who has this machine.
void refuse_settings_that_win(const World &world, MemorySpace memory_space) {
    refuse(world,
           {{"BATON_TRANSPORT", "auto"}, {"BATON_PACKET_LIMIT"}, {"BATON_LINES", "auto"}, {"BATON_COPY_ENGINE_LIMIT"}},
           "unset it there: it is stronger than any table, so nothing could be measured");
    if (memory_space == MemorySpace::host) {  // GPUs that do not reach each other have tables of their own
        refuse(world, {{"BATON_P2P", "auto"}, {"BATON_TOPOLOGY", "none"}},
               "unset it there: a table for host memory is measured without it");
    }
}

/// The key on rank 0; of no use on the others.
core::TuningKey key_of(const Communicator &communicator, const topology::Snapshot &machine) {
    const std::vector<std::string> names = communicator.world().gather(communicator.info().device_name);
    const std::vector<std::string> uuids = communicator.world().gather(communicator.info().device_uuid);
    if (!communicator.on_gpu()) {
        return core::host_tuning_key(communicator.size());
    }
    if (communicator.info().peer_access == 0) {
        return core::staging_tuning_key(names);
    }
    return core::gpu_tuning_key(names, topology::link_name(topology::weakest_link(machine, uuids)));
}

class Tuner {
public:
    Tuner(const World &world, const Options &options, MemorySpace memory_space)
        : world_(world),
          options_(options),
          communicator_(world, memory_space, tuning_in_force()),
          verifier_(communicator_) {
        topology::Snapshot machine;
        world.on_rank_0([&] {
            path_ = file_to_write(options_.file);
            tables_of(path_);  // an error in it should show now
            if (!options_.dry_run) {
                make_user_folder(path_);
                file_.emplace(path_);
            }
            if (!options_.json.empty()) {
                json_.emplace(options_.json);
                if (json_->is(path_)) {
                    throw Error(fmt::format("--json: {} is the tuning file", options_.json), 2);
                }
            }
            machine = topology::discover();
            versions_ = versions_on(machine);
        });
        table_.key = key_of(communicator_, machine);
        world.on_rank_0([&] { before_ = tuning_before(path_, table_.key); });
        line("# tuning for {}", to_string(table_.key));
        if (world.rank() == 0) {
            std::printf("%s", topology::summarize(machine).c_str());
        }
    }

    void run() {
        const Setting setting{options_, communicator_, verifier_, table_.key};
        for (const Tuned &tuned : tuned_kinds()) {
            if (std::count(options_.operations.begin(), options_.operations.end(), tuned.operation) > 0) {
                add(measure(setting, tuned));
            }
        }
        if (all_.empty()) {
            throw Refusal("nothing was measured");
        }
        world_.on_rank_0([&] { write(); });
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args &&...args) const {
        if (world_.rank() == 0) {
            std::printf("%s\n", fmt::format(format, std::forward<Args>(args)...).c_str());
            std::fflush(stdout);
        }
    }

    void add(Measured measured) {
        if (measured.samples.empty()) {
            return line("\n# {}: no size of it is up to {} bytes", baton_operation_name(measured.tuned.operation),
                        options_.max_bytes);
        }
        std::vector<std::size_t> chosen;
        const auto rows = continued(derive_rows(measured.candidates, measured.samples, options_.noise, chosen),
                                    measured.samples.back().bytes, rows_above(measured));
        line("");
        for (const std::string &text : report(measured, rows, chosen)) {
            line("{}", text);
        }
        table_.operations[measured.tuned.operation] = rows;
        all_.push_back(std::move(measured));
    }

    /// The rows for the sizes above those measured. In a file, built-in rows would be stronger than they are now, for
    /// instance where the links decide. So what is in force goes in their place.
    std::span<const core::TuningRow> rows_above(const Measured &measured) const {
        const core::TuningTable *table = core::table_for(before_, measured.tuned.operation);
        const bool as_in_force = (table == nullptr || table->built_in) && !measured.in_force_above.empty();
        return as_in_force ? measured.in_force_above : core::rows_for(before_, measured.tuned.operation);
    }

    /// Writes both files. Drafts both before it publishes either, so that neither changes where one of them or the
    /// printed text cannot be written. Times for the standard output come last, after all that is printed there: if
    /// only they cannot be written, the tuning file has been.
    void write() {
        line("");
        if (!output_is_written()) {
            return;  // run_benchmark() says so at the end
        }
        std::vector<core::TuningTable> after;
        if (json_) {
            json_->draft(to_json(options_, versions_, table_.key, all_));
        }
        if (file_) {
            after = merged(tables_of(path_), table_);
            file_->draft(core::format_tuning(after));
            file_->publish();
            say_what_is_written(after);
        } else {
            line("# {} is as it was: --dry-run", path_);
        }
        if (json_) {
            line("# all times: {}", options_.json);
            json_->publish();
        }
    }

    void say_what_is_written(const std::vector<core::TuningTable> &tables) const {
        line("# written: {}, with tables for", path_);
        for (const core::TuningTable &table : tables) {
            line("#   {}", to_string(table.key));
        }
        if (!is_read(path_)) {
            line("# programs read it with BATON_TUNING={}", path_);
        }
    }

    const World &world_;
    const Options &options_;
    const Communicator communicator_;
    const Verifier verifier_;
    std::string path_;
    std::optional<AtomicFile> file_;
    std::optional<AtomicFile> json_;
    Versions versions_;    // on rank 0
    core::Tuning before_;  // likewise
    core::TuningTable table_;
    std::vector<Measured> all_;
};

int run(const World &world, int argc, char **argv) {
    Options options = parse_options(argc, argv, world.rank() == 0);
    const MemorySpace memory_space = choose_memory_space(world, options.device);
    if (options.graph && memory_space == MemorySpace::host) {
        throw Refusal("--graph needs GPUs", 2);
    }
    refuse_settings_that_win(world, memory_space);
    if (options.max_bytes == 0) {
        options.max_bytes = (memory_space == MemorySpace::gpu ? 256 : 4) * mebibyte;
    }
    Tuner(world, options, memory_space).run();
    return 0;
}

}  // namespace

}  // namespace baton::bench::tune

int main(int argc, char **argv) {
    using namespace baton::bench;
    return run_benchmark(argc, argv, [&](const World &world) { return tune::run(world, argc, argv); });
}
