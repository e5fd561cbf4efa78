#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Broadcast for small buffers: the data travels as packets, each with its epoch.
///   Root:   Store the buffer as packets into every peer's packet buffer, without waiting for anybody.
///   Others: Take the root's packets.
/// Steps: 1 flight. Wire: 2 (n-1) buffer bytes from the root (half is epochs). Synchronisation: the epochs in the data;
/// arrivals are only compared, by all ranks: the root's next operation must find its packets taken. Scratch: packet
/// buffers.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_packet(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    std::byte *own = args.recv + part.begin;
    if (engine.rank() == args.root) {
        if (!engine.begin_with_packets(args.arrival, args.send + part.begin, 0, part.bytes, own)) return;
        engine.verify_arrivals();
    } else {
        if (!engine.begin(args.arrival)) return;
        engine.verify_arrivals();
        engine.take_packets_from(args.root, own, part.bytes);
    }
    engine.finish();
}

}  // namespace baton::core
