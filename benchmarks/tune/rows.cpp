#include "tune/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "world.hpp"

namespace baton::bench::tune {

namespace {

double fastest(const Sample &sample) {
    double best = INFINITY;
    for (const auto &seconds : sample.seconds) {
        best = std::min(best, seconds.value_or(INFINITY));
    }
    return best;
}

bool is_near_fastest(std::size_t candidate, const Sample &sample, double noise) {
    const std::optional<double> &seconds = sample.seconds[candidate];
    return seconds && *seconds <= fastest(sample) * (1 + noise);
}

/// Whether to take this candidate at this size: what is in force if that is kept, else any within the noise of the
/// fastest.
bool is_good(std::size_t candidate, const Sample &sample, double noise) {
    const bool keep = sample.in_force && (sample.in_force_stays || is_near_fastest(*sample.in_force, sample, noise));
    return keep ? candidate == *sample.in_force : is_near_fastest(candidate, sample, noise);
}

/// For how many samples a candidate is good, from one of them on, and how fast it is there.
struct Run {
    std::size_t length = 0;
    double log_seconds = 0;

    static Run of(std::size_t candidate, const std::vector<Sample> &samples, std::size_t first, double noise) {
        Run run;
        for (std::size_t at = first; at < samples.size(); ++at, ++run.length) {
            if (!is_good(candidate, samples[at], noise)) {
                break;
            }
            run.log_seconds += std::log(*samples[at].seconds[candidate]);
        }
        return run;
    }
    bool better_than(const Run &other) const {
        return length != other.length ? length > other.length : log_seconds < other.log_seconds;
    }
};

}  // namespace

std::optional<std::size_t> winner_of(const Sample &sample, double noise) {
    if (!sample.in_force || is_near_fastest(*sample.in_force, sample, noise)) {
        return std::nullopt;
    }
    const auto &seconds = sample.seconds;
    const auto faster = [](const std::optional<double> &one, const std::optional<double> &other) {
        return one.value_or(INFINITY) < other.value_or(INFINITY);
    };
    return static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end(), faster) - seconds.begin());
}

std::vector<core::TuningRow> derive_rows(const std::vector<Candidate> &candidates, const std::vector<Sample> &samples,
                                         double noise, std::vector<std::size_t> &chosen) {
    std::vector<core::TuningRow> rows;
    chosen.clear();
    while (chosen.size() < samples.size()) {
        Run longest;
        std::size_t winner = 0;
        for (std::size_t candidate = 0; candidate < candidates.size(); ++candidate) {
            const Run run = Run::of(candidate, samples, chosen.size(), noise);
            if (run.better_than(longest)) {
                longest = run;
                winner = candidate;
            }
        }
        if (longest.length == 0) {
            throw Refusal(fmt::format("nothing to choose from at {} bytes: no candidate has a time, or the noise is {}",
                                      samples[chosen.size()].bytes, noise));
        }
        chosen.resize(chosen.size() + longest.length, winner);
        rows.push_back(candidates[winner]);
        rows.back().up_to_bytes = samples[chosen.size() - 1].bytes;
    }
    if (!rows.empty()) {
        rows.back().up_to_bytes = core::TuningRow::no_limit;
    }
    return rows;
}

std::vector<core::TuningRow> continued(std::vector<core::TuningRow> measured, std::uint64_t largest,
                                       std::span<const core::TuningRow> before) {
    if (measured.empty() || before.empty()) {
        return measured;
    }
    const auto first = before.begin() + static_cast<std::ptrdiff_t>(core::row_for(before, largest + 1));
    measured.back().up_to_bytes = first->up_to_bytes;
    if (measured.back() == *first) {
        measured.pop_back();
    } else {
        measured.back().up_to_bytes = largest;
    }
    measured.insert(measured.end(), first, before.end());
    return measured;
}

}  // namespace baton::bench::tune
