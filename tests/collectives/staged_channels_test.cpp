// The staged algorithms as kernels run them, by several channels: every channel of every rank is a thread, and nothing
// orders the channels of a rank among each other. The engine is a stand-in that knows sums of 32-bit integers.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "collectives/allgather/staged.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/alltoall/staged.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/reduce_scatter/staged.hpp"

namespace baton::core {
namespace {

using Vector = std::vector<std::uint32_t>;

/// What the engines of all ranks and channels share.
struct Node {
    Node(int the_size, int the_channels, std::uint64_t segment)
        : size(the_size), channels(the_channels), segment_bytes(segment) {
        const auto n = static_cast<std::size_t>(size);
        words = std::vector<std::atomic<std::uint64_t>>(2 * n * n * static_cast<std::size_t>(channels));
        staging.assign(n, std::vector<std::byte>(2 * n * segment));
    }
    std::atomic<std::uint64_t> &word(int kind, int at, int channel, int from) {
        return words[static_cast<std::size_t>(((kind * size + at) * channels + channel) * size + from)];
    }

    const int size;
    const int channels;
    const std::uint64_t segment_bytes;
    std::vector<std::atomic<std::uint64_t>> words;
    std::vector<std::vector<std::byte>> staging;
};

class ChannelEngine {
public:
    using Remote = std::byte *;

    ChannelEngine(Node &node, int rank, int channel) : node_(node), rank_(rank), channel_(channel) {}

    int rank() const { return rank_; }
    int size() const { return node_.size; }
    int peer_at(int step) const { return (rank_ + step) % node_.size; }
    Range share(std::uint64_t bytes, std::uint64_t granule) const {
        return split(bytes, granule, node_.channels, channel_);
    }
    static Remote local(const std::byte *pointer) { return const_cast<std::byte *>(pointer); }
    bool begin(const Arrival & /*mine*/) { return true; }
    bool await_all() { return true; }
    bool finish() { return true; }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        if (bytes > 0 && destination != source) std::memcpy(destination, source, bytes);
    }
    template <class T>
    void reduce(const Remote *destinations, int /*count*/, const Remote *sources, std::uint64_t count, int /*op*/) {
        for (std::uint64_t i = 0; i < count; ++i) {
            T sum = 0;
            for (int of = 0; of < size(); ++of) sum += reinterpret_cast<const T *>(sources[of])[i];
            reinterpret_cast<T *>(destinations[0])[i] = sum;
        }
    }

    void signal_all(std::uint64_t step) { post(0, step); }
    bool wait_all(std::uint64_t step) { return wait_for(0, step); }
    bool wait(int peer, std::uint64_t step) { return poll(0, peer, step); }
    void credit_all(std::uint64_t step) { post(1, step); }
    bool wait_credits(std::uint64_t step) { return wait_for(1, step); }

    std::uint64_t segment_bytes() const { return node_.segment_bytes; }
    Remote staging_at(int peer, int slot) const { return staging(peer, slot, rank_); }
    std::byte *staging_from(int peer, int slot) const { return staging(rank_, slot, peer); }

private:
    std::byte *staging(int at, int slot, int from) const {
        return node_.staging[static_cast<std::size_t>(at)].data() +
               static_cast<std::uint64_t>(slot * node_.size + from) * node_.segment_bytes;
    }
    void post(int kind, std::uint64_t step) {
        for (int at = 1; at < size(); ++at)
            node_.word(kind, peer_at(at), channel_, rank_).store(step, std::memory_order_release);
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
};

/// Element `i` of what rank `rank` sends.
std::uint32_t element(int rank, std::size_t i) {
    return static_cast<std::uint32_t>(rank + 1) * 1000003u + static_cast<std::uint32_t>(i) * 7919u;
}
Vector input(int rank, std::size_t count) {
    Vector made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = element(rank, i);
    return made;
}
std::uint32_t sum(int ranks, std::size_t i) {
    std::uint32_t all = 0;
    for (int rank = 0; rank < ranks; ++rank) all += element(rank, i);
    return all;
}

struct Shape {
    int ranks;
    int channels;
    std::uint64_t segment;
    std::size_t count;
};

class StagedChannels : public ::testing::TestWithParam<Shape> {
protected:
    /// Runs `body(engine, args)` on every channel of every rank; `chunk` elements. send and recv may be the same.
    template <class Body>
    void run(std::vector<Vector> &send, std::vector<Vector> &recv, std::size_t chunk, int root, const Body &body) {
        Node node(shape().ranks, shape().channels, shape().segment);
        std::vector<std::thread> threads;
        for (int rank = 0; rank < shape().ranks; ++rank) {
            for (int channel = 0; channel < shape().channels; ++channel) {
                threads.emplace_back([&, rank, channel] {
                    const auto index = static_cast<std::size_t>(rank);
                    CollectiveArgs args;
                    args.send = reinterpret_cast<const std::byte *>(send[index].data());
                    args.recv = reinterpret_cast<std::byte *>(recv[index].data());
                    args.chunk = chunk * sizeof(std::uint32_t);
                    args.root = root;
                    ChannelEngine engine(node, rank, channel);
                    body(engine, args);
                });
            }
        }
        for (std::thread &thread : threads) thread.join();
    }
    const Shape &shape() const { return GetParam(); }
    std::size_t ranks() const { return static_cast<std::size_t>(shape().ranks); }
    std::vector<Vector> inputs(std::size_t count) const {
        std::vector<Vector> all;
        for (int rank = 0; rank < shape().ranks; ++rank) all.push_back(input(rank, count));
        return all;
    }
    std::vector<Vector> outputs(std::size_t count) const {
        return std::vector<Vector>(ranks(), Vector(count, 0xdeadu));
    }
};

TEST_P(StagedChannels, Allgather) {
    const std::size_t count = shape().count;
    std::vector<Vector> send = inputs(count), recv = outputs(count * ranks());
    run(send, recv, count, 0, [](auto &engine, const CollectiveArgs &args) { allgather_staged(engine, args); });
    Vector expected;
    for (const Vector &part : send) expected.insert(expected.end(), part.begin(), part.end());
    for (const Vector &found : recv) EXPECT_EQ(found, expected);
}

TEST_P(StagedChannels, Alltoall) {
    const std::size_t count = shape().count;
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(count * ranks()), recv = outputs(count * ranks());
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, count, 0, [](auto &engine, const CollectiveArgs &args) { alltoall_staged(engine, args); });
        for (std::size_t to = 0; to < ranks(); ++to) {
            Vector expected;
            for (int from = 0; from < shape().ranks; ++from) {
                for (std::size_t i = 0; i < count; ++i) expected.push_back(element(from, to * count + i));
            }
            EXPECT_EQ(target[to], expected) << "in place " << in_place;
        }
    }
}

TEST_P(StagedChannels, Broadcast) {
    const int root = shape().ranks - 1;
    std::vector<Vector> send = inputs(shape().count), recv = outputs(shape().count);
    run(send, recv, shape().count, root,
        [](auto &engine, const CollectiveArgs &args) { BroadcastStaged<ChannelEngine>(engine, args).run(); });
    for (const Vector &found : recv) EXPECT_EQ(found, send[static_cast<std::size_t>(root)]);
}

TEST_P(StagedChannels, ReduceScatter) {
    const std::size_t count = shape().count;
    std::vector<Vector> send = inputs(count * ranks()), recv = outputs(count);
    run(send, recv, count, 0,
        [](auto &engine, const CollectiveArgs &args) { reduce_scatter_staged<std::uint32_t>(engine, args); });
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(recv[rank][i], sum(shape().ranks, rank * count + i));
    }
}

TEST_P(StagedChannels, Allreduce) {
    const std::size_t count = shape().count;
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(count), recv = outputs(count);
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, count, 0, [](auto &engine, const CollectiveArgs &args) {
            AllreduceStaged<ChannelEngine>(engine, args).template run<std::uint32_t>();
        });
        for (const Vector &found : target) {
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(found[i], sum(shape().ranks, i)) << "in place " << in_place;
        }
    }
}

std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const int ranks : {1, 2, 3, 4}) {
        for (const std::size_t count : {0, 1, 33, 1000, 5003}) {
            all.push_back({ranks, 3, 1024, count});
            all.push_back({ranks, 5, 256, count});  // more channels than a segment has parts for
        }
    }
    return all;
}

std::string name_of(const ::testing::TestParamInfo<Shape> &one) {
    return std::to_string(one.param.ranks) + "_ranks_" + std::to_string(one.param.channels) + "_channels_" +
           std::to_string(one.param.count) + "_elements";
}

INSTANTIATE_TEST_SUITE_P(Shapes, StagedChannels, ::testing::ValuesIn(shapes()), name_of);

}  // namespace
}  // namespace baton::core
