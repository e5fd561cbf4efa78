#pragma once

#include <atomic>
#include <optional>

#include "sync/wait.hpp"
#include "transport/host/line_move.hpp"
#include "transport/host/move.hpp"
#include "transport/host/remote_memory.hpp"
#include "transport/transport.hpp"

namespace baton::core {

/// One send or recv of a host thread that has others to progress as well. It has the primitives that collectives/p2p is
/// written with, as kernel/message_engine.cuh has, but its waits only look: they return false where a kernel's would go
/// on polling, and the algorithm is called again later.
class HostMessageEngine {
public:
    using Remote = HostRemote;

    /// `moves`: how often a message with this peer has been seen to get on; all of the thread's messages with it count
    /// here. Each time, a wait's clock begins anew, since this message may have to wait for its turn, here or there.
    /// `has_no_sends`: the thread has nothing but recvs to progress.
    HostMessageEngine(const CommView &view, const HostReach &reach, const Arrival &mine, int peer, std::uint64_t number,
                      std::uint64_t &moves, bool has_no_sends)
        : view_(view),
          reach_(reach),
          mine_(mine),
          number_(number),
          moves_(moves),
          peer_(peer),
          has_no_sends_(has_no_sends) {
        failed_ = !may_begin(view_);
    }

    int rank() const { return view_.rank; }
    int channel() const { return 0; }
    int channels() const { return 1; }
    static Remote local(std::byte *pointer) { return {pointer, 0}; }
    Arena own() const { return view_.own(); }
    OwnWords own_words() const { return view_.own_words(); }
    Arena arena(int peer) const { return view_.arena(peer); }
    Range share(std::uint64_t bytes, std::uint64_t /*granule*/) const { return {0, bytes}; }
    /// True if the communicator is broken: nothing more will happen.
    bool failed() const { return failed_; }
    /// Whether the current wait has lasted so long that the thread may sleep between polls. `waits`: how many the
    /// thread polls in turns.
    bool waits_long(std::size_t waits) const { return wait_ && wait_->spin.is_long(waits); }

    bool wait_until_left(const std::uint64_t *word, std::uint64_t number) {
        return wait_word(word, number, WaitFor::consumed);
    }
    bool wait_word(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for) {
        if (failed_) return false;
        return load_acquire(word) >= value ? came(wait_for, value) : not_yet(wait_for, value);
    }
    /// The same; each change of the word `moving` shows that the message gets on.
    bool wait_word(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for, const std::uint64_t *moving) {
        if (const std::uint64_t now = load_relaxed(moving); now != moved_to_) {
            moved_to_ = now;
            gets_on();
        }
        return wait_word(word, value, wait_for);
    }
    /// Counts that the message has got on, as by what this rank has done itself.
    void gets_on() { ++moves_; }
    /// Slots are handed back by this, too: with release, because their payloads are plain memory (memory_model.md).
    void post_word(std::uint64_t *word, std::uint64_t value) {
        if (!failed_) store_release(word, value);
    }
    void post_words(std::uint64_t *own, std::uint64_t *peers, std::uint64_t value) {
        post_word(own, value);
        post_word(peers, value);
    }
    void post_line(ArrivalLine *line) {
        for (int word = 0; word < Arrival::words && !failed_; ++word) store_arrival_word(line, mine_, word, number_);
    }
    bool compare_line(const ArrivalLine *line, WaitFor wait_for, Remote *buffer) {
        if (failed_) return false;
        Arrival theirs;
        if (!load_arrival(line, number_, &theirs)) return not_yet(wait_for, number_);
        if (!(theirs.signature == mine_.signature)) return report(BATON_ERR_MISMATCH, theirs.signature);
        // The buffer that the line names: a receiver's line its recv buffer, the line of a sender that is read from its
        // send buffer.
        const BufferRef &named = theirs.recv.names_a_buffer() ? theirs.recv : theirs.send;
        if (buffer == nullptr) return came(wait_for, number_);
        *buffer = reach_.resolve(view_, peer_, named);
        const bool gone = named.is_in_region() && buffer->address == nullptr;
        return gone ? report(BATON_ERR_INTERNAL, theirs.signature) : came(wait_for, number_);
    }

    /// Finds the recv buffer that a reply names. False as long as there is none (it may never come), or if the
    /// signatures differ: the receiver, which compares them, reports that. It may also have ended the message
    /// meanwhile: then the line may be half another message's, the region gone, and the result is nonsense.
    bool find_reply(const ArrivalLine *line, Remote *buffer) const {
        Arrival theirs;
        if (failed_ || !load_arrival(line, number_, &theirs) || !(theirs.signature == mine_.signature)) return false;
        *buffer = reach_.resolve(view_, peer_, theirs.recv);
        return buffer->address != nullptr;
    }
    /// False once the communicator is broken. Asked before each piece that touches a peer's buffer, because the peer's
    /// call may have ended with an error.
    bool may_go_on() {
        failed_ = failed_ || !may_begin(view_);
        return !failed_;
    }
    /// For a recv: whether the sender is asked to copy into this rank's buffer, which must be named for that. Not if
    /// this rank sends too, because the other one then has its own recvs to do.
    bool sender_helps() const { return reach_.ranks_help && has_no_sends_ && mine_.recv.names_a_buffer(); }
    /// Adds 1 to a word that both ranks count up, and returns what it was. The sender has set it before the header.
    /// Relaxed, because a number belongs to its taker alone, and says nothing of any memory.
    static std::uint64_t count_up(std::uint64_t *word) {
        return std::atomic_ref<std::uint64_t>(*word).fetch_add(1, std::memory_order_relaxed);
    }

    bool check_line(const ArrivalLine *line) { return compare_line(line, WaitFor::header, nullptr); }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (!failed_ && !host_write(destination, source, bytes)) report_unreachable();
    }
    void copy_from(std::byte *destination, const Remote &source, std::uint64_t bytes) {
        if (!failed_ && !host_read(destination, source, bytes)) report_unreachable();
    }
    void put(int slot, std::uint64_t /*place*/, const std::byte *source, std::uint64_t bytes, std::uint64_t epoch) {
        if (!failed_) put_packets(packets_in(view_.arena(peer_), rank(), slot), source, bytes, epoch);
    }
    bool take(std::byte *destination, int slot, std::uint64_t /*place*/, std::uint64_t bytes, std::uint64_t epoch) {
        if (failed_) return false;
        auto no_wait = [] { return false; };
        return take_packets(destination, packets_in(view_.own(), peer_, slot), bytes, epoch, no_wait)
                   ? came(WaitFor::data, epoch)
                   : not_yet(WaitFor::data, epoch);
    }
    void put_lines(int buffer, std::uint64_t place, const std::byte *source, std::uint64_t bytes, std::uint64_t epoch) {
        if (!failed_) core::put_lines(view_.arena(peer_).eager_lines(rank(), buffer) + place, source, bytes, epoch);
    }
    bool take_lines(std::byte *destination, int buffer, std::uint64_t place, std::uint64_t bytes, std::uint64_t epoch) {
        if (failed_) return false;
        auto no_wait = [] { return false; };
        const std::uint64_t done = lines_taken_ * DataLine::payload;
        const DataLine *const lines = view_.own().eager_lines(peer_, buffer) + place + lines_taken_;
        const auto count = [&](std::uint64_t, std::uint64_t, std::uint64_t) { ++lines_taken_; };
        return core::take_lines(destination + done, lines, bytes - done, epoch, count, no_wait)
                   ? came(WaitFor::data, epoch)
                   : not_yet(WaitFor::data, epoch);
    }
    /// The only channel is the last.
    bool last_channel(std::uint64_t * /*channels_done*/) const { return !failed_; }
    bool wait_parts(const SemaphoreWord *parts, std::uint64_t value) {
        return wait_word(&parts[0].value, value, WaitFor::data);
    }

private:
    /// The only channel's, from the slot's start on.
    HostPackets packets_in(const Arena &arena, int from, int slot) const {
        return HostPackets::in(arena.eager_buffer(from, slot), view_.layout.message_packets);
    }

    /// For a wait that is not satisfied. Returns false; the message fails if this very wait has lasted too long.
    bool not_yet(WaitFor wait_for, std::uint64_t value) {
        if (!is_under_way(wait_for, value)) {
            wait_.emplace(Wait{wait_for, value, moves_, Spin(view_, at(wait_for))});
        } else if (wait_->moves != moves_) {
            wait_->moves = moves_;
            wait_->spin.begin_anew();
        }
        if (!wait_->spin.keep_waiting()) failed_ = true;
        return false;
    }
    /// For a wait that is satisfied. Returns true, and counts a move if the wait was not satisfied at once. Asking
    /// again counts none.
    bool came(WaitFor wait_for, std::uint64_t value) {
        if (is_under_way(wait_for, value)) {
            wait_.reset();
            gets_on();
        }
        return true;
    }
    bool is_under_way(WaitFor wait_for, std::uint64_t value) const {
        return wait_ && wait_->wait_for == wait_for && wait_->value == value;
    }
    OperationPoint at(WaitFor wait_for) const { return {peer_, channel(), number_, wait_for, mine_.signature}; }

    void report_unreachable() { report(copy_error(), mine_.signature); }

    bool report(baton_result code, const Signature &theirs) {
        give_up(view_, code, at(WaitFor::header), theirs);
        failed_ = true;
        return false;
    }

    const CommView &view_;
    const HostReach &reach_;
    const Arrival &mine_;
    std::uint64_t number_;
    std::uint64_t &moves_;
    std::uint64_t moved_to_ = 0;
    int peer_;
    const bool has_no_sends_;
    bool failed_ = false;
    std::size_t lines_taken_ = 0;
    struct Wait {
        WaitFor wait_for;
        std::uint64_t value;
        std::uint64_t moves;
        Spin spin;
    };
    std::optional<Wait> wait_;  // the last one that was not satisfied
};

}  // namespace baton::core
