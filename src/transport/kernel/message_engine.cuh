#pragma once

#include "sync/region_lookup.hpp"
#include "sync/wait.hpp"
#include "transport/kernel/line_move.cuh"
#include "transport/kernel/move.cuh"
#include "transport/kernel/packet_move.cuh"
#include "transport/transport.hpp"

namespace baton::core {

struct MessageShared {
    std::uint64_t left[message_slots];  // the last message that has left each slot of the pair, at the kernel's start
    std::uint64_t counted;              // messages of the pair before the launch
    std::byte *remote;
};

/// One block's part of one send or recv: the primitives that collectives/p2p is written with. All threads of the block
/// call every method together. Thread 0 polls and posts, as KernelEngine's threads do; but post_parts() and
/// wait_parts() have a thread for each part, post_line() one for each word, and check_line() one of the last warp. The
/// block calls open() before anything but load_ahead() and load_lines_ahead(): the message's number follows from words
/// that are loaded together with the first data.
class KernelMessageEngine {
public:
    using Remote = std::byte *;

    __device__ KernelMessageEngine(const CommView &view, MessageShared &shared, const Arrival &mine, int peer,
                                   bool is_send, int channel, int channels, const CountUse &count_use)
        : view_(view),
          shared_(shared),
          mine_(mine),
          count_use_(count_use),
          peer_(peer),
          channel_(channel),
          channels_(channels) {
        const OwnWords own = view.own_words();
        count_ = count_word(is_send ? own.sent(peer) : own.received(peer));
        if (threadIdx.x == 0) counted_ = atomicAdd(count_, 1ULL);
        if (threadIdx.x == 0) abort_ = abort_word(view, channel);
        if (threadIdx.x >= message_slots) return;
        const int slot = static_cast<int>(threadIdx.x);
        if (!is_send) {
            left_ = load_before_writes(&own.message_slot(peer, slot)->received);
        } else if (channel == 0 || !view.arenas_on_host) {  // blocks would wait for each other there (ChannelStart)
            left_ = load_before_writes(&view.own().outbox(peer, slot)->consumed.value);
        }
    }

    /// Loads the first words of what put() will send, while the number is on its way.
    __device__ void load_ahead(const std::byte *source, std::uint64_t bytes) {
#pragma unroll
        for (int k = 0; k < words_ahead; ++k) {
            const std::size_t i = threadIdx.x + k * blockDim.x;
            if (i < packets_for(bytes)) ahead_[k] = load_bytes(source + i * packet_payload, payload_bytes(i, bytes));
        }
    }
    __device__ void load_lines_ahead(const std::byte *source, std::uint64_t bytes) {
        core::load_ahead(lines_ahead_, source, bytes);
    }
    /// Returns the number of the message. shared_.counted of its pair came before this launch, in which it is the
    /// `number`-th.
    __device__ std::uint64_t open(std::uint64_t number) {
        if (threadIdx.x == 0) take_count();
        if (threadIdx.x < message_slots) shared_.left[threadIdx.x] = left_;
        failed_ = threadIdx.x == 0 && told_to_give_up(view_, abort_);
        agree();
        number_ = shared_.counted + number;
        return number_;
    }
    /// Turns to another part of the same message.
    __device__ void take_part(int channel) { channel_ = channel; }

    __device__ int rank() const { return view_.rank; }
    __device__ int channel() const { return channel_; }
    __device__ int channels() const { return channels_; }
    __device__ static Remote local(std::byte *pointer) { return pointer; }
    __device__ Arena own() const { return view_.own(); }
    __device__ OwnWords own_words() const { return view_.own_words(); }
    __device__ Arena arena(int peer) const { return view_.arena(peer); }
    __device__ Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, channels_, channel_);
    }

    /// True once message `number` of the pair has left its slot, which `word` tells. The word orders nothing
    /// (post_words()), so having seen it at the kernel's start is as good, and needs no barrier. REQUIRES: no
    /// check_line(), which a thread does apart, is under way.
    __device__ bool wait_until_left(const std::uint64_t *word, std::uint64_t number) {
        if (shared_.left[(number - 1) % message_slots] >= number) return !failed_;
        return wait_word(word, number, WaitFor::consumed);
    }
    /// True once `word`, which the peer or this rank raises, has reached `value`.
    __device__ bool wait_word(const std::uint64_t *word, std::uint64_t value, WaitFor wait_for) {
        if (threadIdx.x == 0 && !failed_) failed_ = !wait_until(view_, at(wait_for), word, value);
        return agree();
    }
    /// Raises a word after everything that the block has stored and read so far.
    __device__ void post_word(std::uint64_t *word, std::uint64_t value) {
        if (agree() && threadIdx.x == 0) store_release(word, value);
    }
    /// The same for a word of this rank and one of the peer, but only after what the block has read: what it has stored
    /// is not covered. That needs no fence. What is read here either carries the message's number and has been compared
    /// with it, so nothing that is stored because of these words can be taken for it; or it has been stored elsewhere
    /// since, which waits for the loads. REQUIRES: the block has agreed on what it has read. Once the peer sees its
    /// word, a later message of the same launch may raise this rank's before this block does: it only grows.
    __device__ void post_words(std::uint64_t *own, std::uint64_t *peers, std::uint64_t value) {
        if (failed_ || threadIdx.x != 0) return;
        store_after_reads(peers, value);
        atomicMax(reinterpret_cast<unsigned long long *>(own), static_cast<unsigned long long>(value));
    }
    __device__ void post_line(ArrivalLine *line) {
        if (threadIdx.x < Arrival::words && !failed_) {
            store_arrival_word(line, mine_, static_cast<int>(threadIdx.x), number_);
        }
    }
    /// Waits for the peer's line of this message (its header or its reply), compares signatures, and returns the buffer
    /// that the line names in *buffer, unless `buffer` is null.
    __device__ bool compare_line(const ArrivalLine *line, WaitFor wait_for, Remote *buffer) {
        if (threadIdx.x == 0 && !failed_) read_line(line, wait_for);
        agree();
        if (buffer != nullptr) *buffer = shared_.remote;
        return !failed_;
    }

    /// Compares only a header's signature. A thread of the last warp does it while the others go on; the next method
    /// with a barrier has the result.
    __device__ bool check_line(const ArrivalLine *line) {
        if (threadIdx.x == blockDim.x - 1 && !failed_) read_line(line, WaitFor::header);
        return true;
    }

    __device__ void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (!failed_) copy_block(destination, source, bytes);
    }
    __device__ void copy_from(std::byte *destination, const Remote &source, std::uint64_t bytes) {
        copy(destination, source, bytes);
    }
    /// Puts packets into the peer's slot for this rank, from packet `place` on. REQUIRES: load_ahead() has loaded the
    /// first words.
    __device__ void put(int slot, std::uint64_t place, const std::byte *source, std::uint64_t bytes,
                        std::uint64_t epoch) {
        if (failed_) return;
        Packet *const destination = view_.arena(peer_).eager_buffer(view_.rank, slot) + place;
        std::size_t sent = 0;
#pragma unroll
        for (int k = 0; k < words_ahead; ++k, sent += blockDim.x) {
            const std::size_t i = threadIdx.x + sent;
            if (i < packets_for(bytes)) store_packet(destination + i, ahead_[k], epoch);
        }
        if (sent >= packets_for(bytes)) return;
        put_packets(destination + sent, source + sent * packet_payload, bytes - sent * packet_payload, epoch);
    }
    /// Takes packets out of this rank's slot for the peer.
    __device__ bool take(std::byte *destination, int slot, std::uint64_t place, std::uint64_t bytes,
                         std::uint64_t epoch) {
        const Packet *const source = view_.own().eager_buffer(peer_, slot) + place;
        // The last warp is left to check_line(), if there are warps to spare.
        const bool all = channel_ != 0 || blockDim.x <= 2 * warp_threads;
        const unsigned takers = all ? blockDim.x : all_but_last_warp();
        Spin spin(view_, at(WaitFor::data));
        if (!failed_ && !take_packets(destination, source, bytes, epoch, takers, spin)) failed_ = true;
        return agree();
    }

    /// The same in lines, to a line buffer. REQUIRES: load_lines_ahead() has loaded the first ones.
    __device__ void put_lines(int buffer, std::uint64_t place, const std::byte *source, std::uint64_t bytes,
                              std::uint64_t epoch) {
        if (failed_) return;
        core::put_lines(view_.arena(peer_).eager_lines(view_.rank, buffer) + place, lines_ahead_, source, bytes, epoch);
    }
    __device__ bool take_lines(std::byte *destination, int buffer, std::uint64_t place, std::uint64_t bytes,
                               std::uint64_t epoch) {
        // The last warp is in check_line(), and a diverged warp cannot take lines.
        const unsigned takers = channel_ != 0 ? blockDim.x : all_but_last_warp();
        const auto part = [&](int) { return LinePart{.peer = peer_, .bytes = bytes, .to = destination}; };
        const auto lines_of = [&](int peer) { return view_.own().eager_lines(peer, buffer) + place; };
        Spin spin(view_, at(WaitFor::data));
        if (!failed_ && !core::take_lines(1, bytes, part, lines_of, epoch, takers, spin)) failed_ = true;
        return agree();
    }

    /// True on the thread that posts, for the last of this rank's channels to come here. `channels_done` counts them;
    /// the last one sets it back to 0. It orders reads only, as post_words() does.
    __device__ bool last_channel(std::uint64_t *channels_done) {
        if (!agree() || threadIdx.x != 0) return false;
        const auto last = static_cast<unsigned>(channels_ - 1);
        return last == 0 || atomicInc(reinterpret_cast<unsigned *>(channels_done), last) == last;
    }

    /// Raises the words of this channel and of all after it: what the stream has done before is visible to a receiver
    /// that sees its word.
    __device__ void post_parts(SemaphoreWord *parts, std::uint64_t value) {
        if (failed_) return;
        for (int part = channel_ + static_cast<int>(threadIdx.x); part < channels_;
             part += static_cast<int>(blockDim.x)) {
            store_release(&parts[part].value, value);
        }
    }
    /// Gives up, because the buffer that a peer's line names is not the expected one.
    __device__ void refuse() {
        if (threadIdx.x == 0) give_up_on_line();
        failed_ = true;
    }

    /// True once all channels of the sender have raised their words to `value`. A thread polls for each.
    __device__ bool wait_parts(const SemaphoreWord *parts, std::uint64_t value) {
        for (int part = static_cast<int>(threadIdx.x); part < channels_; part += static_cast<int>(blockDim.x)) {
            if (!failed_) failed_ = !wait_until(view_, at(WaitFor::data), &parts[part].value, value);
        }
        return agree();
    }

private:
    __device__ static unsigned long long *count_word(MessageCount *count) {
        return reinterpret_cast<unsigned long long *>(&count->word);
    }
    /// The last reader raises the count by the launch's messages, for the next launch, and takes the readers out of it.
    /// Nobody reads in between, since launches of a communicator follow each other.
    __device__ void take_count() {
        constexpr std::uint64_t readers = (std::uint64_t{1} << MessageCount::reader_bits) - 1;
        shared_.counted = counted_ >> MessageCount::reader_bits;
        if ((counted_ & readers) + 1 != count_use_.readers) return;
        atomicAdd(count_, (static_cast<unsigned long long>(count_use_.messages) << MessageCount::reader_bits) -
                              static_cast<unsigned long long>(count_use_.readers));
    }

    /// A barrier: false on all threads once one of them has failed.
    __device__ bool agree() {
        failed_ = __syncthreads_or(failed_) != 0;
        return !failed_;
    }

    __device__ void read_line(const ArrivalLine *line, WaitFor wait_for) {
        Arrival theirs;
        if (!wait_for_line(view_, at(wait_for), line, &theirs)) {
            failed_ = true;
            return;
        }
        shared_.remote = nullptr;
        if (!theirs.recv.is_in_region()) return;
        shared_.remote = region_address(view_, peer_, theirs.recv, cached_region(view_, peer_, theirs.recv));
        if (shared_.remote == nullptr) give_up_on_line();
    }

    __device__ OperationPoint at(WaitFor wait_for) const {
        return {peer_, channel_, number_, wait_for, mine_.signature};
    }

    /// The line names memory that it must not name.
    __device__ void give_up_on_line() {
        give_up(view_, BATON_ERR_INTERNAL, at(WaitFor::header));
        failed_ = true;
    }

    const CommView &view_;
    MessageShared &shared_;
    const Arrival &mine_;
    const CountUse count_use_;
    unsigned long long *count_;
    unsigned long long counted_ = 0;  // of thread 0: the count's word before this block added itself
    std::uint64_t abort_ = 0;         // of thread 0: the abort word at the start
    std::uint64_t left_ = 0;          // of slot threadIdx.x
    std::uint64_t number_ = 0;        // of the message, from open() on
    int peer_;
    int channel_;
    int channels_;
    bool failed_ = false;  // of this thread only, until agree()
    static constexpr int words_ahead = 2;
    std::uint64_t ahead_[words_ahead];
    LineWords lines_ahead_[lines_at_once];
};

}  // namespace baton::core
