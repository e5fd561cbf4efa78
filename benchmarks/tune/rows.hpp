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
    bool in_force_stays = false;                 // who was faster was not when measured beside it alone
};

/// The fastest candidate, where it is faster than what is in force by more than the noise; nothing where none is in
/// force.
std::optional<std::size_t> winner_of(const Sample &sample, double noise);

/// Rows that keep what is in force wherever it is slower than the fastest by no more than the part `noise`, or stays,
/// and are the fewest elsewhere whose candidates are that close: so a choice changes only where another one wins.
/// `chosen` gets the candidate of each sample. REQUIRES: samples ascend. Throws where at a size no candidate has a
/// time, or where noise is no number from 0 on.
std::vector<core::TuningRow> derive_rows(const std::vector<Candidate> &candidates, const std::vector<Sample> &samples,
                                         double noise, std::vector<std::size_t> &chosen);

/// `measured` up to the size `largest`, and above it the rows that there were before; where there were none, the last
/// of `measured`.
std::vector<core::TuningRow> continued(std::vector<core::TuningRow> measured, std::uint64_t largest,
                                       std::span<const core::TuningRow> before);

}  // namespace baton::bench::tune
