#include "osu/pair.hpp"

namespace baton::bench::osu {

namespace {

/// Ping-pong: the time is half of a round trip. A rank answers when its host has seen the message complete, as a
/// program with blocking calls does.
class Latency final : public PairRunner {
public:
    Latency(const Context &context, baton_type type)
        : PairRunner(context, type),
          send_(context.communicator, context.max_bytes, Memory::malloc),
          recv_(context.communicator, context.max_bytes, Memory::malloc) {}

protected:
    void prepare(std::uint64_t round) override {
        context_.verifier.fill(pattern(rank(), round, 0), send_.data(), bytes());
        context_.verifier.poison(recv_.data(), bytes());
    }
    double iterate() override {
        const double start = seconds_now();
        if (rank() == 0) {
            send();
            recv();
        } else {
            recv();
            send();
            context_.communicator.synchronize();
        }
        return seconds_now() - start;
    }
    std::uint64_t verify(std::uint64_t round) override {
        return context_.verifier.check_copy(pattern(peer(), round, 0), type_, 0, recv_.data(), count_).wrong;
    }
    double figure(double seconds, int iterations) const override { return seconds * 1e6 / (2.0 * iterations); }

private:
    void send() { check(baton_send(send_.data(), count_, type_, peer(), comm(), stream())); }
    void recv() {
        check(baton_recv(recv_.data(), count_, type_, peer(), comm(), stream()));
        context_.communicator.synchronize();
    }

    Buffer send_;
    Buffer recv_;
};

}  // namespace

std::unique_ptr<Runner> make_latency_runner(const Context &context, baton_type type) {
    return std::make_unique<Latency>(context, type);
}

}  // namespace baton::bench::osu
