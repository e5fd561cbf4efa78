#include <algorithm>
#include <exception>
#include <utility>

#include "osu/pair.hpp"

namespace baton::bench::osu {

namespace {

/// A window with a slot per message, and an origin buffer with as many. Rank 0 is the origin of all transfers.
class OneSided : public PairRunner {
public:
    OneSided(const Context &context, baton_type type)
        : PairRunner(context, type),
          slots_(context),
          buffer_(context.communicator, slots_.total_bytes(), Memory::malloc) {
        check(baton_window_create(comm(), slots_.total_bytes(), &window_, &base_));
    }
    ~OneSided() override {
        if (std::uncaught_exceptions() == 0) {
            baton_window_destroy(window_);
        }
    }
    OneSided(const OneSided &) = delete;
    OneSided &operator=(const OneSided &) = delete;

protected:
    std::byte *in_window(int slot) const { return static_cast<std::byte *>(base_) + slots_.offset(slot); }
    std::uint64_t wrong_in(const std::byte *data, int from, std::uint64_t round, int slot) const {
        return context_.verifier.check_copy(pattern(from, round, slot), type_, 0, data, count_).wrong;
    }

    const Slots slots_;
    Buffer buffer_;
    baton_window_t window_ = nullptr;
    void *base_ = nullptr;
};

/// A put, or a window of them, and a signal. When the origin's stream has passed the signal, the data are visible at
/// the target, as after MPI_Win_flush. The target consumes the signal outside the timed region, with -c after the
/// check, because the timing rests on the data being there before.
class Put final : public OneSided {
public:
    Put(const Context &context, baton_type type, bool bandwidth)
        : OneSided(context, type), bandwidth_(bandwidth), messages_(bandwidth ? context.options.window : 1) {}

protected:
    void prepare(std::uint64_t round) override {
        for (int slot = 0; rank() == 0 && slot < slots_.number(); ++slot) {
            context_.verifier.fill(pattern(0, round, slot), buffer_.at(slots_.offset(slot)), bytes());
        }
        for (int slot = 0; rank() == 1 && slot < slots_.number(); ++slot) {
            context_.verifier.poison(in_window(slot), bytes());
        }
    }
    double iterate() override {
        const double start = seconds_now();
        if (rank() == 0) {
            for (int message = 0; message < messages_; ++message) {
                const std::size_t offset = slots_.offset(message);
                check(baton_put(buffer_.at(offset), bytes(), 1, offset, window_, stream()));
            }
            check(baton_signal(1, window_, stream()));
        } else {
            ++signals_to_come_;
        }
        if (!context_.options.validate) {
            consume_signals();
        }
        context_.communicator.synchronize();
        return seconds_now() - start;
    }
    std::uint64_t verify(std::uint64_t round) override {
        context_.world.barrier();
        std::uint64_t wrong = 0;
        for (int slot = 0; rank() == 1 && slot < std::min(slots_.number(), messages_); ++slot) {
            wrong += wrong_in(in_window(slot), 0, round, slot);
        }
        consume_signals();
        context_.communicator.synchronize();
        return wrong;
    }
    double figure(double seconds, int iterations) const override {
        return bandwidth_ ? megabytes_per_second(bytes(), 1.0 * iterations * messages_, seconds)
                          : seconds * 1e6 / iterations;
    }

private:
    void consume_signals() {
        if (rank() == 1) {
            check(baton_wait_signal(0, std::exchange(signals_to_come_, 0), window_, stream()));
        }
    }

    const bool bandwidth_;
    const int messages_;
    std::uint64_t signals_to_come_ = 0;  // from rank 0, not yet consumed by rank 1
};

/// A get is complete at the origin when its stream has passed it; rank 1 does nothing.
class Get final : public OneSided {
public:
    using OneSided::OneSided;

protected:
    void prepare(std::uint64_t round) override {
        if (rank() == 1) {
            context_.verifier.fill(pattern(1, round, 0), in_window(0), bytes());
        }
        if (rank() == 0) {
            context_.verifier.poison(buffer_.data(), bytes());
        }
    }
    double iterate() override {
        const double start = seconds_now();
        if (rank() == 0) {
            check(baton_get(buffer_.data(), bytes(), 1, 0, window_, stream()));
            context_.communicator.synchronize();
        }
        return seconds_now() - start;
    }
    std::uint64_t verify(std::uint64_t round) override {
        return rank() == 0 ? wrong_in(buffer_.at(0), 1, round, 0) : 0;
    }
    double figure(double seconds, int iterations) const override { return seconds * 1e6 / iterations; }
};

}  // namespace

std::unique_ptr<Runner> make_put_runner(const Context &context, baton_type type, bool bandwidth) {
    return std::make_unique<Put>(context, type, bandwidth);
}

std::unique_ptr<Runner> make_get_runner(const Context &context, baton_type type) {
    return std::make_unique<Get>(context, type);
}

}  // namespace baton::bench::osu
