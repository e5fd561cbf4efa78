#pragma once

#include <algorithm>
#include <array>
#include <cassert>

#include "sync/wait.hpp"
#include "transport/host/line_move.hpp"
#include "transport/host/move.hpp"
#include "transport/host/remote_memory.hpp"
#include "transport/host/scratch.hpp"
#include "transport/remote_lists.hpp"
#include "transport/transport.hpp"

namespace baton::core {

/// The engine of one host thread, which is the only channel of a host's collectives. See transport.hpp.
class HostEngine : public RemoteLists<HostRemote> {
public:
    using Remote = HostRemote;

    HostEngine(const CommView &view, const HostReach &reach, const HostScratch &scratch)
        : view_(view), reach_(reach), scratch_(scratch) {
        std::fill_n(send_of_.begin(), size(), Remote{});
        std::fill_n(recv_of_.begin(), size(), Remote{});
    }

    int rank() const { return view_.rank; }
    int size() const { return view_.size; }
    static int channel() { return 0; }
    int peer_at(int step) const { return (view_.rank + step) % view_.size; }
    int spread_peer_at(int step) const { return peer_at(step); }
    Range share(std::uint64_t bytes, std::uint64_t /*granule*/) const { return {0, bytes}; }
    /// Whether ranks copy for others what those could copy alone.
    bool ranks_help() const { return reach_.ranks_help; }
    /// Whether peers reach this buffer of this rank only by a system call.
    bool copies_by_system(const BufferRef &buffer) const { return !reach_.same_process && !buffer.is_in_region(); }
    /// See HostMessageEngine.
    bool may_go_on() { return (!failed_ && may_begin(view_)) || fail(); }
    Remote send_of(int peer) const { return send_of_[static_cast<std::size_t>(peer)]; }
    Remote recv_of(int peer) const { return recv_of_[static_cast<std::size_t>(peer)]; }
    static Remote local(const std::byte *pointer) { return {const_cast<std::byte *>(pointer), 0}; }

    /// begin(), and waits for all peers to arrive, before it is settled which algorithm runs. The algorithm's own
    /// begin(), with the same arrival, then has nothing left to do.
    bool meet(const Arrival &mine) {
        if (!begin(mine)) return false;
        verify_arrivals();
        has_met_ = true;
        return !failed_;
    }
    /// What a peer has said, after meet().
    Arrival arrival_of(int peer) const {
        Arrival theirs;
        [[maybe_unused]] const bool is_there =
            load_arrival(view_.own().arrival(epoch_, channel(), peer), epoch_, &theirs);
        assert(has_met_ && is_there);
        return theirs;
    }

    bool begin(const Arrival &mine) {
        if (has_met_) return !failed_;
        mine_ = mine.signature;
        epoch_ = *view_.own().epoch(channel()) + 1;
        failed_ = !may_begin(view_);
        if (failed_) return false;
        for (int step = 1; step < size(); ++step) {
            ArrivalLine *line = view_.arena(peer_at(step)).arrival(epoch_, channel(), rank());
            for (int word = 0; word < Arrival::words; ++word) store_arrival_word(line, mine, word, epoch_);
        }
        return true;
    }

    bool begin_with_packets(const Arrival &mine, const std::byte *source, std::uint64_t stride, std::uint64_t bytes,
                            std::byte *own) {
        if (!begin(mine)) return false;
        const auto from = [&](int peer) { return source + static_cast<std::uint64_t>(peer) * stride; };
        for (int step = 1; step < size(); ++step) {
            const int peer = peer_at(step);
            put_packets(packets_in(view_.arena(peer), rank()), from(peer), bytes, epoch_);
        }
        if (own != nullptr) copy_own(own, from(rank()), bytes);
        return true;
    }

    template <class PartOf>
    bool begin_with_lines(const Arrival &mine, int parts, [[maybe_unused]] std::uint64_t most_bytes,
                          const PartOf &part_of) {
        if (!begin(mine)) return false;
        for (int index = 0; index < parts; ++index) {
            const LinePart part = part_of(index);
            assert(part.bytes <= most_bytes && fits(part));
            if (part.peer != rank())
                put_lines(lines_at(part.peer) + lines_for(part.behind), part.from, part.bytes, epoch_);
            if (part.to != nullptr) copy_own(part.to, part.from, part.bytes);
        }
        return true;
    }

    bool await_all() {
        return await_all([](int) { return true; });
    }
    template <class F>
    bool await_all(const F &finds) {
        for (int step = 1; step < size(); ++step) {
            const int peer = peer_at(step);
            if (has_met_ && !finds(peer)) continue;
            if (!await_peer(peer, finds(peer))) return false;
        }
        return !failed_;
    }
    void verify_arrivals() {
        await_all([](int) { return false; });
    }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (failed_ || (destination.is_mapped() && destination.address == source)) return;
        if (!host_write(destination, source, bytes)) report_unreachable(destination);
    }

    void copy_from(std::byte *destination, const Remote &source, std::uint64_t bytes) {
        if (failed_ || (source.is_mapped() && source.address == destination)) return;
        if (!host_read(destination, source, bytes)) report_unreachable(source);
    }
    void copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        copy(local(destination), source, bytes);
    }

    template <class T>
    void reduce(const Remote *destinations, int destination_count, const Remote *sources, std::uint64_t count, int op) {
        complete<T>(destinations, destination_count, nullptr, sources, size(), count, op);
    }
    template <class T>
    void accumulate(Remote destination, const std::byte *partial, const Remote *sources, int source_count,
                    std::uint64_t count, int op) {
        combine<T>(sources, source_count, count,
                   [&](const T *const *inputs, std::uint64_t first, std::uint64_t elements) {
                       const Remote to = destination + first * sizeof(Accumulator<T>);
                       std::byte *const result = result_for(to);
                       accumulate_block<T>(reinterpret_cast<Accumulator<T> *>(result), accumulators<T>(partial, first),
                                           inputs, source_count, elements, op);
                       return write(to, result, elements * sizeof(Accumulator<T>));
                   });
    }
    template <class T>
    void complete(const Remote *destinations, int destination_count, const std::byte *partial, const Remote *sources,
                  int source_count, std::uint64_t count, int op) {
        combine<T>(sources, source_count, count,
                   [&](const T *const *inputs, std::uint64_t first, std::uint64_t elements) {
                       std::byte *const result = result_for(destinations[0] + first * sizeof(T));
                       complete_block<T>(reinterpret_cast<T *>(result), accumulators<T>(partial, first), inputs,
                                         source_count, elements, op, size());
                       for (int index = 0; index < destination_count; ++index) {
                           if (!write(destinations[index] + first * sizeof(T), result, elements * sizeof(T)))
                               return false;
                       }
                       return true;
                   });
    }

    void order_here() {}

    void signal_all(std::uint64_t step) { post_all(&Arena::done, step); }
    void signal(int peer, std::uint64_t step) { post(peer, &Arena::done, step); }
    bool wait_all(std::uint64_t step) { return poll_all(&Arena::done, step, WaitFor::done); }
    bool wait(int peer, std::uint64_t step) { return poll_one(peer, &Arena::done, step, WaitFor::done); }
    void credit_all(std::uint64_t step) { post_all(&Arena::credit, step); }
    void credit(int peer, std::uint64_t step) { post(peer, &Arena::credit, step); }
    bool wait_credits(std::uint64_t step) { return poll_all(&Arena::credit, step, WaitFor::credit); }
    bool wait_credit(int peer, std::uint64_t step) { return poll_one(peer, &Arena::credit, step, WaitFor::credit); }

    std::uint64_t segment_bytes() const { return view_.layout.segment_bytes; }
    Remote staging_at(int peer, int slot) const { return {view_.arena(peer).staging(slot, rank()), 0}; }
    std::byte *staging_from(int peer, int slot) const { return view_.own().staging(slot, peer); }
    Remote staging_of(int rank, int slot) const { return {view_.arena(rank).staging(slot, rank), 0}; }
    std::uint64_t early_bytes(int places) const { return early_place_bytes(view_.layout.early_bytes, places); }
    Remote early_of(int rank) const { return {view_.arena(rank).early(epoch_, channel()), 0}; }

    void take_packets_from_each(std::byte *destination, std::uint64_t stride, std::uint64_t bytes) {
        for (int step = 1; step < size(); ++step) {
            const int peer = peer_at(step);
            take_packets_from(peer, destination + static_cast<std::uint64_t>(peer) * stride, bytes);
        }
    }
    void take_packets_from(int peer, std::byte *destination, std::uint64_t bytes) {
        if (failed_) return;
        Spin spin(view_, at(WaitFor::data, peer));
        if (!take_packets(destination, packets_in(view_.own(), peer), bytes, epoch_, spin)) fail();
    }
    template <class T>
    void reduce_packets_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        if (failed_) return;
        const auto packets_of = [&](int peer) {
            return peer == rank() ? HostPackets{} : packets_in(view_.own(), peer);
        };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_packets<T>(reinterpret_cast<T *>(destination), packets_of, reinterpret_cast<const T *>(own), size(),
                               count, op, epoch_, spin)) {
            fail();
        }
    }

    template <class PartOf>
    void take_lines(int parts, [[maybe_unused]] std::uint64_t most_bytes, const PartOf &part_of) {
        for (int index = 0; index < parts && !failed_; ++index) {
            const LinePart part = part_of(index);
            assert(part.bytes <= most_bytes && fits(part));
            take(part.peer, lines_from(part.peer) + lines_for(part.behind), part.to, part.bytes, epoch_,
                 [](auto...) {});
        }
    }
    void relay_lines(int from, std::byte *to, std::uint64_t bytes) {
        if (failed_) return;
        take(from, lines_from(from), to, bytes, epoch_, [&](std::uint64_t line, std::uint64_t at, std::uint64_t size) {
            for (int step = 1; step < this->size(); ++step) {
                if (peer_at(step) != from) put_lines(lines_at(peer_at(step)) + line, to + at, size, epoch_);
            }
        });
    }
    void pass_lines(const LinePass &pass) {
        const std::uint64_t ring = view_.layout.lines_per_channel * static_cast<std::uint64_t>(size());
        const std::uint64_t run = std::min<std::uint64_t>(lines_of_run, ring);
        assert(ring > 0);
        const std::uint64_t places = ring / run;
        const std::byte *const from = pass.before == no_rank ? pass.from : pass.to;
        std::uint64_t step = 0;
        for (std::uint64_t at = 0; at < pass.bytes && !failed_; at += run * DataLine::payload, ++step) {
            const std::uint64_t bytes = std::min<std::uint64_t>(run * DataLine::payload, pass.bytes - at);
            const std::uint64_t first = step % places * run;
            const std::uint64_t epoch = epoch_of_round(epoch_, step / places);
            if (pass.before == no_rank) {
                copy_own(pass.to + at, from + at, bytes);
            } else {
                take(pass.before, ring_of(rank()) + first, pass.to + at, bytes, epoch, [](auto...) {});
                credit(pass.before, step + 1);
            }
            if (pass.after != no_rank) {
                if (step >= places) wait_credit(pass.after, step + 1 - places);
                if (!failed_) put_lines(ring_of(pass.after) + first, from + at, bytes, epoch);
            }
        }
    }
    template <class T>
    void reduce_lines_to(std::byte *destination, const std::byte *own, std::uint64_t count, int op) {
        combine_lines<T>(destination, own, count, op, [](auto...) {});
    }
    template <class T>
    void reduce_and_relay_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op,
                                std::uint64_t behind) {
        combine_lines<T>(destination, own, count, op, [&](std::uint64_t line, std::uint64_t at, std::uint64_t bytes) {
            for (int step = 1; step < this->size(); ++step)
                put_lines(lines_at(peer_at(step)) + lines_for(behind) + line, destination + at, bytes, epoch_);
        });
    }

    bool finish() {
        if (failed_) return false;
        *view_.own().epoch(channel()) = epoch_;
        return true;
    }

private:
    using Words = std::uint64_t *(Arena::*)(int, int) const;
    using Remotes = std::array<Remote, max_ranks>;

    HostPackets packets_in(const Arena &arena, int from) const {
        return HostPackets::in(arena.packets(epoch_, channel(), from), view_.layout.packets_per_channel);
    }

    DataLine *lines_at(int peer) const { return view_.arena(peer).lines(epoch_, channel(), rank()); }
    const DataLine *lines_from(int peer) const { return view_.own().lines(epoch_, channel(), peer); }
    bool fits(const LinePart &part) const {
        return lines_for(part.behind) + lines_for(part.bytes) <= view_.layout.lines_per_channel;
    }
    DataLine *ring_of(int peer) const { return view_.arena(peer).lines(epoch_, channel(), 0); }
    template <class Came>
    void take(int peer, const DataLine *lines, std::byte *destination, std::uint64_t bytes, std::uint64_t epoch,
              const Came &came) {
        Spin spin(view_, at(WaitFor::data, peer));
        if (!core::take_lines(destination, lines, bytes, epoch, came, spin)) fail();
    }
    template <class T, class Came>
    void combine_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op, const Came &came) {
        if (failed_) return;
        const auto lines_of = [&](int peer) { return peer == rank() ? nullptr : lines_from(peer); };
        Spin spin(view_, at(WaitFor::data, any_peer));
        if (!reduce_lines<T>(destination, lines_of, own, size(), count, op, epoch_, came, spin)) fail();
    }

    /// Calls part(inputs, first, elements) for one block of elements after the other, until it returns false. The
    /// inputs are mapped sources, or have been read into scratch.
    template <class T, class Part>
    void combine(const Remote *sources, int source_count, std::uint64_t count, const Part &part) {
        if (failed_) return;
        const std::uint64_t block = scratch_.block_bytes() / sizeof(T);
        const auto n = static_cast<std::size_t>(source_count);
        std::array<const T *, max_ranks> inputs{};
        for (std::uint64_t first = 0; first < count; first += block) {
            const std::uint64_t elements = std::min(block, count - first);
            for (std::size_t source = 0; source < n; ++source) {
                const Remote from = sources[source] + first * sizeof(T);
                std::byte *const held = from.is_mapped() ? from.address : scratch_.source(source);
                if (!from.is_mapped() && !host_read(held, from, elements * sizeof(T))) return report_unreachable(from);
                inputs[source] = reinterpret_cast<const T *>(held);
            }
            if (!part(inputs.data(), first, elements)) return;
        }
    }
    template <class T>
    static const Accumulator<T> *accumulators(const std::byte *partial, std::uint64_t first) {
        return partial == nullptr ? nullptr : reinterpret_cast<const Accumulator<T> *>(partial) + first;
    }
    /// Where a block's result is made: in its destination if that is mapped, else in scratch.
    std::byte *result_for(const Remote &destination) {
        return destination.is_mapped() ? destination.address : scratch_.result();
    }
    bool write(const Remote &destination, const std::byte *result, std::uint64_t bytes) {
        if (destination.is_mapped() && destination.address == result) return true;
        if (host_write(destination, result, bytes)) return true;
        report_unreachable(destination);
        return false;
    }

    bool await_peer(int peer, bool finds) {
        if (failed_) return false;
        Arrival theirs;
        if (!wait_for_line(view_, at(WaitFor::arrival, peer), view_.own().arrival(epoch_, channel(), peer), &theirs))
            return fail();
        return !finds || (resolve(peer, theirs.send, &send_of_) && resolve(peer, theirs.recv, &recv_of_));
    }
    bool resolve(int peer, const BufferRef &buffer, Remotes *remotes) {
        const Remote remote = reach_.resolve(view_, peer, buffer);
        if (buffer.is_in_region() && remote.address == nullptr) return report(BATON_ERR_INTERNAL, peer, mine_);
        (*remotes)[static_cast<std::size_t>(peer)] = remote;
        return true;
    }

    void post(int peer, Words words, std::uint64_t step) {
        if (!failed_) store_release((view_.arena(peer).*words)(channel(), rank()), step_value(epoch_, step));
    }
    void post_all(Words words, std::uint64_t step) {
        for (int index = 1; index < size(); ++index) post(peer_at(index), words, step);
    }
    bool poll_one(int peer, Words words, std::uint64_t step, WaitFor wait_for) {
        if (failed_) return false;
        const std::uint64_t *word = (view_.own().*words)(channel(), peer);
        return wait_until(view_, at(wait_for, peer), word, step_value(epoch_, step)) || fail();
    }
    bool poll_all(Words words, std::uint64_t step, WaitFor wait_for) {
        for (int index = 1; index < size(); ++index) {
            if (!poll_one(peer_at(index), words, step, wait_for)) return false;
        }
        return !failed_;
    }

    bool fail() {
        failed_ = true;
        return false;
    }

    OperationPoint at(WaitFor wait_for, int peer) const { return {peer, channel(), epoch_, wait_for, mine_}; }

    bool report(baton_result code, int peer, const Signature &theirs) {
        give_up(view_, code, at(WaitFor::arrival, peer), theirs);
        return fail();
    }

    void report_unreachable(const Remote &remote) {
        const baton_result code = copy_error();
        const auto at = std::find(reach_.pids.begin(), reach_.pids.end(), remote.process);
        report(code, static_cast<int>(at - reach_.pids.begin()), mine_);
    }

    const CommView &view_;
    const HostReach &reach_;
    const HostScratch &scratch_;
    std::uint64_t epoch_ = 0;
    Signature mine_;
    bool failed_ = false;
    bool has_met_ = false;
    // Only the first size() are filled: filling all would take a fifth of the time of a small call.
    Remotes send_of_;
    Remotes recv_of_;
};

}  // namespace baton::core
