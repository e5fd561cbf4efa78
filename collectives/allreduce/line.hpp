#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allreduce in one shot for middle-sized vectors: they travel in lines, 120 bytes with an epoch.
///   1. Store my vector in lines into every peer's line buffer, without waiting.
///   2. Take the peers' lines, combine with my own elements in rank order, store.
/// Steps: 1 flight. Wire: 16/15 (n-1) vector bytes per rank. Synchronisation: epochs in the data. Scratch: line
/// buffers.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const std::byte *own = args.send + part.begin;
    const auto to_send = [&](int index) { return LinePart{engine.peer_at(index + 1), part.bytes, own, nullptr}; };
    if (!engine.begin_with_lines(args.arrival, engine.size() - 1, part.bytes, to_send)) return;
    engine.verify_arrivals();
    engine.template reduce_lines_to<T>(args.recv + part.begin, own, part.bytes / sizeof(T), args.op);
    engine.finish();
}

}  // namespace baton::core
