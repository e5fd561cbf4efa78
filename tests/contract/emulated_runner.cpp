#include "emulation/cuda.hpp"

#include "emulated_runner.hpp"
#include "transport/kernel/engine.cuh"

namespace baton::core::contract {

static_assert(Engine<KernelEngine> && HasPairs<KernelEngine> && HasParts<KernelEngine> && HasSources<KernelEngine> &&
              HasStaging<KernelEngine> && HasPackets<KernelEngine> && HasLines<KernelEngine>);

namespace {

/// Two warps: one takes what comes while the other verifies arrivals.
constexpr unsigned threads = 64;
constexpr int most_channels = 2;

/// Kernels' blocks on threads of this host.
class EmulatedRunner final : public Runner {
public:
    explicit EmulatedRunner(const CommView &view) : view_(view) {
        view_.polls_between_yields = 1;  // every poll that fails yields
    }

    Offers offers() const override { return offers_of<KernelEngine>(); }
    int engines(const Call &call) const override { return call.channels; }

    void run(Program program, const std::vector<Call> &calls, const std::vector<Addresses> & /*recv_of*/) override {
        dispatch_program(program, [&]<class P>() {
            for (const Call &call : calls) {
                if (call.takes_part != 0) launch<P>(call);
            }
        });
    }

    void upload(void *to, const void *from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void download(void *to, const void *from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

private:
    template <class P>
    void launch(const Call &call) {
        const std::uint64_t drawn = seed() + ++launches_ * max_ranks + static_cast<std::uint64_t>(view_.rank);
        emulation::run_grid(static_cast<unsigned>(call.channels), threads, drawn, [&] {
            __shared__ KernelShared shared;
            KernelEngine engine(view_, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
            P::run(engine, call, call.observed[blockIdx.x]);
        });
    }

    CommView view_;
    std::uint64_t launches_ = 0;
};

std::unique_ptr<Runner> make_runner(const CommView &view, const HostReach & /*reach*/) {
    return std::make_unique<EmulatedRunner>(view);
}

}  // namespace

Transport emulated_transport() {
    return {.name = "emulated",
            .on_gpu = false,
            .channels = most_channels,
            .offers = offers_of<KernelEngine>(),
            .make = make_runner,
            .emulated = true};
}
Transport emulated_transport_through_host() {
    Transport transport = emulated_transport();
    transport.name = "emulated_mapped";
    transport.offers.lines = false;
    transport.through_host = true;
    return transport;
}

}  // namespace baton::core::contract
