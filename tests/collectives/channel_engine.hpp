#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "collectives/args.hpp"
#include "transport/remote_lists.hpp"
#include "transport/transport.hpp"

/// Algorithms as kernels run them on several channels: every channel of every rank is a thread, and nothing orders the
/// channels of a rank. The engine is a stand-in that knows sums of 32-bit integers.
namespace baton::core {

using Vector = std::vector<std::uint32_t>;

/// What the engines of all ranks and channels share.
struct Node {
    Node(int the_size, int the_channels, std::uint64_t segment, std::uint64_t early = 0)
        : size(the_size), channels(the_channels), segment_bytes(segment), early_bytes(early) {
        const auto n = static_cast<std::size_t>(size);
        words = std::vector<std::atomic<std::uint64_t>>(2 * n * n * static_cast<std::size_t>(channels));
        staging.assign(n, std::vector<std::byte>(2 * n * segment));
        early_staging.assign(n, std::vector<std::byte>(static_cast<std::size_t>(channels) * early));
        lines.resize(2 * n * n * static_cast<std::size_t>(channels));
        line_words = std::vector<std::atomic<std::uint64_t>>(lines.size());
        send.resize(n);
        recv.resize(n);
    }
    std::atomic<std::uint64_t> &word(int kind, int at, int channel, int from) {
        return words[static_cast<std::size_t>(((kind * size + at) * channels + channel) * size + from)];
    }

    /// Index of what `from` puts into the lines of a channel of `at`; `second`: behind another part.
    std::size_t line_buffer(int at, int channel, int from, bool second) const {
        return static_cast<std::size_t>(((second ? size : 0) + at) * channels * size + channel * size + from);
    }

    const int size;
    const int channels;
    const std::uint64_t segment_bytes;
    const std::uint64_t early_bytes;  // of a channel
    std::vector<std::vector<std::byte>> lines;
    std::vector<std::atomic<std::uint64_t>> line_words;  // 1: the lines have been put
    std::vector<std::atomic<std::uint64_t>> words;
    std::vector<std::vector<std::byte>> staging;
    std::vector<std::vector<std::byte>> early_staging;
    std::vector<std::byte *> send;  // by rank
    std::vector<std::byte *> recv;
};

class ChannelEngine : public RemoteLists<std::byte *> {
public:
    using Remote = std::byte *;

    ChannelEngine(Node &node, int rank, int channel) : node_(node), rank_(rank), channel_(channel) {}

    int rank() const { return rank_; }
    int size() const { return node_.size; }
    int channel() const { return channel_; }
    int peer_at(int step) const { return (rank_ + step) % node_.size; }
    int spread_peer_at(int step) const { return peer_at(1 + (step - 1 + channel_) % (node_.size - 1)); }
    Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, node_.channels, channel_);
    }
    static Remote local(const std::byte *pointer) { return const_cast<std::byte *>(pointer); }
    Remote send_of(int peer) const { return found(node_.send, peer); }
    Remote recv_of(int peer) const { return found(node_.recv, peer); }
    bool begin(const Arrival & /*mine*/) { return true; }
    bool await_all() {
        return await_all([](int) { return true; });
    }
    template <class F>
    bool await_all(const F &finds) {
        found_.clear();
        for (int peer = 0; peer < node_.size; ++peer) found_.push_back(peer != rank_ && finds(peer));
        return true;
    }
    bool finish() { return true; }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (bytes > 0 && destination != source) std::memcpy(destination, source, bytes);
    }
    void copy_from(std::byte *destination, Remote source, std::uint64_t bytes) { copy(destination, source, bytes); }
    void copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        copy(destination, source, bytes);
    }
    template <class T>
    void reduce(const Remote *destinations, int destination_count, const Remote *sources, std::uint64_t count, int op) {
        complete<T>(destinations, destination_count, nullptr, sources, size(), count, op);
    }
    template <class T>
    void accumulate(Remote destination, const std::byte *partial, const Remote *sources, int source_count,
                    std::uint64_t count, int op) {
        complete<T>(&destination, 1, partial, sources, source_count, count, op);
    }
    template <class T>
    void complete(const Remote *destinations, int destination_count, const std::byte *partial, const Remote *sources,
                  int source_count, std::uint64_t count, int /*op*/) {
        for (std::uint64_t i = 0; i < count; ++i) {
            T sum = partial == nullptr ? 0 : reinterpret_cast<const T *>(partial)[i];
            for (int of = 0; of < source_count; ++of) sum += reinterpret_cast<const T *>(sources[of])[i];
            for (int to = 0; to < destination_count; ++to) reinterpret_cast<T *>(destinations[to])[i] = sum;
        }
    }

    void order_here() {}

    void signal_all(std::uint64_t step) { post_all(0, step); }
    void signal(int peer, std::uint64_t step) { post(0, peer, step); }
    bool wait_all(std::uint64_t step) { return wait_for(0, step); }
    bool wait(int peer, std::uint64_t step) { return poll(0, peer, step); }
    void credit_all(std::uint64_t step) { post_all(1, step); }
    void credit(int peer, std::uint64_t step) { post(1, peer, step); }
    bool wait_credits(std::uint64_t step) { return wait_for(1, step); }
    bool wait_credit(int peer, std::uint64_t step) { return poll(1, peer, step); }

    void verify_arrivals() {}
    /// Passes everything at once: there is no ring.
    void pass_lines(const LinePass &pass) {
        if (pass.before == no_rank) {
            copy(pass.to, pass.from, pass.bytes);
        } else {
            const std::vector<std::byte> &came = lines_from(pass.before, false);
            EXPECT_EQ(came.size(), pass.bytes);
            copy(pass.to, came.data(), came.size());
        }
        if (pass.after != no_rank) put_lines(pass.after, false, pass.to, pass.bytes);
    }
    template <class PartOf>
    bool begin_with_lines(const Arrival & /*mine*/, int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        for (int index = 0; index < parts; ++index) {
            const LinePart part = part_of(index);
            EXPECT_LE(part.bytes, most_bytes);
            if (part.peer != rank_) put_lines(part.peer, part.behind > 0, part.from, part.bytes);
            if (part.to != nullptr) copy(part.to, part.from, part.bytes);
        }
        return true;
    }
    template <class PartOf>
    void take_lines(int parts, std::uint64_t most_bytes, const PartOf &part_of) {
        for (int index = 0; index < parts; ++index) {
            const LinePart part = part_of(index);
            EXPECT_LE(part.bytes, most_bytes);
            const std::vector<std::byte> &put = lines_from(part.peer, part.behind > 0);
            ASSERT_EQ(put.size(), part.bytes);
            copy(part.to, put.data(), part.bytes);
        }
    }
    void relay_lines(int from, std::byte *to, std::uint64_t bytes) {
        const std::vector<std::byte> &put = lines_from(from, false);
        ASSERT_EQ(put.size(), bytes);
        copy(to, put.data(), bytes);
        for (int step = 1; step < size(); ++step) {
            if (peer_at(step) != from) put_lines(peer_at(step), false, to, bytes);
        }
    }
    template <class T>
    void reduce_and_relay_lines(std::byte *destination, const std::byte *own, std::uint64_t count, int op,
                                std::uint64_t behind) {
        std::vector<Remote> inputs;
        for (int rank = 0; rank < size(); ++rank) {
            if (rank == rank_) {
                inputs.push_back(local(own));
                continue;
            }
            ASSERT_EQ(lines_from(rank, false).size(), count * sizeof(T));
            inputs.push_back(local(lines_from(rank, false).data()));
        }
        reduce<T>(&destination, 1, inputs.data(), count, op);
        for (int step = 1; step < size(); ++step) put_lines(peer_at(step), behind > 0, destination, count * sizeof(T));
    }

    std::uint64_t segment_bytes() const { return node_.segment_bytes; }
    Remote staging_at(int peer, int slot) const { return staging(peer, slot, rank_); }
    std::byte *staging_from(int peer, int slot) const { return staging(rank_, slot, peer); }
    Remote staging_of(int rank, int slot) const { return staging(rank, slot, rank); }
    std::uint64_t early_bytes(int places) const {
        return static_cast<std::uint64_t>(node_.channels) * early_place_bytes(node_.early_bytes, places);
    }
    Remote early_of(int rank) const {
        return node_.early_staging[static_cast<std::size_t>(rank)].data() +
               static_cast<std::uint64_t>(channel_) * node_.early_bytes;
    }

private:
    /// Null, and so an error where it is used, unless await_all() has found it.
    Remote found(const std::vector<std::byte *> &buffers, int peer) const {
        const auto at = static_cast<std::size_t>(peer);
        return at < found_.size() && found_[at] ? buffers[at] : nullptr;
    }
    std::byte *staging(int at, int slot, int from) const {
        return node_.staging[static_cast<std::size_t>(at)].data() +
               static_cast<std::uint64_t>(slot * node_.size + from) * node_.segment_bytes;
    }
    void put_lines(int peer, bool second, const std::byte *from, std::uint64_t bytes) {
        const std::size_t buffer = node_.line_buffer(peer, channel_, rank_, second);
        node_.lines[buffer].assign(from, from + bytes);
        node_.line_words[buffer].store(1, std::memory_order_release);
    }
    const std::vector<std::byte> &lines_from(int peer, bool second) {
        const std::size_t buffer = node_.line_buffer(rank_, channel_, peer, second);
        while (node_.line_words[buffer].load(std::memory_order_acquire) == 0) std::this_thread::yield();
        return node_.lines[buffer];
    }
    void post(int kind, int peer, std::uint64_t step) {
        node_.word(kind, peer, channel_, rank_).store(step, std::memory_order_release);
    }
    void post_all(int kind, std::uint64_t step) {
        for (int at = 1; at < size(); ++at) post(kind, peer_at(at), step);
    }
    bool poll(int kind, int peer, std::uint64_t step) {
        while (node_.word(kind, rank_, channel_, peer).load(std::memory_order_acquire) < step)
            std::this_thread::yield();
        return true;
    }
    bool wait_for(int kind, std::uint64_t step) {
        for (int at = 1; at < size(); ++at) poll(kind, peer_at(at), step);
        return true;
    }

    Node &node_;
    const int rank_;
    const int channel_;
    std::vector<bool> found_;  // by rank
};

/// Element `i` of what rank `rank` sends.
inline std::uint32_t element(int rank, std::size_t i) {
    return static_cast<std::uint32_t>(rank + 1) * 1000003u + static_cast<std::uint32_t>(i) * 7919u;
}
inline Vector input(int rank, std::size_t count) {
    Vector made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = element(rank, i);
    return made;
}
/// What each rank sends, by rank. outputs() makes room for the results.
inline std::vector<Vector> inputs(int ranks, std::size_t count) {
    std::vector<Vector> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(input(rank, count));
    return all;
}
inline std::vector<Vector> outputs(int ranks, std::size_t count) {
    return std::vector<Vector>(static_cast<std::size_t>(ranks), Vector(count, 0xdeadu));
}
inline std::uint32_t sum(int ranks, std::size_t i) {
    std::uint32_t all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += element(rank, i);
    return all;
}

/// What a rank passes to an algorithm; `chunk` elements.
inline CollectiveArgs args_of(const Node &node, int rank, std::size_t chunk, int root) {
    CollectiveArgs args;
    args.send = node.send[static_cast<std::size_t>(rank)];
    args.recv = node.recv[static_cast<std::size_t>(rank)];
    args.bytes = chunk * sizeof(std::uint32_t);
    args.root = root;
    return args;
}

/// Runs `body(engine, rank)` on every channel of every rank. send and recv may be the same.
template <class Body>
void run_channels(Node &node, std::vector<Vector> &send, std::vector<Vector> &recv, const Body &body) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < send.size(); ++rank) {
        node.send[rank] = reinterpret_cast<std::byte *>(send[rank].data());
        node.recv[rank] = reinterpret_cast<std::byte *>(recv[rank].data());
    }
    for (int rank = 0; rank < node.size; ++rank) {
        for (int channel = 0; channel < node.channels; ++channel) {
            threads.emplace_back([&, rank, channel] {
                ChannelEngine engine(node, rank, channel);
                body(engine, rank);
            });
        }
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace baton::core
