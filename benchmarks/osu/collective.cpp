#include "osu/collective.hpp"

#include <numeric>

#include "baton_library.hpp"

namespace baton::bench::osu {

namespace {

class CollectiveRunner final : public Runner {
public:
    CollectiveRunner(const Context &context, baton_type type, Kind kind)
        : context_(context),
          kind_(kind),
          type_(type),
          ranks_(static_cast<std::size_t>(context.world.size())),
          baton_(context.communicator,
                 {kind == Kind::alltoall ? ranks_ * context.max_bytes : context.max_bytes,
                  traits(kind).recv_blocks ? ranks_ * context.max_bytes : context.max_bytes, 0},
                 Memory::malloc) {}

    /// The size column holds bytes per rank for allgather, per pair for alltoall, and of the whole buffer for the
    /// others.
    std::size_t count_for(std::size_t bytes) const override {
        if (kind_ == Kind::barrier) {
            return 1;
        }
        return bytes / baton_type_size(type_) / (kind_ == Kind::reduce_scatter ? ranks_ : 1);
    }

    Measurement measure(std::size_t count) override {
        const Shape shape{kind_, type_, BATON_SUM, kind_ == Kind::barrier ? 0 : count,
                          context_.options.in_place ? InPlaceForm::mpi : InPlaceForm::no};
        const auto operation = make_operation(shape, context_.communicator, context_.verifier, baton_);
        const std::size_t bytes = shape.count * baton_type_size(type_) * (kind_ == Kind::reduce_scatter ? ranks_ : 1);
        operation->prepare(0);
        context_.world.barrier();
        for (int i = 0; i < context_.options.warmup_for(bytes); ++i) {
            timed_call(*operation);
            context_.world.barrier();
        }
        std::vector<double> microseconds;
        std::uint64_t wrong = 0;
        for (int i = 0; i < context_.options.iterations_for(bytes); ++i) {
            if (context_.options.validate) {
                prepare(*operation, shape, static_cast<std::uint64_t>(i) + 1);
            }
            microseconds.push_back(timed_call(*operation) * 1e6);
            // Before the MPI barrier, which would hide that a rank returned too early.
            if (context_.options.validate) {
                wrong += operation->verify(1).wrong;
            }
            context_.world.barrier();
        }
        return summarize(bytes, microseconds, wrong);
    }

private:
    double timed_call(Operation &operation) const {
        const double start = seconds_now();
        operation.issue();
        context_.communicator.synchronize();
        return seconds_now() - start;
    }

    /// The untimed calls before one that counts have inputs of their own: else what they leave would pass for its
    /// result. There are none in place, where they would change the inputs that the check knows.
    void prepare(Operation &operation, const Shape &shape, std::uint64_t iteration) const {
        if (shape.in_place == InPlaceForm::no && kind_ != Kind::barrier && context_.options.validation_warmup > 0) {
            operation.prepare(2 * iteration);
            context_.world.barrier();
            for (int i = 0; i < context_.options.validation_warmup; ++i) {
                timed_call(operation);
                context_.world.barrier();
            }
        }
        operation.prepare(2 * iteration + 1);
        context_.world.barrier();
    }

    Measurement summarize(std::size_t bytes, const std::vector<double> &mine, std::uint64_t wrong) const {
        const double mean = std::accumulate(mine.begin(), mine.end(), 0.0) / static_cast<double>(mine.size());
        Measurement result;
        result.bytes = bytes;
        result.wrong = wrong;
        result.least = context_.world.min(mean);
        result.most = context_.world.max(mean);
        result.figure = context_.world.sum(mean) / static_cast<double>(ranks_);
        if (!context_.options.percentiles.empty()) {
            result.samples = context_.world.sum(mine);
            for (double &sample : result.samples) {
                sample /= static_cast<double>(ranks_);
            }
        }
        return result;
    }

    const Context &context_;
    const Kind kind_;
    const baton_type type_;
    const std::size_t ranks_;
    BatonLibrary baton_;
};

}  // namespace

std::unique_ptr<Runner> make_collective_runner(const Context &context, baton_type type, Kind kind) {
    return std::make_unique<CollectiveRunner>(context, type, kind);
}

}  // namespace baton::bench::osu
