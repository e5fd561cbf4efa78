#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "tune/options.hpp"
#include "tune/rows.hpp"
#include "verifier.hpp"

namespace baton::bench::tune {

/// What all measurements are made with; the communicator is that of the buffers.
struct Setting {
    const Options &options;
    const Communicator &communicator;
    const Verifier &verifier;
    core::TuningKey key;  // of use on rank 0 only, whose tuning counts
};

/// An operation over the sizes.
struct Measured {
    struct InForce {
        core::Plan plan;
        double seconds = 0;
    };
    Tuned tuned;
    std::vector<Candidate> candidates;
    std::vector<Sample> samples;
    std::vector<InForce> in_force;                // by sample
    std::vector<core::TuningRow> in_force_above;  // for sizes above the largest sample; empty if tables decide
};

/// Times and verifies every candidate that is possible, in turns with the others and with what is in force. At each
/// size the fastest, if it is faster than that by more than the noise, is measured once more, beside it alone.
/// Collective; the same result on all ranks. Throws Refusal if a result is wrong.
Measured measure(const Setting &setting, const Tuned &tuned);

}  // namespace baton::bench::tune
