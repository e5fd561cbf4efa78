#include "osu/pair.hpp"

#include <algorithm>
#include <numeric>

namespace baton::bench::osu {

void PairRunner::prepare_in_step(std::uint64_t round) {
    context_.world.barrier();
    prepare(round);
    context_.world.barrier();
}

Measurement PairRunner::measure(std::size_t count) {
    count_ = count;
    const Options &options = context_.options;
    const int iterations = options.iterations_for(bytes());
    prepare(0);
    context_.world.barrier();
    for (int i = 0; i < options.warmup_for(bytes()); ++i) {
        iterate();
    }
    Measurement result;
    result.bytes = bytes();
    std::vector<double> seconds;
    for (int i = 0; i < iterations; ++i) {
        // The untimed iterations before one that counts send other data, so that a stale message cannot pass for its
        // own.
        const std::uint64_t round = 2 * static_cast<std::uint64_t>(i) + 1;
        if (options.validate) {
            prepare_in_step(round);
            for (int j = 0; j < options.validation_warmup; ++j) {
                iterate();
            }
            prepare_in_step(round + 1);
        }
        seconds.push_back(iterate());
        if (options.validate) {
            result.wrong += verify(round + 1);
        }
    }
    context_.world.barrier();
    result.figure = figure(std::accumulate(seconds.begin(), seconds.end(), 0.0), iterations);
    for (const double second : seconds) {
        result.samples.push_back(figure(second, 1));
    }
    result.least = *std::min_element(result.samples.begin(), result.samples.end());
    result.most = *std::max_element(result.samples.begin(), result.samples.end());
    return result;
}

}  // namespace baton::bench::osu
