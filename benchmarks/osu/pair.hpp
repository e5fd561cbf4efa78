#pragma once

#include "buffer.hpp"
#include "osu/harness.hpp"

namespace baton::bench::osu {

/// What the tests between two ranks share. An iteration is what a rank does between two barriers or, without -c,
/// between its own previous and next iteration.
class PairRunner : public Runner {
public:
    PairRunner(const Context &context, baton_type type) : context_(context), type_(type) {}

    std::size_t count_for(std::size_t bytes) const override { return bytes / baton_type_size(type_); }
    Measurement measure(std::size_t count) override;

protected:
    /// Writes this rank's inputs of a round and poisons its outputs.
    virtual void prepare(std::uint64_t round) = 0;
    /// Does this rank's part of an iteration, complete on return. Returns the seconds that rank 0 counts.
    virtual double iterate() = 0;
    /// Returns this rank's wrong elements. Called on both ranks, after an iteration.
    virtual std::uint64_t verify(std::uint64_t round) = 0;
    /// The figure of `iterations` iterations that took `seconds` together.
    virtual double figure(double seconds, int iterations) const = 0;

    int rank() const { return context_.world.rank(); }
    int peer() const { return 1 - context_.world.rank(); }
    baton_comm_t comm() const { return context_.communicator.handle(); }
    baton_stream_t stream() const { return context_.communicator.stream(); }
    std::size_t bytes() const { return count_ * baton_type_size(type_); }
    /// The pattern of the message that lies in slot `slot` of a rank's buffer.
    Pattern pattern(int rank, std::uint64_t round, int slot) const {
        return make_pattern(type_, rank, round * 65536 + static_cast<std::uint64_t>(slot));
    }

    const Context &context_;
    const baton_type type_;
    std::size_t count_ = 0;  // elements of the size being measured

private:
    void prepare_in_step(std::uint64_t round);
};

/// Buffers for one message, or for each message of a window (-b multiple): slots 256 bytes or more apart.
class Slots {
public:
    explicit Slots(const Context &context)
        : number_(context.options.window_buffers ? context.options.window : 1),
          stride_((context.max_bytes + 255) / 256 * 256) {}

    int number() const { return number_; }
    std::size_t total_bytes() const { return static_cast<std::size_t>(number_) * stride_; }
    std::size_t offset(int message) const { return static_cast<std::size_t>(message % number_) * stride_; }

private:
    int number_;
    std::size_t stride_;
};

/// MB/s of messages of `bytes` each, with MB = 10^6 bytes.
inline double megabytes_per_second(std::size_t bytes, double messages, double seconds) {
    return static_cast<double>(bytes) * messages / seconds / 1e6;
}

std::unique_ptr<Runner> make_latency_runner(const Context &context, baton_type type);
std::unique_ptr<Runner> make_bandwidth_runner(const Context &context, baton_type type, bool both_ways);
std::unique_ptr<Runner> make_put_runner(const Context &context, baton_type type, bool bandwidth);
std::unique_ptr<Runner> make_get_runner(const Context &context, baton_type type);

}  // namespace baton::bench::osu
