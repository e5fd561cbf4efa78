#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tune/candidates.hpp"

namespace baton::bench::tune {

/// What was measured at one size.
struct Sample {
    std::size_t bytes = 0;
    std::vector<std::optional<double>> seconds;  // by candidate; nothing: not possible here, or far behind
    std::optional<std::size_t> in_force = {};    // the candidate that programs have now, if it is one of them
    bool in_force_stays = false;                 // the faster one was not faster when measured beside it alone
};

/// The fastest candidate, if it is faster than what is in force by more than the noise. Empty if not, or if no
/// candidate is in force.
std::optional<std::size_t> winner_of(const Sample &sample, double noise);

/// The rows to write. What is in force is kept if it stays or is slower than the fastest by no more than the part
/// `noise`, so a choice changes only where another one wins. Elsewhere they are the fewest rows whose candidates are
/// that close. `chosen` gets the candidate of each sample. REQUIRES: samples ascend. Throws if no candidate has a time
/// at some size, or if noise is not a number from 0 on.
std::vector<core::TuningRow> derive_rows(const std::vector<Candidate> &candidates, const std::vector<Sample> &samples,
                                         double noise, std::vector<std::size_t> &chosen);

/// `measured` up to the size `largest`, and above it the rows of `before`; if there are none, the last of `measured`.
std::vector<core::TuningRow> continued(std::vector<core::TuningRow> measured, std::uint64_t largest,
                                       std::span<const core::TuningRow> before);

}  // namespace baton::bench::tune
