#pragma once

#include "transport/kernel/line_move.cuh"
#include "transport/kernel/line_pass.cuh"
#include "transport/kernel/packet_block.cuh"

namespace baton::core {

/// A block's lines (sync/data_line.hpp): like its packets, but eight threads store or load a line together. See
/// transport.hpp.
class LineBlock : public PacketBlock {
public:
    using PacketBlock::PacketBlock;

    /// The first lines' data are loaded together with the epoch.
    template <class PartOf>
    __device__ bool begin_with_lines(const Arrival &mine, int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        using Run = LineRun<lines_at_once>;
        const bool unaligned = any_unaligned(parts, [&](int index) {
            const LinePart part = part_of(index);
            return is_unaligned(part.from, part.bytes) || is_unaligned(part.to, 0);
        });
        LineRuns<lines_at_once> runs(parts, most_bytes, blockDim.x);
        LinePart part;
        LineWords words[lines_at_once];
        const auto load = [&] {
            if (!runs.more()) return;
            part = part_of(runs.part());
            // A part may be shorter than the longest. If it is empty, there may be nothing to read.
            if (part.bytes > 0) load_run(words, part.from, Run(runs.run(), part.bytes), unaligned);
        };
        load();
        take_epoch(mine);
        post_arrivals(mine);
        // Threads may have been told to give up by different loads, but a warp stores lines together or not at all.
        const bool told = __any_sync(full_mask, failed_);
        while (!told && runs.more()) {
            const Run run(runs.run(), part.bytes);
            if (part.to != nullptr && part.to != part.from) store_run(part.to, run, words, unaligned);
            if (part.peer != view_.rank) {
                DataLine *const lines = view_.arena(part.peer).lines(epoch_, channel_, view_.rank);
                stamp(words, epoch_);
                store_lines(lines + lines_for(part.behind), run, words);
            }
            runs.advance();
            load();
        }
        return agree();
    }

    template <class PartOf>
    __device__ void take_lines(int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        if (failed_) return;
        Spin spin(view_, at(WaitFor::data, any_peer));
        const auto lines_of = [&](int peer) { return view_.own().lines(epoch_, channel_, peer); };
        if (!core::take_lines(parts, most_bytes, part_of, lines_of, epoch_, all_but_last_warp(), spin)) failed_ = true;
    }
    __device__ void relay_lines(int from, std::byte *to, std::uint64_t bytes) {
        if (failed_) return;
        Spin spin(view_, at(WaitFor::data, from));
        // The other peers in the order of peer_at(), without `from`.
        const int step_of_from = (from - view_.rank + view_.size) % view_.size;
        const auto destination = [&](int index) {
            const int step = index + 1 < step_of_from ? index + 1 : index + 2;
            return view_.arena(peer_at(step)).lines(epoch_, channel_, view_.rank);
        };
        if (!core::relay_lines(view_.own().lines(epoch_, channel_, from), to, bytes, view_.size - 2, destination,
                               epoch_, all_but_last_warp(), spin)) {
            failed_ = true;
        }
    }
    __device__ void pass_lines(const LinePass &pass) { pass_lines_by(pass, &Arena::credit, 0, 1); }
    template <class T>
    __device__ void reduce_lines_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        combine_lines<T>(destination, own, count, op, 0, 0);
    }
    template <class T>
    __device__ void reduce_and_relay_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op,
                                           std::uint64_t behind) {
        combine_lines<T>(destination, own, count, op, view_.size - 1, behind);
    }

protected:
    using Words = std::uint64_t *(Arena::*)(int, int) const;

    /// pass_lines() by one of the `blocks` of a channel. Each has its own part of the ring, and its own words.
    __device__ void pass_lines_by(const LinePass &pass, Words words, unsigned block, unsigned blocks) {
        if (failed_) return;
        LineRing ring;
        ring.lines = static_cast<unsigned>(view_.layout.lines_per_channel) * static_cast<unsigned>(view_.size) / blocks;
        const auto ring_of = [&](const Arena &arena) { return arena.lines(epoch_, channel_, 0) + block * ring.lines; };
        if (pass.before != no_rank) {
            ring.own = ring_of(view_.own());
            ring.taken = (view_.arena(pass.before).*words)(channel_, view_.rank);
        }
        if (pass.after != no_rank) {
            ring.next = ring_of(view_.arena(pass.after));
            ring.next_taken = (view_.own().*words)(channel_, pass.after);
        }
        // The rank that has not come need not be the neighbour: that may be waiting for it, too.
        const auto data_spin = [&] { return Spin(view_, at(WaitFor::data, any_peer)); };
        const auto room_spin = [&] { return Spin(view_, at(WaitFor::credit, any_peer)); };
        if (!core::pass_lines(pass, ring, epoch_, all_but_last_warp(), data_spin, room_spin)) failed_ = true;
    }

private:
    /// The result also goes to the next `peers` peers, in the order of peer_at().
    template <class T>
    __device__ void combine_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op, int peers,
                                  std::uint64_t behind) {
        if (failed_) return;
        const auto lines_of = [&](int peer) {
            return peer == view_.rank ? nullptr : view_.own().lines(epoch_, channel_, peer);
        };
        const auto destination_of = [&](int index) {
            return view_.arena(peer_at(index + 1)).lines(epoch_, channel_, view_.rank) + lines_for(behind);
        };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_lines<T>(destination, lines_of, own, view_.size, count, op, peers, destination_of, epoch_,
                             all_but_last_warp(), spin)) {
            failed_ = true;
        }
    }
};

}  // namespace baton::core
