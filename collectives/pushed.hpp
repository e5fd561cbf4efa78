#pragma once

#include "collectives/args.hpp"
#include "transport/copy_engine/head.hpp"
#include "transport/transport.hpp"

/// Reductions of what copy engines push. They carry data faster than kernels read it, and a piece that they push costs
/// them less than one that they fetch (docs/experiments.md).
///   1. Every rank's copy engines push to each peer what that peer combines, except for a head: piece by piece into the
///      peer's recv buffer, with a word behind each piece that says it is there (push_inputs.hpp).
///   2. Meanwhile every rank's kernel reads the head from all and combines it; then piece after piece as they come.
/// A rank that cannot push says so with its arrival; then the peers read from its send buffer instead.
namespace baton::core {

/// Where the inputs of a reduction lie in the send buffers, and what is pushed in the recv buffers. In an allreduce
/// every rank combines its n-th of the vector; what another rank pushes lies where that rank's result will come later.
/// In a reduce_scatter of two ranks what the other one pushes lies where the result will be.
class PushedInputs {
public:
    BATON_HD PushedInputs(bool is_allreduce, std::uint64_t bytes, int ranks)
        : is_allreduce_(is_allreduce), bytes_(bytes), ranks_(ranks) {}

    BATON_HD bool is_allreduce() const { return is_allreduce_; }
    BATON_HD int ranks() const { return ranks_; }
    /// The part of the send buffers that a rank combines.
    BATON_HD Range part_of(int rank) const {
        return is_allreduce_ ? split(bytes_, copy_granule, ranks_, rank)
                             : Range{static_cast<std::uint64_t>(rank) * bytes_, bytes_};
    }
    /// Where a rank's result comes to in its recv buffer.
    BATON_HD std::uint64_t result_of(int rank) const { return is_allreduce_ ? part_of(rank).begin : 0; }
    /// Where in another rank's recv buffer lies what `from` pushes, behind a head of so many bytes.
    BATON_HD std::uint64_t scratch_of(int from, std::uint64_t head) const {
        return is_allreduce_ ? part_of(from).begin : head;
    }

    std::uint64_t send_bytes() const { return is_allreduce_ ? bytes_ : static_cast<std::uint64_t>(ranks_) * bytes_; }
    std::uint64_t recv_bytes() const { return bytes_; }
    /// Whether what a rank pushes fits its place, which is the shortest for the last rank.
    bool have_room() const {
        const std::uint64_t most = part_of(0).bytes;
        return is_allreduce_ ? most - head_of(most) <= part_of(ranks_ - 1).bytes : ranks_ == 2;
    }

private:
    bool is_allreduce_;
    std::uint64_t bytes_;
    int ranks_;
};

/// A rank's part in the order in which it is combined: the head, number 0, and the pieces that are pushed, from 1 on.
/// Every piece costs the copy engines a pause, and what is combined after the last one adds to the time. So each piece
/// is a part of what is left, as large as measured best. A short rest is not divided: to several peers up to 16 MiB,
/// since shorter copies to them run one after the other (docs/experiments.md).
class HeadAndPieces {
public:
    BATON_HD HeadAndPieces(std::uint64_t bytes, int ranks)
        : bytes_(bytes), several_peers_(ranks > 2), range_{0, head_of(bytes)}, number_(0) {}

    BATON_HD bool more() const { return number_ == 0 || range_.bytes > 0; }
    BATON_HD void next() {
        range_.begin += range_.bytes;
        range_.bytes = piece_of(bytes_ - range_.begin);
        ++number_;
    }
    BATON_HD Range range() const { return range_; }
    BATON_HD std::uint32_t number() const { return number_; }

private:
    BATON_HD std::uint64_t piece_of(std::uint64_t left) const {
        if (left <= (several_peers_ ? 16U << 20 : 4U << 20)) return left;
        return left * (several_peers_ ? 7 : 6) / 12 / copy_granule * copy_granule;
    }

    std::uint64_t bytes_;
    bool several_peers_;
    Range range_;
    std::uint32_t number_;
};

/// Whether any peer's copy engines push to this rank.
template <class Engine>
BATON_HD bool some_push(const Engine &engine) {
    for (int step = 1; step < engine.size(); ++step) {
        if (engine.pushes(engine.peer_at(step))) return true;
    }
    return false;
}

/// How many of the engines, from the first on, have shares of a head or piece. Three in four combine what several peers
/// push: that took as long as all of them, or up to 1.6 % less (docs/experiments.md).
template <class Engine>
BATON_HD int sharing_channels(const Engine &engine, const HeadAndPieces &pieces) {
    const bool fewer = pieces.number() > 0 && engine.size() > 2 && some_push(engine);
    return fewer ? engine.channels() - engine.channels() / 4 : engine.channels();
}

/// The share of a head or piece that this engine combines, from the beginning of the rank's part on. The same engine
/// stores it to the peers where copies do not follow, since nothing orders one engine after what another has combined.
template <class Engine>
BATON_HD Range own_share(const Engine &engine, const HeadAndPieces &pieces) {
    const Range share = split(pieces.range().bytes, copy_granule, sharing_channels(engine, pieces), engine.channel());
    return {pieces.range().begin + share.begin, share.bytes};
}

/// Begins the operation, or joins one that a kernel before this one has begun, behind which copy engines push. Then
/// awaits all.
template <class Engine>
BATON_HD bool begin_or_join(Engine &engine, const CollectiveArgs &args) {
    return (args.begun_before ? engine.attach(args.arrival) : engine.begin(args.arrival)) && engine.await_all();
}

/// Combines this rank's part: each of the engines its share of the head, and most of them a share of each piece.
template <class T, class Engine>
BATON_HD bool combine_pushed(Engine &engine, const CollectiveArgs &args, const PushedInputs &inputs) {
    const Range part = inputs.part_of(engine.rank());
    const std::uint64_t head = head_of(part.bytes);
    std::byte *const result = args.recv + inputs.result_of(engine.rank());
    for (HeadAndPieces pieces(part.bytes, inputs.ranks()); pieces.more(); pieces.next()) {
        const bool pushed = pieces.number() > 0;
        const Range share = own_share(engine, pieces);
        if (share.bytes == 0) continue;
        if (pushed && !engine.await_pushed(pieces.number())) return false;
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            if (of == engine.rank()) return engine.local(args.send + part.begin + share.begin);
            if (!pushed || !engine.pushes(of)) return engine.send_of(of) + part.begin + share.begin;
            return engine.local(args.recv + inputs.scratch_of(of, head) + (share.begin - head));
        });
        const auto *const destination = engine.destinations(1, [&](int) { return engine.local(result + share.begin); });
        engine.template reduce<T>(destination, 1, sources, share.bytes / sizeof(T), args.op);
        engine.order_here();  // the next piece has other lists
    }
    return true;
}

}  // namespace baton::core
