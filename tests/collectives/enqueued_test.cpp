// Algorithms as copy engines run them: what they enqueue happens later, with no more order than transport.hpp promises
// ("What an engine leaves out"). Some ranks are such engines, the others kernels with several channels. Reductions that
// kernels combine are in tests/emulation/pushes_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "channel_engine.hpp"
#include "collectives/allgather/push.hpp"
#include "collectives/alltoall/push.hpp"
#include "collectives/broadcast/push.hpp"
#include "collectives/reduce_scatter/staged.hpp"
#include "support/seed.hpp"

namespace baton::core {
namespace {

/// Work that runs in order, with random delays.
class Line {
public:
    void add(std::function<void()> work) { work_.push_back(std::move(work)); }
    /// Work that is added from now on runs after the work that `other` has now.
    void follow(Line &other) {
        const auto done = std::make_shared<std::atomic<bool>>(false);
        other.add([done] { done->store(true, std::memory_order_release); });
        add([done] {
            while (!done->load(std::memory_order_acquire)) std::this_thread::yield();
        });
    }
    void run(std::uint64_t seed) const {
        std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
        for (const auto &work : work_) {
            for (auto turns = random() % 4 == 0 ? random() % 60 : 0; turns > 0; --turns) std::this_thread::yield();
            work();
        }
    }

private:
    std::vector<std::function<void()>> work_;
};

/// An engine with two lines of work: the caller's stream, and what goes to and comes from peers.
class EnqueuingEngine : public ChannelEngine {
public:
    EnqueuingEngine(Node &node, int rank, std::uint64_t seed)
        : ChannelEngine(node, rank, 0), node_(node), random_(static_cast<unsigned>(seed % 2147483646 + 1)) {}

    // A copy engine has none of these.
    Remote early_of(int rank) const = delete;
    void copy_from(std::byte *destination, Remote source, std::uint64_t bytes) = delete;
    void order_here() = delete;
    int spread_peer_at(int step) const { return peer_at(step); }
    Range share(std::uint64_t bytes, std::uint64_t /*granule*/) const { return {0, bytes}; }
    void copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
        copies_.push_back([=, this] { ChannelEngine::copy(destination, source, bytes); });
    }
    void copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        own_.push_back([=, this] { ChannelEngine::copy(destination, source, bytes); });
    }
    template <class T>
    void reduce(const Remote *destinations, int /*destination_count*/, const Remote *sources, std::uint64_t count,
                int op) {
        const std::vector<Remote> from(sources, sources + size());
        stream_.add([=, this, to = destinations[0]] { ChannelEngine::reduce<T>(&to, 1, from.data(), count, op); });
    }
    void signal_all(std::uint64_t step) {
        start_copies();
        pushes_.add([=, this] { post_to_all(0, step); });
        copy_what_is_kept();
    }
    bool wait(int peer, std::uint64_t step) {
        start_copies();
        stream_.add([=, this] { await(0, peer, step); });
        pushes_.follow(stream_);
        return true;
    }
    bool wait_all(std::uint64_t step) {
        stream_.add([=, this] { await_peers(0, step); });
        return true;
    }
    void credit_all(std::uint64_t step) {
        stream_.add([=, this] { post_to_all(1, step); });
    }
    bool wait_credits(std::uint64_t step) {
        pushes_.add([=, this] { await_peers(1, step); });
        return true;
    }
    bool finish() {
        copy_what_is_kept();
        stream_.follow(pushes_);
        return true;
    }

    /// Runs what has been enqueued.
    void run() {
        std::thread beside([this, seed = random_()] { pushes_.run(seed); });
        stream_.run(random_());
        beside.join();
    }

private:
    void start_copies() {
        std::shuffle(copies_.begin(), copies_.end(), random_);
        for (auto &one : copies_) pushes_.add(std::move(one));
        copies_.clear();
    }
    void copy_what_is_kept() {
        for (auto &one : own_) stream_.add(std::move(one));
        own_.clear();
    }
    // For all channels.
    void post_to_all(int kind, std::uint64_t step) {
        for (int channel = 0; channel < node_.channels; ++channel) {
            for (int at = 1; at < size(); ++at)
                node_.word(kind, peer_at(at), channel, rank()).store(step, std::memory_order_release);
        }
    }
    void await(int kind, int peer, std::uint64_t step) {
        for (int channel = 0; channel < node_.channels; ++channel) {
            while (node_.word(kind, rank(), channel, peer).load(std::memory_order_acquire) < step)
                std::this_thread::yield();
        }
    }
    void await_peers(int kind, std::uint64_t step) {
        for (int at = 1; at < size(); ++at) await(kind, peer_at(at), step);
    }

    Node &node_;
    std::minstd_rand random_;
    Line stream_, pushes_;
    std::vector<std::function<void()>> copies_, own_;
};

struct Shape {
    int ranks;
    std::size_t count;
    unsigned enqueue;  // bit by rank; the others are kernels
};

std::string text(const Shape &shape) {
    return std::to_string(shape.ranks) + "_ranks_" + std::to_string(shape.count) + "_elements_" +
           std::to_string(shape.enqueue) + "_enqueue";
}
void PrintTo(const Shape &shape, std::ostream *out) { *out << text(shape); }

class Enqueued : public ::testing::TestWithParam<Shape> {
protected:
    static constexpr int channels = 2;

    const Shape &shape() const { return GetParam(); }
    std::size_t ranks() const { return static_cast<std::size_t>(shape().ranks); }

    /// Runs `body(engine, args)` on every engine of every rank. On ranks that enqueue, runs what they have enqueued and
    /// then `after(rank)`. send and recv may be the same.
    template <class Body>
    void run(
        std::vector<Vector> &send, std::vector<Vector> &recv, const Body &body,
        const std::function<void(std::size_t)> &after = [](std::size_t) {}) {
        Node node(shape().ranks, channels, shape().count < 10000 ? 1024 : 256 * 1024, 512);
        run_channels(node, send, recv, [&](ChannelEngine &channel, int rank) {
            const CollectiveArgs args = args_of(node, rank, shape().count, 0);
            if ((shape().enqueue >> rank & 1) == 0) return body(channel, args);
            if (channel.share(1, 1).bytes == 0) return;  // one engine stands for all channels
            EnqueuingEngine engine(node, rank, seed_ + static_cast<std::uint64_t>(rank));
            body(engine, args);
            engine.run();
            after(static_cast<std::size_t>(rank));
        });
    }

    const std::uint64_t seed_ = test::draw_seed();
};

TEST_P(Enqueued, Allgather) {
    std::vector<Vector> send = inputs(shape().ranks, shape().count),
                        recv = outputs(shape().ranks, shape().count * ranks());
    run(send, recv, [](auto &engine, const CollectiveArgs &args) { allgather_push(engine, args); });
    Vector expected;
    for (const Vector &part : send) expected.insert(expected.end(), part.begin(), part.end());
    for (const Vector &found : recv) EXPECT_TRUE(found == expected);
}

TEST_P(Enqueued, Alltoall) {
    const std::size_t count = shape().count;
    std::vector<Vector> send = inputs(shape().ranks, count * ranks()), recv = outputs(shape().ranks, count * ranks());
    run(send, recv, [](auto &engine, const CollectiveArgs &args) { alltoall_push(engine, args); });
    for (std::size_t to = 0; to < ranks(); ++to) {
        for (std::size_t from = 0; from < ranks(); ++from) {
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(recv[to][from * count + i], element(static_cast<int>(from), to * count + i));
        }
    }
}

TEST_P(Enqueued, Broadcast) {
    std::vector<Vector> send = inputs(shape().ranks, shape().count), recv = outputs(shape().ranks, shape().count);
    run(send, recv, [](auto &engine, const CollectiveArgs &args) { BroadcastPush(engine, args).run(); });
    for (const Vector &found : recv) EXPECT_TRUE(found == send[0]);
}

TEST_P(Enqueued, ReduceScatter) {
    const std::size_t count = shape().count;
    std::vector<Vector> send = inputs(shape().ranks, count * ranks()), recv = outputs(shape().ranks, count);
    run(
        send, recv,
        [](auto &engine, CollectiveArgs args) {
            args.beside_copy_engines = true;
            reduce_scatter_staged<std::uint32_t>(engine, args);
        },
        [&](std::size_t rank) { std::fill(send[rank].begin(), send[rank].end(), 0xDBDBDBDB); });  // send is free
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(recv[rank][i], sum(shape().ranks, rank * count + i));
    }
}

std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const std::size_t count : {0, 257, 5003}) {
        all.push_back({1, count, 1});
        all.push_back({2, count, 3});
        all.push_back({4, count, 0xF});
        all.push_back({4, count, 5});
    }
    all.push_back({4, 300007, 7});  // relayed
    return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Enqueued, ::testing::ValuesIn(shapes()),
                         [](const auto &one) { return text(one.param); });

}  // namespace
}  // namespace baton::core
