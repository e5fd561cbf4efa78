#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Broadcast by scattering and relaying: the root sends every other rank a share, which that rank passes on to the
/// others as it comes. So no rank sends or receives more than the buffer once.
///   Shares are cut into segments; step s moves segment s of every share.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Root:   step by step: copy the segment of share p into rank p's receive buffer, for every p, and beside it into
///              its own; signal all.
///      Others: step by step: wait for the root's signal; copy the segment of my share from my receive buffer into the
///              other ranks', the root left out.
///   3. Others: signal all that everything has been relayed; wait for all.
/// A short buffer, or one for a single rank, is not relayed: the root copies all of it to each.
/// The root waits for nobody after step 1, and a relay for nobody but the root, so relays keep up with it.
/// Steps: segments + 1 flight; 1 without relays. Wire: buffer bytes from the root, (n-2)/(n-1) of that from the others;
/// (n-1) times the buffer without relays. Synchronisation: arrival per pair, a signal per pair and step from the root,
/// one from the relays. Scratch: none.
///
/// What is relayed has been written during this operation: an engine's copy() reads it as data of a peer
/// (kernel/ptx.cuh).
namespace baton::core {

/// Bytes that the links carry while a signal flies: a step costs as much, and the relays of the last step come on top
/// of all, so the best number of steps is the square root of bytes / bytes_a_signal. (H200: 2 us at 360 GB/s.)
inline constexpr std::uint64_t bytes_a_signal = 720 * 1024;
inline constexpr std::uint64_t most_relay_steps = 64;

/// Whether what the root saves by relays, (n-2)^2 / (n-1) of the buffer, takes longer than their two signals.
BATON_HD inline bool worth_relaying(std::uint64_t bytes, int size) {
    const auto others = static_cast<std::uint64_t>(size - 1);
    return size > 2 && bytes / others * (others - 1) * (others - 1) > 2 * bytes_a_signal;
}

/// The same on all ranks and channels.
BATON_HD inline std::uint64_t relay_steps(std::uint64_t bytes) {
    std::uint64_t steps = 1;
    while (steps < most_relay_steps && (steps + 1) * (steps + 1) * bytes_a_signal <= bytes) ++steps;
    return steps;
}

/// The part of a buffer of `bytes` that the root sends to `rank`, which relays it to the others. The root has none.
BATON_HD inline Range broadcast_share(std::uint64_t bytes, int size, int root, int rank) {
    if (rank == root) return {};
    return split(bytes, copy_granule, size - 1, rank < root ? rank : rank - 1);
}

template <class Engine>
class BroadcastPush {
public:
    BATON_HD BroadcastPush(Engine &engine, const CollectiveArgs &args)
        : engine_(engine),
          args_(args),
          relayed_(worth_relaying(args.bytes, engine.size())),
          steps_(relayed_ ? relay_steps(args.bytes) : 1) {}

    BATON_HD void run() {
        const auto writes_to = [&](int peer) {
            return engine_.rank() == args_.root || (relayed_ && peer != args_.root);
        };
        if (!engine_.begin(args_.arrival) || !engine_.await_all(writes_to)) return;
        if (engine_.rank() == args_.root) {
            send();
        } else if (!(relayed_ ? relay() : engine_.wait(args_.root, steps_))) {
            return;
        }
        engine_.finish();
    }

private:
    BATON_HD void send() {
        if (engine_.size() == 1) copy_own(part_for(args_.root, 1));
        for (std::uint64_t step = 1; step <= steps_; ++step) {
            for (int at = 1; at < engine_.size(); ++at) {
                const int peer = engine_.spread_peer_at(at);
                const Range part = part_for(peer, step);
                // Once: without relays all peers get the same part.
                if (relayed_ || at == 1) copy_own(part);
                engine_.copy(engine_.recv_of(peer) + part.begin, args_.send + part.begin, part.bytes);
            }
            engine_.signal_all(step);
        }
    }

    BATON_HD bool relay() {
        for (std::uint64_t step = 1; step <= steps_; ++step) {
            if (!engine_.wait(args_.root, step)) return false;
            const Range part = part_for(engine_.rank(), step);
            for (int at = 1; at < engine_.size(); ++at) {
                const int peer = engine_.spread_peer_at(at);
                if (peer != args_.root)
                    engine_.copy(engine_.recv_of(peer) + part.begin, args_.recv + part.begin, part.bytes);
            }
        }
        engine_.signal_all(steps_);
        return engine_.wait_all(steps_);
    }

    BATON_HD void copy_own(const Range &part) {
        engine_.copy_own(args_.recv + part.begin, args_.send + part.begin, part.bytes);
    }

    /// This channel's part of what the root sends to `rank` in a step.
    BATON_HD Range part_for(int rank, std::uint64_t step) const {
        const Range whole =
            relayed_ ? broadcast_share(args_.bytes, engine_.size(), args_.root, rank) : Range{0, args_.bytes};
        const Range segment = split(whole.bytes, copy_granule, static_cast<int>(steps_), static_cast<int>(step - 1));
        const Range part = engine_.share(segment.bytes, copy_granule);
        return {whole.begin + segment.begin + part.begin, part.bytes};
    }

    Engine &engine_;
    const CollectiveArgs &args_;
    const bool relayed_;
    const std::uint64_t steps_;
};

}  // namespace baton::core
