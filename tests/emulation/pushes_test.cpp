// Reductions whose inputs copy engines push: what GpuPushes enqueues, with memcpy for the copies, beside the kernels'
// own source on threads of the host. Some ranks push, others have a kernel do everything, and some calls are in place.
#include "emulation/cuda.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <thread>

#include "collectives/expected.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/push_inputs.hpp"
#include "emulation/node.hpp"
#include "support/seed.hpp"
#include "sync/pushed_word.hpp"

namespace baton::emulation {
namespace {

using core::CollectiveArgs;
using core::CommView;
using core::PeerBuffers;

constexpr unsigned threads = 64;

/// The same for all ranks, except what each does with it.
struct Round {
    bool is_allreduce = true;  // or reduce_scatter
    std::size_t count = 0;     // as the caller's: of the vector, or of a rank's block
    int channels = 1;
    unsigned by_kernel = 0;  // bits by rank: nobody has told the rank where the buffers are
    unsigned in_place = 0;
    std::uint64_t seed = 0;

    std::size_t bytes() const { return count * sizeof(float); }
    core::PushedInputs inputs(int ranks) const { return {is_allreduce, bytes(), ranks}; }
    std::string text() const {
        return fmt::format("{} of {}, {} channels, kernels alone {:b}, in place {:b}",
                           is_allreduce ? "allreduce" : "reduce_scatter", count, channels, by_kernel, in_place);
    }
};

void combine_kernel(bool is_allreduce, const CommView &view, const CollectiveArgs &args) {
    if (is_allreduce) {
        core::collective_kernel<BATON_ALLREDUCE, core::Algorithm::push, float>(view, args);
    } else {
        core::collective_kernel<BATON_REDUCE_SCATTER, core::Algorithm::push, float>(view, args);
    }
}

/// What launch_sync() does on a GPU.
void begin_kernel(const CommView &view, const core::Arrival &mine) {
    core::wait_for_kernel_before();
    __shared__ core::KernelShared shared;
    core::KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    if (engine.begin(mine)) engine.await_all([](int) { return false; });
}
void end_kernel(const CommView &view, const core::Arrival &mine) {
    core::wait_for_kernel_before();
    __shared__ core::KernelShared shared;
    core::KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    if (!engine.attach(mine)) return;
    engine.signal_all(1);
    if (engine.wait_all(1)) engine.finish();
}

/// The queue of push_inputs.hpp. Kernels run when they are enqueued. What is pushed runs beside the kernel that
/// combines.
class Queue {
public:
    Queue(const CommView &view, const Round &round, std::uint32_t &pushes)
        : view_(view),
          round_(round),
          pushes_(pushes),
          random_(static_cast<unsigned>((round.seed + static_cast<std::uint64_t>(view.rank)) % 2147483646 + 1)) {}

    std::uint32_t next_number() { return pushes_ = core::number_after(pushes_); }
    void begin(const core::Arrival &arrival) {
        run([&] { begin_kernel(view_, arrival); });
    }
    void copy(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        copies_.push_back([=] {
            if (bytes > 0) std::memcpy(destination, source, bytes);
        });
    }
    void tell(int peer, std::uint32_t pieces) {
        std::uint64_t *const word = view_.arena(peer).pushed(view_.rank);
        words_.push_back([word, value = core::pushed_word(pushes_, pieces)] { core::store_release(word, value); });
    }
    void push() {
        std::shuffle(copies_.begin(), copies_.end(), random_);
        for (auto *const list : {&copies_, &words_}) {
            pushed_.insert(pushed_.end(), list->begin(), list->end());
            list->clear();
        }
    }
    void combine(const CollectiveArgs &args) {
        std::thread beside([work = std::move(pushed_), random = random_]() mutable {
            for (const auto &one : work) {
                for (auto turns = random() % 4 == 0 ? random() % 60 : 0; turns > 0; --turns) std::this_thread::yield();
                one();
            }
        });
        run([&] { combine_kernel(round_.is_allreduce, view_, args); });
        beside.join();
    }
    void after_pushes() {}
    void copy_results() {
        for (const auto &one : copies_) one();
        copies_.clear();
    }
    void end(const core::Arrival &arrival) {
        run([&] { end_kernel(view_, arrival); });
    }

private:
    void run(const std::function<void()> &kernel) {
        run_grid(static_cast<unsigned>(round_.channels), threads, random_(), kernel);
    }

    const CommView &view_;
    const Round &round_;
    std::uint32_t &pushes_;
    std::minstd_rand random_;
    std::vector<std::function<void()>> copies_, words_, pushed_;
};

class EmulatedPushes : public testing::TestWithParam<int> {
protected:
    static constexpr std::size_t guard = 64;
    static constexpr std::size_t area = (20 << 20) + guard;  // of a rank's send and of its recv

    int size() const { return GetParam(); }
    static bool has(unsigned bits, int rank) { return (bits >> rank & 1) != 0; }

    static Node::Settings settings() {
        Node::Settings settings;
        settings.memory_bytes = 2 * area;
        settings.channels = 4;
        settings.limits = {.packets = 64, .segment = 1024};
        return settings;
    }
    Round draw_round() {
        Round round;
        const std::size_t counts[] = {0, 1, 63, 1024, 5003, 70001, 300007};
        round.is_allreduce = size() != 2 || random_() % 2 == 0;
        round.count = counts[random_() % std::size(counts)];
        round.channels = 1 + static_cast<int>(random_() % 4);
        const auto some = [&] { return static_cast<unsigned>(random_() % 3 == 0 ? random_() : 0); };
        round.by_kernel = some();
        // An in-place reduce_scatter makes its result elsewhere.
        round.in_place = round.is_allreduce ? some() : 0;
        round.seed = random_();
        return round;
    }
    void run(const CommView &view, const Round &round, std::uint32_t &pushes);

    std::uint64_t seed_ = test::draw_seed();
    std::mt19937_64 random_{seed_};
    Node node_{size(), settings()};
};

void EmulatedPushes::run(const CommView &view, const Round &round, std::uint32_t &pushes) {
    const core::PushedInputs inputs = round.inputs(view.size);
    const auto send_of = [&](int rank) { return node_.memory(rank) + (has(round.in_place, rank) ? area : 0); };
    const auto recv_of = [&](int rank) { return node_.memory(rank) + area; };
    const test::Buffers sent = test::all_patterns(round.seed, view.size, inputs.send_bytes());
    const auto mine = static_cast<std::size_t>(view.rank);
    std::byte *const recv = recv_of(view.rank);
    std::fill_n(recv, round.bytes() + guard, std::byte{0xEE});
    std::ranges::copy(sent[mine], send_of(view.rank));

    CollectiveArgs args;
    const baton_operation operation = round.is_allreduce ? BATON_ALLREDUCE : BATON_REDUCE_SCATTER;
    args.arrival = {core::Signature::make(operation, BATON_FLOAT32, BATON_SUM, round.count),
                    node_.name(view.rank, send_of(view.rank)), node_.name(view.rank, recv)};
    args.send = send_of(view.rank);
    args.recv = recv;
    args.bytes = round.bytes();
    args.op = BATON_SUM;
    Queue queue(view, round, pushes);
    if (has(round.by_kernel, view.rank)) {
        queue.combine(args);
    } else {
        std::vector<PeerBuffers> peers(static_cast<std::size_t>(view.size));
        for (int peer = 0; peer < view.size; ++peer) {
            if (peer != view.rank) peers[static_cast<std::size_t>(peer)] = {send_of(peer), recv_of(peer)};
        }
        core::enqueue_pushed(queue, inputs, args, peers, view.rank);
    }
    const std::vector<std::byte> sums =
        test::expected_reduction(sent, inputs.send_bytes() / sizeof(float), BATON_FLOAT32, BATON_SUM);
    const std::size_t from = round.is_allreduce ? 0 : mine * round.bytes();
    const auto first = sums.begin() + static_cast<std::ptrdiff_t>(from);
    const std::vector<std::byte> expected(first, first + static_cast<std::ptrdiff_t>(round.bytes()));
    EXPECT_TRUE(test::equal_bytes(expected, {recv, expected.size()})) << "rank " << view.rank << ": " << round.text();
    EXPECT_TRUE(has(round.in_place, view.rank) || test::equal_bytes(sent[mine], {args.send, sent[mine].size()}))
        << "rank " << view.rank << ": " << round.text() << ": the input";
    EXPECT_TRUE(std::all_of(recv + expected.size(), recv + expected.size() + guard,
                            [](std::byte byte) { return byte == std::byte{0xEE}; }))
        << "rank " << view.rank << ": " << round.text() << ": behind what is received";
}

TEST_P(EmulatedPushes, GiveWhatMpiGives) {
    std::vector<Round> rounds(std::getenv("BATON_TEST_QUICK") != nullptr ? 12 : 100);
    std::ranges::generate(rounds, [&] { return draw_round(); });
    node_.with_ranks([&](const CommView &view) {
        std::uint32_t pushes = core::most_pushes - 3;  // near the end, so that numbers come round
        for (const Round &round : rounds) {
            if (HasFailure()) return node_.abort();
            run(view, round, pushes);
        }
    });
    EXPECT_TRUE(node_.errors().empty());
}

/// With 2 ranks there are several pieces; with 4 ranks blocks get a long one (LongPartEngine).
class EmulatedLongPushes : public EmulatedPushes {};
TEST_P(EmulatedLongPushes, ComeInPieces) {
    std::vector<Round> rounds;
    for (const bool is_allreduce : {true, false}) {
        if (!is_allreduce && size() != 2) continue;
        const std::size_t part = size() == 2 ? 10 << 20 : 2 << 20;
        Round round;
        round.is_allreduce = is_allreduce;
        round.count = (is_allreduce ? static_cast<std::size_t>(size()) : 1) * part / sizeof(float) - 3;
        round.channels = 2;
        round.seed = random_();
        ASSERT_LE(static_cast<std::size_t>(size()) * part + guard, area);
        core::HeadAndPieces pieces(round.inputs(size()).part_of(0).bytes, size());
        pieces.next();
        if (size() == 2) {
            EXPECT_LT(pieces.range().bytes, part / 2) << "there are others";
        } else {
            EXPECT_GT(pieces.range().bytes / static_cast<std::size_t>(round.channels), 16 * core::long_words);
        }
        rounds.push_back(round);
    }
    node_.with_ranks([&](const CommView &view) {
        std::uint32_t pushes = 0;
        for (const Round &round : rounds) run(view, round, pushes);
    });
    EXPECT_TRUE(node_.errors().empty());
}

/// One rank's kernel stores the results itself, from channel to channel, while what it combines is still being pushed:
/// so its blocks have to store what they have combined themselves. The others wait for it at their ends.
class EmulatedPushesToAKernel : public EmulatedPushes {};
TEST_P(EmulatedPushesToAKernel, AreStoredByWhoHasCombinedThem) {
    std::vector<Round> rounds;
    for (int rank = 0; rank < size(); ++rank) {
        for (const unsigned in_place : {0U, 1U << (rank + 1) % size()}) {
            Round round;
            round.count = 70001;
            round.channels = 4;
            round.by_kernel = 1U << rank;
            round.in_place = in_place;
            round.seed = random_();
            rounds.push_back(round);
        }
    }
    node_.with_ranks([&](const CommView &view) {
        std::uint32_t pushes = 0;
        for (const Round &round : rounds) {
            if (HasFailure()) return node_.abort();
            run(view, round, pushes);
        }
    });
    EXPECT_TRUE(node_.errors().empty());
}

/// A peer says that it pushes, and does not: the wait ends by the deadline, and names it. All have met before, however
/// slow the machine is.
TEST_P(EmulatedPushes, ThatDoNotComeAreMissed) {
    const auto args_of = [&](const CommView &view) {
        CollectiveArgs args;
        args.send = node_.memory(view.rank);
        args.recv = node_.memory(view.rank) + area;
        args.bytes = 16384;
        args.arrival = {core::Signature::make(BATON_ALLREDUCE, BATON_FLOAT32, BATON_SUM, 4096),
                        node_.name(view.rank, args.send), node_.name(view.rank, args.recv)};
        args.arrival.push_number = view.rank == 1 ? 7 : 0;
        args.begun_before = true;
        return args;
    };
    const auto run_on = [&](const CommView &view, const std::function<void()> &kernel) {
        run_grid(1, threads, seed_ + static_cast<std::uint64_t>(view.rank), kernel);
    };
    node_.with_ranks([&](const CommView &view) { run_on(view, [&] { begin_kernel(view, args_of(view).arrival); }); });
    ASSERT_TRUE(node_.errors().empty());
    node_.with_ranks([&](const CommView &view) {
        if (view.rank == 1) return;
        CommView impatient = view;
        impatient.timeout_ns = 100'000'000;
        run_on(view, [&] { combine_kernel(true, impatient, args_of(view)); });
    });
    const std::vector<core::ErrorRecord> errors = node_.errors();
    ASSERT_FALSE(errors.empty());
    for (const core::ErrorRecord &error : errors) {
        EXPECT_EQ(error.code, static_cast<std::uint64_t>(BATON_ERR_TIMEOUT));
        EXPECT_EQ(error.point.wait_for, core::WaitFor::data);
        EXPECT_EQ(error.point.peer, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedLongPushes, testing::Values(2, 4), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedPushesToAKernel, testing::Values(3, 4), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Ranks, EmulatedPushes, testing::Values(2, 3, 4), testing::PrintToStringParamName());

TEST(HeadAndPieces, AreAllOfAPartOnce) {
    for (const std::uint64_t bytes : {0ULL, 1ULL, 127ULL, 1024ULL, 4097ULL, (64ULL << 20) + 12, (3ULL << 30) + 4}) {
        for (const int ranks : {2, 3, 8}) {
            SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(ranks) + " ranks");
            std::uint64_t next = 0;
            std::uint32_t number = 0;
            for (core::HeadAndPieces pieces(bytes, ranks); pieces.more(); pieces.next()) {
                EXPECT_EQ(pieces.number(), number++);
                EXPECT_EQ(pieces.range().begin, next);
                EXPECT_TRUE(pieces.number() == 0 || pieces.range().bytes > 0);
                next += pieces.range().bytes;
            }
            EXPECT_EQ(next, bytes);
            EXPECT_LT(number, 20U);
        }
    }
}

TEST(MayPush, OnlyWhereAllPeersHaveRoomApartFromTheirInput) {
    std::vector<std::byte> memory(1 << 16);
    const auto peers = [&](std::size_t send, std::size_t recv) {
        return std::vector<PeerBuffers>{{}, {memory.data() + send, memory.data() + recv}};
    };
    const core::PushedInputs vectors(true, 4096, 2), blocks(false, 4096, 2);
    EXPECT_TRUE(core::may_push(vectors, peers(0, 4096), 0));
    EXPECT_FALSE(core::may_push(vectors, peers(0, 0), 0)) << "in place";
    EXPECT_FALSE(core::may_push(vectors, peers(0, 4095), 0));
    EXPECT_TRUE(core::may_push(blocks, peers(0, 8192), 0));
    EXPECT_FALSE(core::may_push(blocks, peers(0, 8191), 0));
    EXPECT_FALSE(core::may_push(vectors, {PeerBuffers{}, PeerBuffers{}}, 0)) << "nobody knows where they are";
    EXPECT_FALSE(core::may_push(core::PushedInputs(false, 16, 3), std::vector<PeerBuffers>(3), 0)) << "more ranks";
    // Parts of 16 bytes, the last of 1 to 16: none has a head.
    const core::PushedInputs ragged(true, 17, 2);
    EXPECT_FALSE(core::may_push(ragged, peers(0, 4096), 0)) << "the last part is shorter";
}

}  // namespace
}  // namespace baton::emulation
