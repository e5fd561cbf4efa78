#pragma once

#include <string>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/tuning.hpp"
#include "kinds.hpp"

namespace baton::bench::tune {

inline constexpr std::size_t smallest_bytes = 256;

/// An operation of the tuning table, and what measures it.
struct Tuned {
    baton_operation operation;
    Kind kind;
};
/// Those of the table's operations that the benchmarks know by the same name, and send, which goes round a ring.
const std::vector<Tuned> &tuned_kinds();

/// A row without sizes: a way to run an operation, with a number of channels (0: as many as there are).
using Candidate = core::TuningRow;

/// Where the ranks' data are, and whether they reach each other's.
enum class Ranks {
    on_host,
    on_gpus,
    on_gpus_apart  // that go through host memory
};

/// Each way that so many ranks have there, kernels with 1, 2, 4, ... of the `channels` that there are and with all of
/// them.
std::vector<Candidate> candidates_for(baton_operation operation, Ranks where, int ranks, int channels,
                                      bool copy_engines);

/// "push by kernel, 4 channels"; without a number where that is open.
std::string name_of(const Candidate &candidate);
/// Likewise, with the number that it uses.
std::string name_of(const core::Plan &plan);

/// A tuning file's text whose only table, for this key, has this one row for the operation.
std::string tuning_with(const core::TuningKey &key, baton_operation operation, const Candidate &candidate);

/// Whether a plan is what the candidate stands for; where packets do not fit, for instance, it is not.
bool runs_as(const Candidate &candidate, const core::Plan &plan);

/// The row that stands for a plan on a communicator of so many channels.
Candidate row_of(const core::Plan &plan, int channels);

/// Powers of two from smallest_bytes up. Of messages none where all would be buffered: those go in packets, whose row
/// would stand for all longer ones.
std::vector<std::size_t> sizes_for(baton_operation operation, std::size_t max_bytes);

}  // namespace baton::bench::tune
