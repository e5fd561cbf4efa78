#include <algorithm>

#include "osu/pair.hpp"

namespace baton::bench::osu {

namespace {

/// One way: rank 0 sends a window of messages and gets one byte back when rank 1 has them all. Both ways: each rank
/// sends and receives a window, without an answer. The window is issued in groups, so that its messages fly together.
class Bandwidth final : public PairRunner {
public:
    Bandwidth(const Context &context, baton_type type, bool both_ways)
        : PairRunner(context, type),
          both_ways_(both_ways),
          slots_(context),
          send_(context.communicator, slots_.total_bytes(), Memory::malloc),
          recv_(context.communicator, slots_.total_bytes(), Memory::malloc),
          answer_(context.communicator, 1, Memory::malloc) {}

protected:
    void prepare(std::uint64_t round) override {
        for (int slot = 0; sends() && slot < slots_.number(); ++slot) {
            context_.verifier.fill(pattern(rank(), round, slot), send_.at(slots_.offset(slot)), bytes());
        }
        for (int slot = 0; receives() && slot < slots_.number(); ++slot) {
            context_.verifier.poison(recv_.at(slots_.offset(slot)), bytes());
        }
    }
    double iterate() override {
        const double start = seconds_now();
        const int calls_per_message = both_ways_ ? 2 : 1;
        const int group = BATON_GROUP_LIMIT / calls_per_message;
        for (int first = 0; first < context_.options.window; first += group) {
            issue_group(first, std::min(first + group, context_.options.window));
        }
        if (!both_ways_) {
            exchange_answer();
        }
        context_.communicator.synchronize();
        return seconds_now() - start;
    }
    std::uint64_t verify(std::uint64_t round) override {
        std::uint64_t wrong = 0;
        for (int slot = 0; receives() && slot < std::min(slots_.number(), context_.options.window); ++slot) {
            wrong += context_.verifier
                         .check_copy(pattern(peer(), round, slot), type_, 0, recv_.at(slots_.offset(slot)), count_)
                         .wrong;
        }
        return wrong;
    }
    double figure(double seconds, int iterations) const override {
        const double directions = both_ways_ ? 2 : 1;
        return megabytes_per_second(bytes(), directions * iterations * context_.options.window, seconds);
    }

private:
    bool sends() const { return both_ways_ || rank() == 0; }
    bool receives() const { return both_ways_ || rank() == 1; }

    void issue_group(int first, int end) {
        check(baton_group_begin());
        for (int message = first; message < end; ++message) {
            const std::size_t offset = slots_.offset(message);
            if (receives()) {
                check(baton_recv(recv_.at(offset), count_, type_, peer(), comm(), stream()));
            }
            if (sends()) {
                check(baton_send(send_.at(offset), count_, type_, peer(), comm(), stream()));
            }
        }
        check(baton_group_end());
    }

    void exchange_answer() {
        if (rank() == 0) {
            check(baton_recv(answer_.data(), 1, BATON_INT8, 1, comm(), stream()));
        } else {
            check(baton_send(answer_.data(), 1, BATON_INT8, 0, comm(), stream()));
        }
    }

    const bool both_ways_;
    const Slots slots_;
    Buffer send_;
    Buffer recv_;
    Buffer answer_;
};

}  // namespace

std::unique_ptr<Runner> make_bandwidth_runner(const Context &context, baton_type type, bool both_ways) {
    return std::make_unique<Bandwidth>(context, type, both_ways);
}

}  // namespace baton::bench::osu
