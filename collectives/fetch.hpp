#pragma once

#include "collectives/args.hpp"
#include "collectives/inputs.hpp"
#include "transport/copy_engine/head.hpp"
#include "transport/transport.hpp"

/// Reductions of what copy engines fetch: they read from peers faster than kernels that add as they read
/// (docs/experiments.md).
///   1. Read a head from all ranks and combine it, while the copy engines start.
///   2. Piece by piece: copy every peer's into this rank's scratch; combine there, while the next piece is copied.
/// Every piece costs the copy engines a pause, and what is combined after the last one adds to the time. So a piece is
/// two thirds of what is left: combining it takes less time than copying the next.
namespace baton::core {

constexpr std::uint64_t piece_to_fetch(std::uint64_t left) {
    constexpr std::uint64_t last = 4 << 20;
    return left <= last ? left : left / 3 * 2 / copy_granule * copy_granule;
}

/// Combines `bytes` of all ranks' inputs, from `place` on, into `result`. scratch_of(peer) is memory of this rank for
/// what lies behind the head: bytes - head_of(bytes). It may be where that comes to in `result`.
template <class T, class Engine, class ScratchOf>
void reduce_fetched(Engine &engine, const CollectiveArgs &args, std::uint64_t place, std::byte *result,
                    std::uint64_t bytes, const ScratchOf &scratch_of) {
    const std::uint64_t head = head_of(bytes);
    reduce_inputs<T>(engine, args, place, result, head);
    for (std::uint64_t fetched = 0; fetched < bytes - head;) {
        const std::uint64_t piece = piece_to_fetch(bytes - head - fetched);
        const std::uint64_t begin = head + fetched;
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            engine.copy_from(scratch_of(peer) + fetched, engine.send_of(peer) + place + begin, piece);
        }
        engine.reduce_after_copy();
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return engine.local(of == engine.rank() ? args.send + place + begin : scratch_of(of) + fetched);
        });
        const typename Engine::Remote destination[1] = {engine.local(result + begin)};
        engine.template reduce<T>(destination, 1, sources, piece / sizeof(T), args.op);
        fetched += piece;
    }
}

}  // namespace baton::core
