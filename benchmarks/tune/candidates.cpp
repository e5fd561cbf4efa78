#include "tune/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/tuning_file.hpp"

namespace baton::bench::tune {

const std::vector<Tuned> &tuned_kinds() {
    static const std::vector<Tuned> kinds = [] {
        std::vector<Tuned> found;
        for (const core::OperationWays &entry : core::tuned_operations()) {
            const std::string name =
                entry.operation == BATON_SEND ? kind_name(Kind::sendrecv) : baton_operation_name(entry.operation);
            for (const KindTraits &kind : all_kinds()) {
                if (name == kind.name) {
                    found.push_back({entry.operation, kind.kind});
                }
            }
        }
        return found;
    }();
    return kinds;
}

namespace {

bool is_way_of(Ranks where, const core::Way &way) {
    if ((way.mover == core::Mover::host) != (where == Ranks::on_host)) {
        return false;
    }
    // Kernels stage only if GPUs do not reach each other.
    const bool staged = way.mover == core::Mover::kernel && way.algorithm == core::Algorithm::staged;
    const bool reaches =
        way.mover == core::Mover::copy_engine || core::needs_reach(way.algorithm) || core::goes_in_lines(way.algorithm);
    return where == Ranks::on_gpus ? !staged : where == Ranks::on_host || !reaches;
}

}  // namespace

std::vector<Candidate> candidates_for(baton_operation operation, Ranks where, int ranks, int channels,
                                      bool copy_engines) {
    std::vector<Candidate> candidates;
    for (const core::Way &way : core::ways_of(operation)) {
        if (!is_way_of(where, way) || !core::serves(way, ranks) ||
            (way.mover == core::Mover::copy_engine && !copy_engines)) {
            continue;
        }
        Candidate candidate;
        candidate.algorithm = way.algorithm;
        candidate.mover = way.mover;
        // Only kernels come with several numbers of channels. A rank whose copy engines cannot serve runs the same plan
        // by its kernel, and wants all channels then.
        const bool counted = way.mover == core::Mover::kernel;
        for (candidate.channels = 1; counted && candidate.channels < channels; candidate.channels *= 2) {
            candidates.push_back(candidate);
        }
        candidate.channels = 0;
        candidates.push_back(candidate);
    }
    return candidates;
}

std::string name_of(const Candidate &candidate) {
    const std::string way =
        fmt::format("{} by {}", core::algorithm_name(candidate.algorithm), core::mover_name(candidate.mover));
    return candidate.channels == 0
               ? way
               : fmt::format("{}, {} channel{}", way, candidate.channels, candidate.channels == 1 ? "" : "s");
}

std::string name_of(const core::Plan &plan) {
    return name_of(Candidate{.algorithm = plan.algorithm, .mover = plan.mover, .channels = plan.channels});
}

std::string tuning_with(const core::TuningKey &key, baton_operation operation, const Candidate &candidate) {
    core::TuningTable table;
    table.key = key;
    table.operations[operation] = {candidate};
    return core::format_tuning({table});
}

bool runs_as(const Candidate &candidate, const core::Plan &plan) {
    return candidate.algorithm == plan.algorithm && candidate.mover == plan.mover &&
           (candidate.channels == 0 || candidate.channels == plan.channels);
}

Candidate row_of(const core::Plan &plan, int channels) {
    return {
        .algorithm = plan.algorithm, .mover = plan.mover, .channels = plan.channels == channels ? 0 : plan.channels};
}

std::vector<std::size_t> sizes_for(baton_operation operation, std::size_t max_bytes) {
    std::vector<std::size_t> sizes;
    for (std::size_t bytes = smallest_bytes; bytes <= max_bytes; bytes *= 2) {
        sizes.push_back(bytes);
        if (bytes > max_bytes / 2) {
            break;
        }
    }
    if (operation == BATON_SEND && !sizes.empty() && sizes.back() <= BATON_EAGER_BYTES) {
        sizes.clear();
    }
    return sizes;
}

}  // namespace baton::bench::tune
