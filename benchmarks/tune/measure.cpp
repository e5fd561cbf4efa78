#include "tune/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "perf/comparison.hpp"
#include "perf/side.hpp"
#include "tune/file.hpp"

namespace baton::bench::tune {

namespace {

/// A candidate that takes so many times as long as the fastest in the first calls is not measured further at that size.
constexpr double hopeless = 2;

constexpr int warm_up_calls = 5;
constexpr int most_calls = 20;  // of a round

Shape shape_of(const Tuned &tuned, std::size_t bytes) {
    return {tuned.kind, BATON_FLOAT32, BATON_SUM, bytes / baton_type_size(BATON_FLOAT32), InPlaceForm::no};
}

Ranks ranks_of(const Communicator &communicator) {
    if (!communicator.on_gpu()) {
        return Ranks::on_host;
    }
    return communicator.info().peer_access != 0 ? Ranks::on_gpus : Ranks::on_gpus_apart;
}

/// One of those that take turns: a communicator with a tuning of its own, on buffers that all of them use.
class Contender {
public:
    Contender(const Setting &setting, const BatonLibrary &buffers, std::size_t window_bytes, const char *tuning,
              std::string name)
        : name_(std::move(name)),
          verifier_(setting.verifier),
          communicator_(setting.communicator.world(), setting.communicator.memory_space(), tuning),
          library_(communicator_, buffers, window_bytes) {}

    const std::string &name() const { return name_; }
    std::string explanation(const Shape &shape) const {
        Call call;
        call.shape = shape;
        return library_.explain(call);
    }
    std::string plan(const Shape &shape) const { return plan_of(explanation(shape)); }
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
    std::string plan;
    double first_seconds = 0;  // a call, before the rounds
};

class Sweep {
public:
    Sweep(const Setting &setting, const Tuned &tuned)
        : options_(setting.options),
          mode_(setting.options.graph ? perf::Mode::graph : perf::Mode::eager),
          sizes_(sizes_for(tuned.operation, setting.options.max_bytes)) {
        const Communicator &communicator = setting.communicator;
        measured_.tuned = tuned;
        measured_.candidates = candidates_for(tuned.operation, ranks_of(communicator), communicator.size(),
                                              communicator.info().channels, !options_.graph && communicator.size() > 1);
        if (sizes_.empty()) {
            return;
        }
        const BufferBytes bytes = perf::needed({shape_of(tuned, sizes_.back())}, communicator.size());
        buffers_ = std::make_unique<BatonLibrary>(communicator, BufferBytes{bytes.send, bytes.recv, 0}, Memory::malloc);
        const auto enter = [&](const char *tuning, const std::string &name) {
            contenders_.push_back(std::make_unique<Contender>(setting, *buffers_, bytes.window, tuning, name));
        };
        // What the links do not allow would cost a communicator for every number of channels, and never run.
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
            if (!runs_as(*first, trial.plan(shape_of(tuned, sizes_.back())))) {
                std::erase_if(candidates, is_one);
            }
        }
        for (const Candidate &candidate : measured_.candidates) {
            enter(tuning_with(setting.key, tuned.operation, candidate).c_str(), name_of(candidate));
        }
        enter(tuning_in_force(), "what is in force");
    }

    Measured run() {
        for (const std::size_t bytes : sizes_) {
            measure(bytes);
        }
        if (!sizes_.empty()) {
            measured_.table_above = has_table_above(sizes_.back());
        }
        return std::move(measured_);
    }

private:
    /// At the first larger size whose message is not buffered: of that its row alone says nothing.
    bool has_table_above(std::size_t bytes) const {
        while (bytes <= SIZE_MAX / 2) {
            bytes *= 2;
            const std::string larger = contenders_.back()->explanation(shape_of(measured_.tuned, bytes));
            if (larger.find(": buffered at the receiver") == std::string::npos) {
                return larger.find(": tuning table for ") != std::string::npos;
            }
        }
        return false;
    }

    /// The candidates that run as themselves, and what is in force unless it is one of them.
    std::vector<Entry> entries_at(const Shape &shape, const std::string &in_force) const {
        std::vector<Entry> entries;
        bool included = false;
        for (std::size_t index = 0; index < contenders_.size(); ++index) {
            const std::string plan = contenders_[index]->plan(shape);
            const bool wanted =
                index < measured_.candidates.size() ? runs_as(measured_.candidates[index], plan) : !included;
            if (wanted) {
                included = included || plan == in_force;
                entries.push_back({index, contenders_[index]->side(shape, mode_), plan});
            }
        }
        return entries;
    }

    /// The first calls tell how many a round may have, and who has no chance.
    void warm_up(std::vector<Entry> &entries, const std::string &in_force) const {
        double fastest = INFINITY;
        for (Entry &entry : entries) {
            entry.first_seconds = entry.side->warm_up(warm_up_calls);
            fastest = std::min(fastest, entry.first_seconds);
        }
        std::erase_if(entries, [&](const Entry &entry) {
            return entry.plan != in_force && entry.first_seconds > hopeless * fastest;
        });
        const int calls = perf::calls_for(options_.budget / options_.rounds, fastest, most_calls);
        for (Entry &entry : entries) {
            entry.side->set_calls(calls);
        }
    }

    void measure(std::size_t bytes) {
        const Shape shape = shape_of(measured_.tuned, bytes);
        Measured::InForce in_force{contenders_.back()->plan(shape), 0};
        std::vector<Entry> entries = entries_at(shape, in_force.plan);
        warm_up(entries, in_force.plan);
        for (int round = 0; round < options_.rounds; ++round) {
            for (const std::size_t index : perf::round_order(entries.size(), round)) {
                entries[index].side->run_checked_round();
            }
        }
        Sample sample{bytes, std::vector<std::optional<double>>(measured_.candidates.size()), {}};
        for (Entry &entry : entries) {
            const perf::Timing timing = entry.side->finish();
            if (timing.wrong > 0) {
                throw Refusal(fmt::format("{} of {} bytes by {}: {} WRONG elements",
                                          baton_operation_name(measured_.tuned.operation), bytes,
                                          contenders_[entry.contender]->name(), timing.wrong));
            }
            const bool is_candidate = entry.contender < sample.seconds.size();
            if (is_candidate) {
                sample.seconds[entry.contender] = timing.median;
            }
            if (entry.plan == in_force.plan) {
                in_force.seconds = timing.median;
                sample.in_force = is_candidate ? std::optional(entry.contender) : std::nullopt;
            }
        }
        measured_.samples.push_back(std::move(sample));
        measured_.in_force.push_back(std::move(in_force));
    }

    const Options &options_;
    const perf::Mode mode_;
    const std::vector<std::size_t> sizes_;
    Measured measured_;
    std::unique_ptr<BatonLibrary> buffers_;
    std::vector<std::unique_ptr<Contender>> contenders_;
};

}  // namespace

Measured measure(const Setting &setting, const Tuned &tuned) { return Sweep(setting, tuned).run(); }

}  // namespace baton::bench::tune
