#pragma once

#include "collectives/args.hpp"

namespace baton::core {

/// Every rank's input from byte `place` on, in the order of ranks: what reduce() combines. After await_all().
template <class Engine>
BATON_HD const typename Engine::Remote *inputs_of_all(Engine &engine, const CollectiveArgs &args, std::uint64_t place) {
    return engine.sources(engine.size(), [&](int of) {
        return (of == engine.rank() ? engine.local(args.send) : engine.send_of(of)) + place;
    });
}

}  // namespace baton::core
