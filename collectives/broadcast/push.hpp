#pragma once

#include "collectives/args.hpp"
#include "collectives/broadcast/share.hpp"
#include "transport/transport.hpp"

/// Broadcast by scattering and relaying: the root sends every other rank a share, which that rank passes on to the
/// others as it comes. So no rank sends or receives more than the buffer once.
///   Shares are cut into segments; step s moves segment s of every share.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Root:   step by step: copy the segment of share p into rank p's receive buffer, for every p; signal all;
///              copy as much into its own, while the links are busy.
///      Others: step by step: wait for the root's signal; copy the segment of my share from my receive buffer into the
///              other ranks', the root left out.
///   3. Others: signal all that everything has been relayed; wait for all.
/// The root waits for nobody after step 1, and a relay for nobody but the root, so relays keep up with it.
/// Steps: segments + 1 flight. Wire: buffer bytes from the root, (n-2)/(n-1) of that from the others. Synchronisation:
/// arrival per pair, a signal per pair and step from the root, one from the others. Scratch: none.
///
/// What is relayed has been written during this operation: an engine's copy() reads it as data of a peer
/// (kernel/word.cuh).
namespace baton::core {

/// Bytes of a share that are relayed together, by all channels. Less costs signals, more lets the relays start later.
inline constexpr std::uint64_t relay_segment = 512 * 1024;
/// Of large shares: the last segment arrives one step after the root has sent it, a 64th of the whole.
inline constexpr std::uint64_t most_relay_steps = 64;

/// The same on all ranks and channels.
BATON_HD inline std::uint64_t relay_steps(std::uint64_t bytes, int size) {
    if (size <= 2) return 1;  // nothing is relayed
    const std::uint64_t segments = (largest_broadcast_share(bytes, size) + relay_segment - 1) / relay_segment;
    return segments < 1 ? 1 : segments < most_relay_steps ? segments : most_relay_steps;
}

/// This channel's part of what a step moves of `whole`.
template <class Engine>
BATON_HD Range part_of_step(const Engine &engine, const Range &whole, std::uint64_t steps, std::uint64_t step) {
    const Range segment = split(whole.bytes, line_bytes, static_cast<int>(steps), static_cast<int>(step - 1));
    const Range part = engine.share(segment.bytes, line_bytes);
    return {whole.begin + segment.begin + part.begin, part.bytes};
}

template <class Engine>
BATON_HD void broadcast_push(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const bool root = engine.rank() == args.root;
    const std::byte *const from = root ? args.send : args.recv;
    const std::uint64_t steps = relay_steps(args.chunk, engine.size());
    const auto part_of = [&](int rank, std::uint64_t step) {
        return part_of_step(engine, broadcast_share(args.chunk, engine.size(), args.root, rank), steps, step);
    };
    for (std::uint64_t step = 1; step <= steps; ++step) {
        if (!root && !engine.wait(args.root, step)) return;
        Range part = part_of(engine.rank(), step);
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            if (peer == args.root) continue;
            if (root) part = part_of(peer, step);
            engine.copy(engine.recv_of(peer) + part.begin, from + part.begin, part.bytes);
        }
        if (!root) continue;
        engine.signal_all(step);
        const Range own = part_of_step(engine, {0, args.chunk}, steps, step);
        engine.copy(engine.local(args.recv + own.begin), args.send + own.begin, own.bytes);
    }
    if (!root) {
        engine.signal_all(steps);
        if (!engine.wait_all(steps)) return;
    }
    engine.finish();
}

}  // namespace baton::core
