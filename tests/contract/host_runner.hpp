#pragma once

#include <cstring>

#include "runner.hpp"
#include "transport/host/engine.hpp"

namespace baton::core::contract {

/// Runs programs on the calling thread. `E` is HostEngine, or one that is broken on purpose (mutants_test.cpp).
template <class E>
class HostRunner final : public Runner {
public:
    HostRunner(const CommView &view, const HostReach &reach) : view_(view), reach_(reach), scratch_(view.size) {}

    Offers offers() const override { return offers_of<E>(); }
    int engines(const Call & /*call*/) const override { return 1; }

    void run(Program program, const std::vector<Call> &calls, const std::vector<Addresses> & /*recv_of*/) override {
        dispatch_program(program, [&]<class P>() {
            for (const Call &call : calls) {
                if (call.takes_part == 0) continue;
                E engine(view_, reach_, scratch_);
                P::run(engine, call, call.observed[0]);
            }
        });
    }

    void upload(void *to, const void *from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void download(void *to, const void *from, std::size_t bytes) override { std::memcpy(to, from, bytes); }

private:
    const CommView &view_;
    const HostReach &reach_;
    const HostScratch scratch_;
};

template <Engine E>
Transport transport_on_host(const char *name) {
    return {name, false, 1, offers_of<E>(),
            [](const CommView &view, const HostReach &reach) -> std::unique_ptr<Runner> {
                return std::make_unique<HostRunner<E>>(view, reach);
            }};
}

}  // namespace baton::core::contract
