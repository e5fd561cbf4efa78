#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "osu/options.hpp"
#include "verifier.hpp"

namespace baton::bench::osu {

/// What a test gets for all its rows.
struct Context {
    const World &world;
    const Communicator &communicator;
    const Verifier &verifier;
    const Options &options;
    std::size_t max_bytes;  // options.max_bytes, lowered to what -M allows
};

/// A row as rank 0 prints it, in microseconds or MB/s.
struct Measurement {
    std::size_t bytes = 0;        // for the size column
    double figure = 0;            // mean latency, or bandwidth over all iterations
    double least = 0;             // for -f
    double most = 0;              // for -f
    std::vector<double> samples;  // a figure for each iteration, for -z
    std::uint64_t wrong = 0;      // elements, of this rank
};

/// A test: made once per type, with buffers for max_bytes; then measures one size after the other.
class Runner {
public:
    virtual ~Runner() = default;
    /// Elements per call for a size of the size column; sizes that give none are left out.
    virtual std::size_t count_for(std::size_t bytes) const = 0;
    /// Collective. Figures need only be right on rank 0.
    virtual Measurement measure(std::size_t count) = 0;
};

using MakeRunner = std::function<std::unique_ptr<Runner>(const Context &, baton_type)>;

/// main() of a test.
int run_test(const Test &test, int argc, char **argv, const MakeRunner &make_runner);

}  // namespace baton::bench::osu
