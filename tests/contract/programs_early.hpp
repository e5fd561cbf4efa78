#pragma once

#include "call.hpp"
#include "offers.hpp"

namespace baton::core::contract {

/// Every rank stages its `send` for all before it knows that anybody has arrived, and sums up into `out` what all have
/// staged. So a rank may begin the next operation, and stage for it, while others still read in this one.
struct Early {
    static constexpr int verify = 0, await = 1;  // variants: what tells that all have arrived

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        bool met = true;
        bool waited = false;
        if constexpr (HasOwnStaging<E>) {
            const Range part = engine.share(call.bytes, copy_granule);
            engine.copy(engine.early_of(engine.rank()), call.send + part.begin, part.bytes);
            engine.signal_all(1);
            if (call.variant == await) {
                met = engine.await_all();
            } else {
                engine.verify_arrivals();
            }
            waited = engine.wait_all(1);
            const auto *const sources = engine.sources(engine.size(), [&](int of) { return engine.early_of(of); });
            const typename E::Remote destination[1] = {engine.local(call.out + part.begin)};
            engine.template reduce<std::uint8_t>(destination, 1, sources, part.bytes, BATON_SUM);
        }
        const bool finished = engine.finish();
        observe(observed, began, met, waited, finished);
    }
};

}  // namespace baton::core::contract
