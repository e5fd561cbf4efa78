#include "tune/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "api/calls.hpp"
#include "perf/comparison.hpp"
#include "perf/side.hpp"
#include "tune/file.hpp"

namespace baton::bench::tune {

namespace {

/// A candidate is not measured further at a size if its first calls take this many times as long as the fastest one's.
constexpr double hopeless = 2;

constexpr int warm_up_calls = 5;
constexpr int most_calls = 20;  // in a round

/// No built-in table changes above this size.
constexpr std::size_t largest_looked_at = std::size_t{1} << 30;

Shape shape_of(const Tuned &tuned, std::size_t bytes) {
    return {tuned.kind, BATON_FLOAT32, BATON_SUM, bytes / baton_type_size(BATON_FLOAT32), InPlaceForm::no};
}

Ranks ranks_of(const Communicator &communicator) {
    if (!communicator.on_gpu()) {
        return Ranks::on_host;
    }
    return communicator.info().peer_access != 0 ? Ranks::on_gpus : Ranks::on_gpus_apart;
}

/// One of the communicators that take turns. Each has a tuning of its own; all use the same buffers.
class Contender {
public:
    Contender(const Setting &setting, const BatonLibrary &buffers, std::size_t window_bytes, const char *tuning,
              std::string name)
        : name_(std::move(name)),
          verifier_(setting.verifier),
          communicator_(setting.communicator.world(), setting.communicator.memory_space(), tuning),
          library_(communicator_, buffers, window_bytes) {}

    const std::string &name() const { return name_; }
    core::Plan plan(baton_operation operation, const Shape &shape) const {
        const auto found = core::find_comm(communicator_.handle());
        return found->turn().planner().plan(operation, shape.count, shape.type, shape.op);
    }
    std::unique_ptr<perf::Side> side(const Shape &shape, perf::Mode mode) {
        return std::make_unique<perf::Side>(communicator_, shape, mode, verifier_, library_);
    }

private:
    const std::string name_;
    const Verifier &verifier_;
    const Communicator communicator_;
    BatonLibrary library_;
};

/// A contender at one size.
struct Entry {
    std::size_t contender;
    std::unique_ptr<perf::Side> side;
    Candidate row;             // of its plan
    double first_seconds = 0;  // per call, before the rounds
    double seconds = 0;        // per call, by the median of the rounds
};

class Sweep {
public:
    Sweep(const Setting &setting, const Tuned &tuned)
        : options_(setting.options),
          mode_(setting.options.graph ? perf::Mode::graph : perf::Mode::eager),
          channels_(setting.communicator.info().channels),
          sizes_(sizes_for(tuned.operation, setting.options.max_bytes)) {
        const Communicator &communicator = setting.communicator;
        measured_.tuned = tuned;
        const bool copy_engines = !options_.graph && communicator.size() > 1;
        measured_.candidates =
            candidates_for(tuned.operation, ranks_of(communicator), communicator.size(), channels_, copy_engines);
        if (sizes_.empty()) {
            return;
        }
        const BufferBytes bytes = perf::needed({shape_of(tuned, sizes_.back())}, communicator.size());
        buffers_ = std::make_unique<BatonLibrary>(communicator, BufferBytes{bytes.send, bytes.recv, 0}, Memory::malloc);
        const auto enter = [&](const char *tuning, const std::string &name) {
            contenders_.push_back(std::make_unique<Contender>(setting, *buffers_, bytes.window, tuning, name));
        };
        // Ways that the links do not allow are left out. They would cost a communicator for every number of channels,
        // and never run.
        for (const core::Algorithm routed :
             {core::Algorithm::ring, core::Algorithm::chain, core::Algorithm::two_level}) {
            const auto is_one = [&](const Candidate &candidate) { return candidate.algorithm == routed; };
            auto &candidates = measured_.candidates;
            const auto first = std::find_if(candidates.begin(), candidates.end(), is_one);
            if (first == candidates.end()) {
                continue;
            }
            const Contender trial(setting, *buffers_, bytes.window,
                                  tuning_with(setting.key, tuned.operation, *first).c_str(), "");
            if (!runs_as(*first, trial.plan(tuned.operation, shape_of(tuned, sizes_.back())))) {
                std::erase_if(candidates, is_one);
            }
        }
        const auto enter_candidate = [&](const Candidate &candidate) {
            enter(tuning_with(setting.key, tuned.operation, candidate).c_str(), name_of(candidate));
        };
        std::for_each(measured_.candidates.begin(), measured_.candidates.end(), enter_candidate);
        enter(tuning_in_force(), "what is in force");
        for (const std::size_t size : sizes_) {
            const Candidate in_force = row_at(*contenders_.back(), size);
            const bool possible = in_force.mover != core::Mover::copy_engine || copy_engines;
            if (possible && !candidates_run_as_in_force(size)) {
                measured_.candidates.push_back(in_force);
                enter_candidate(in_force);
                std::iter_swap(contenders_.end() - 2, contenders_.end() - 1);  // what is in force stays the last
            }
        }
    }

    Measured run() {
        for (const std::size_t bytes : sizes_) {
            measure(bytes);
        }
        if (!sizes_.empty()) {
            measured_.in_force_above = in_force_above(sizes_.back());
        }
        return std::move(measured_);
    }

private:
    /// Whether a candidate runs as what is in force does. If none did, perhaps by its number of channels, it could not
    /// stay.
    bool candidates_run_as_in_force(std::size_t bytes) const {
        const Candidate in_force = row_at(*contenders_.back(), bytes);
        return std::any_of(contenders_.begin(), contenders_.end() - 1,
                           [&](const auto &candidate) { return row_at(*candidate, bytes) == in_force; });
    }

    core::Plan plan_at(const Contender &contender, std::size_t bytes) const {
        return contender.plan(measured_.tuned.operation, shape_of(measured_.tuned, bytes));
    }
    Candidate row_at(const Contender &contender, std::size_t bytes) const {
        return row_of(plan_at(contender, bytes), channels_);
    }

    /// The rows in force above `largest`, whatever decides there: the links, what is possible. Empty if only tables do.
    std::vector<core::TuningRow> in_force_above(std::size_t largest) const {
        std::vector<core::TuningRow> rows;
        bool by_table = true;
        const std::size_t end = std::max(largest_looked_at, 2 * largest);
        for (std::size_t before = largest, bytes = 2 * largest; bytes <= end; before = bytes, bytes *= 2) {
            const core::Plan plan = plan_at(*contenders_.back(), bytes);
            if (plan.reason == core::Reason::buffered) {  // no row says anything about these
                continue;
            }
            by_table = by_table && plan.reason == core::Reason::tuned;
            const Candidate row = row_of(plan, channels_);
            if (!rows.empty() && rows.back() != row) {
                rows.back().up_to_bytes = last_size_of(rows.back(), before, bytes);
            }
            if (rows.empty() || rows.back() != row) {
                rows.push_back(row);
            }
        }
        return by_table ? std::vector<core::TuningRow>() : rows;
    }

    /// The largest size from `first` on that runs as `row`; `after` does not. Nothing is known of the bytes between two
    /// elements: there, tables end or begin at a power of two.
    std::size_t last_size_of(const core::TuningRow &row, std::size_t first, std::size_t after) const {
        const std::size_t element = baton_type_size(BATON_FLOAT32);
        while (after - first > element) {
            const std::size_t middle = first + (after - first) / 2 / element * element;
            (row_at(*contenders_.back(), middle) == row ? first : after) = middle;
        }
        return std::has_single_bit(after) ? after - 1 : first;
    }

    /// The candidates that run as themselves, and what is in force unless one of them is the same.
    std::vector<Entry> entries_at(std::size_t bytes, const Candidate &in_force) const {
        const Shape shape = shape_of(measured_.tuned, bytes);
        std::vector<Entry> entries;
        bool included = false;
        for (std::size_t index = 0; index < contenders_.size(); ++index) {
            const core::Plan plan = plan_at(*contenders_[index], bytes);
            const Candidate row = row_of(plan, channels_);
            const bool wanted =
                index < measured_.candidates.size() ? runs_as(measured_.candidates[index], plan) : !included;
            if (wanted) {
                included = included || row == in_force;
                entries.push_back({index, contenders_[index]->side(shape, mode_), row});
            }
        }
        return entries;
    }

    /// Makes the first calls. They decide how many calls a round has, and drop candidates that have no chance beside
    /// the fastest one.
    void warm_up(std::vector<Entry> &entries, const Candidate &in_force) const {
        double fastest = INFINITY;
        double fastest_candidate = INFINITY;
        for (Entry &entry : entries) {
            entry.first_seconds = entry.side->warm_up(warm_up_calls);
            fastest = std::min(fastest, entry.first_seconds);
            if (is_candidate(entry)) {
                fastest_candidate = std::min(fastest_candidate, entry.first_seconds);
            }
        }
        std::erase_if(entries, [&](const Entry &entry) {
            return entry.row != in_force && entry.first_seconds > hopeless * fastest_candidate;
        });
        const int calls = perf::calls_for(options_.budget / options_.rounds, fastest, most_calls);
        for (Entry &entry : entries) {
            entry.side->set_calls(calls);
        }
    }

    void measure(std::size_t bytes) {
        Measured::InForce in_force{plan_at(*contenders_.back(), bytes), 0};
        const Candidate row_in_force = row_of(in_force.plan, channels_);
        std::vector<Entry> entries = entries_at(bytes, row_in_force);
        run_rounds(entries, row_in_force, bytes);
        Sample sample{bytes, std::vector<std::optional<double>>(measured_.candidates.size()), {}};
        for (const Entry &entry : entries) {
            if (is_candidate(entry)) {
                sample.seconds[entry.contender] = entry.seconds;
            }
            if (entry.row == row_in_force) {
                in_force.seconds = entry.seconds;
                sample.in_force = is_candidate(entry) ? std::optional(entry.contender) : std::nullopt;
            }
        }
        if (const auto winner = winner_of(sample, options_.noise)) {
            sample.in_force_stays = !wins_again(*winner, *sample.in_force, bytes);
        }
        measured_.samples.push_back(std::move(sample));
        measured_.in_force.push_back(in_force);
    }

    /// Whether the winner is also faster beside what is in force alone. The fastest of many looks faster than it is:
    /// among equals it is the one that was lucky.
    bool wins_again(std::size_t winner, std::size_t in_force, std::size_t bytes) const {
        const Shape shape = shape_of(measured_.tuned, bytes);
        const Candidate row_in_force = row_at(*contenders_[in_force], bytes);
        std::vector<Entry> two;
        for (const std::size_t candidate : {winner, in_force}) {
            two.push_back(
                {candidate, contenders_[candidate]->side(shape, mode_), row_at(*contenders_[candidate], bytes)});
        }
        run_rounds(two, row_in_force, bytes);
        return two.size() == 2 && two[1].seconds > two[0].seconds * (1 + options_.noise);
    }

    void run_rounds(std::vector<Entry> &entries, const Candidate &in_force, std::size_t bytes) const {
        warm_up(entries, in_force);
        for (int round = 0; round < options_.rounds; ++round) {
            for (const std::size_t index : perf::round_order(entries.size(), round)) {
                entries[index].side->run_checked_round();
            }
        }
        for (Entry &entry : entries) {
            const perf::Timing timing = entry.side->finish();
            if (timing.wrong > 0) {
                throw Refusal(fmt::format("{} of {} bytes by {}: {} WRONG elements",
                                          baton_operation_name(measured_.tuned.operation), bytes,
                                          contenders_[entry.contender]->name(), timing.wrong));
            }
            entry.seconds = timing.median;
        }
    }

    bool is_candidate(const Entry &entry) const { return entry.contender < measured_.candidates.size(); }

    const Options &options_;
    const perf::Mode mode_;
    const int channels_;
    const std::vector<std::size_t> sizes_;
    Measured measured_;
    std::unique_ptr<BatonLibrary> buffers_;
    std::vector<std::unique_ptr<Contender>> contenders_;
};

}  // namespace

Measured measure(const Setting &setting, const Tuned &tuned) { return Sweep(setting, tuned).run(); }

}  // namespace baton::bench::tune
