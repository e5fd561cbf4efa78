#pragma once

#include "collectives/args.hpp"

namespace baton::core {

/// A rank's input. After await_all().
template <class Engine>
BATON_HD typename Engine::Remote input_of(Engine &engine, const CollectiveArgs &args, int of) {
    return of == engine.rank() ? engine.local(args.send) : engine.send_of(of);
}

/// Every rank's input from byte `place` on, in the order of ranks: what reduce() combines. After await_all().
template <class Engine>
BATON_HD const typename Engine::Remote *inputs_of_all(Engine &engine, const CollectiveArgs &args, std::uint64_t place) {
    return engine.sources(engine.size(), [&](int of) { return input_of(engine, args, of) + place; });
}

/// Reads `bytes` of every rank's input from `place` on, in the order of ranks, and combines them into `result`.
template <class T, class Engine>
BATON_HD void reduce_inputs(Engine &engine, const CollectiveArgs &args, std::uint64_t place, std::byte *result,
                            std::uint64_t bytes) {
    const auto *const sources = inputs_of_all(engine, args, place);
    const typename Engine::Remote destination[1] = {engine.local(result)};
    engine.template reduce<T>(destination, 1, sources, bytes / sizeof(T), args.op);
}

}  // namespace baton::core
