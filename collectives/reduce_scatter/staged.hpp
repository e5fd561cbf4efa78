#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Reduce-scatter by pushing segments into the owner's staging and adding there while the next segment flies.
///   Segment by segment of a block, two in flight, each channel with its part of a segment:
///   1. Copy the segment of block p into my place of peer p's staging, for every p; signal.
///   2. Wait for all; combine the staged segments with my own in rank order, store; credit.
/// Steps: chunk / segment. Wire: (n-1) chunk bytes per rank, written. Synchronisation: arrival, then signal and credit
/// per pair and step. Scratch: two segments per peer.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const int rank = engine.rank();
    const auto block = [&](int of, std::uint64_t offset) {
        return args.send + static_cast<std::uint64_t>(of) * args.chunk + offset;
    };
    const Segments segments(engine, args.chunk);
    std::uint64_t step = 0;
    for (std::uint64_t offset = 0; offset < args.chunk; offset += segments.bytes()) {
        const Range part = segments.part(args.chunk - offset);
        const std::uint64_t begin = offset + part.begin;
        ++step;
        const int slot = static_cast<int>(step & 1);
        if (step > 2 && !engine.wait_credits(step - 2)) return;
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            engine.copy(engine.staging_at(peer, slot) + part.begin, block(peer, begin), part.bytes);
        }
        engine.signal_all(step);
        if (!engine.wait_all(step)) return;
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return engine.local(of == rank ? block(rank, begin) : engine.staging_from(of, slot) + part.begin);
        });
        const typename Engine::Remote destination[1] = {engine.local(args.recv + begin)};
        engine.template reduce<T>(destination, 1, sources, part.bytes / sizeof(T), args.op);
        engine.credit_all(step);
    }
    engine.finish();
}

}  // namespace baton::core
