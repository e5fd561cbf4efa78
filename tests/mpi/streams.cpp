// Streams: calls of one stream run in order, calls of several streams on one communicator run in issue order, and NULL
// waits for what was issued before. What streams' threads calculate does not depend on who made them, or who calls.
#include <cfenv>
#include <cstring>
#include <limits>
#include <optional>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "collective_case.hpp"

namespace baton::test {
namespace {

class Streams : public CommTest {};

/// Each step overwrites its input: any other order gives other bits.
TEST_F(Streams, StepsOfOneStreamRunInOrder) {
    constexpr std::size_t count = 3000;
    Buffer a(comm(), count * 8), b(comm(), count * 8);
    a.upload(make_input(BATON_UINT64, BATON_SUM, environment().seed, rank(), count));
    Stream stream(comm(), Stream::Kind::own);
    Bytes model = reduce_inputs(BATON_UINT64, BATON_SUM, environment().seed, size(), count);
    ASSERT_OK(baton_allreduce(a.data(), b.data(), count, BATON_UINT64, BATON_SUM, comm(), stream));
    for (int step = 0; step < 20; ++step) {
        const baton_op op = step % 2 == 0 ? BATON_SUM : BATON_PROD;
        ASSERT_OK(baton_allreduce(b.data(), a.data(), count, BATON_UINT64, op, comm(), stream));
        ASSERT_OK(baton_allreduce(a.data(), b.data(), count, BATON_UINT64, BATON_MAX, comm(), stream));
        const std::vector<std::span<const std::byte>> same(static_cast<std::size_t>(size()), model);
        model = reduce(BATON_UINT64, op, same);
    }
    stream.synchronize();
    EXPECT_TRUE(same_bytes(model, b.download(), BATON_UINT64));
}

/// Dependent calls hop between streams of one communicator without any synchronisation of the caller.
TEST_F(Streams, IssueOrderHoldsAcrossStreams) {
    constexpr std::size_t count = 5000;
    Stream null(comm(), Stream::Kind::null), first(comm(), Stream::Kind::own), second(comm(), Stream::Kind::own);
    Stream *streams[] = {&null, &first, &second};
    Buffer a(comm(), count * 4), b(comm(), count * 4);
    a.upload(make_input(BATON_UINT32, BATON_SUM, 3, rank(), count));
    Bytes model = reduce_inputs(BATON_UINT32, BATON_SUM, 3, size(), count);
    ASSERT_OK(baton_allreduce(BATON_IN_PLACE, a.data(), count, BATON_UINT32, BATON_SUM, comm(), first));
    Random random(environment().seed + static_cast<std::uint64_t>(rank()));  // every rank hops its own way
    for (int step = 0; step < 60; ++step) {
        Stream &stream = *streams[random.below(3)];
        Buffer &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
        ASSERT_OK(baton_allreduce(from.data(), to.data(), count, BATON_UINT32, BATON_SUM, comm(), stream));
        const std::vector<std::span<const std::byte>> same(static_cast<std::size_t>(size()), model);
        model = reduce(BATON_UINT32, BATON_SUM, same);
    }
    for (Stream *stream : streams) stream->synchronize();
    EXPECT_TRUE(same_bytes(model, a.download(), BATON_UINT32));
}

/// NULL on the host is done on return, and so is what was queued before it, since a communicator runs in issue order.
TEST_F(Streams, NullIsDoneOnReturn) {
    if (on_gpu()) GTEST_SKIP() << "NULL is the default stream of a GPU, which the caller synchronises";
    Stream queue(comm(), Stream::Kind::own);
    for (int i = 0; i < 10; ++i) {
        CollectiveRun queued({.operation = BATON_ALLGATHER, .count = 20000, .seed = 1u + static_cast<unsigned>(i)},
                             comm());
        CollectiveRun now({.operation = BATON_ALLREDUCE, .count = 777, .seed = 100u + static_cast<unsigned>(i)},
                          comm());
        queued.start(queue);
        now.start(nullptr);
        now.verify();
        queued.verify();
        queue.synchronize();
    }
}

TEST_F(Streams, ManyStreams) {
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<std::unique_ptr<CollectiveRun>> runs;
    for (int i = 0; i < 12; ++i) streams.push_back(std::make_unique<Stream>(comm(), Stream::Kind::own));
    for (int i = 0; i < 36; ++i) {
        const CollectiveCase c{.operation = static_cast<baton_operation>(i % 3),
                               .count = 100u + 331u * static_cast<unsigned>(i),
                               .seed = static_cast<std::uint64_t>(i)};
        runs.push_back(std::make_unique<CollectiveRun>(c, comm()));
        runs.back()->start(*streams[static_cast<std::size_t>(i) % streams.size()]);
        ASSERT_FALSE(HasFatalFailure());
    }
    for (auto &stream : streams) stream->synchronize();
    for (auto &run : runs) run->verify();
}

/// The last rank makes its call when the others, whose calls wait for it, have got memory that all ranks have mapped.
TEST_F(Streams, MemoryIsAllocatedWhileACallWaits) {
    CollectiveRun run({.operation = BATON_ALLREDUCE, .count = 30000, .seed = 21}, comm());
    Stream stream(comm(), Stream::Kind::own);
    const bool late = rank() == size() - 1;
    void *memory = nullptr;
    if (!late) run.start(stream);
    EXPECT_OK(baton_malloc(comm(), 3000000, &memory));
    barrier();
    if (late) run.start(stream);
    stream.synchronize();
    run.verify();
    EXPECT_OK(baton_free(comm(), memory));
}

/// Streams come and go while their communicator stays; destroying one waits for its work.
TEST_F(Streams, CreatedAndDestroyedOften) {
    for (int i = 0; i < 50; ++i) {
        CollectiveRun run({.operation = BATON_ALLREDUCE, .count = 501, .seed = static_cast<std::uint64_t>(i)}, comm());
        Stream stream(comm(), Stream::Kind::own);
        run.start(stream);
        if (on_gpu() || i % 2 == 0) stream.synchronize();
    }
    expect_works(comm());
}

/// One stream serves several communicators: it orders them on each rank.
TEST_F(Streams, OneStreamTwoCommunicators) {
    Communicator other;
    Stream stream(comm(), Stream::Kind::own);
    constexpr std::size_t count = 1000;
    Buffer buffer(comm(), count * 4);
    buffer.upload(make_input(BATON_UINT32, BATON_SUM, 8, rank(), count));
    Bytes model = reduce_inputs(BATON_UINT32, BATON_SUM, 8, size(), count);
    ASSERT_OK(baton_allreduce(BATON_IN_PLACE, buffer.data(), count, BATON_UINT32, BATON_SUM, comm(), stream));
    for (int i = 0; i < 20; ++i) {
        const baton_comm_t chosen = i % 2 == 0 ? other.get() : comm();
        ASSERT_OK(baton_allreduce(BATON_IN_PLACE, buffer.data(), count, BATON_UINT32, BATON_SUM, chosen, stream));
        const std::vector<std::span<const std::byte>> same(static_cast<std::size_t>(size()), model);
        model = reduce(BATON_UINT32, BATON_SUM, same);
    }
    stream.synchronize();
    EXPECT_TRUE(same_bytes(model, buffer.download(), BATON_UINT32));
}

/// A group may give each peer a stream of its own, and each direction.
TEST_F(Streams, AGroupOnTwoStreams) {
    if (size() < 3) GTEST_SKIP() << "one peer's messages of a direction go on one stream";
    const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
    Stream one(comm(), Stream::Kind::own), other(comm(), Stream::Kind::own);
    constexpr std::size_t count = 100;  // buffered: the streams' steps come one after the other
    Buffer up(comm(), count * 4), down(comm(), count * 4), from_previous(comm(), count * 4),
        from_next(comm(), count * 4);
    const auto input = [&](std::uint64_t seed, int of) { return make_input(BATON_INT32, BATON_SUM, seed, of, count); };
    up.upload(input(1, rank()));
    down.upload(input(2, rank()));
    ASSERT_OK(baton_group_begin());
    EXPECT_OK(baton_send(up.data(), count, BATON_INT32, next, comm(), one));
    EXPECT_OK(baton_send(down.data(), count, BATON_INT32, previous, comm(), other));
    EXPECT_OK(baton_recv(from_previous.data(), count, BATON_INT32, previous, comm(), one));
    EXPECT_OK(baton_recv(from_next.data(), count, BATON_INT32, next, comm(), other));
    ASSERT_OK(baton_group_end());
    one.synchronize();
    other.synchronize();
    EXPECT_TRUE(same_bytes(input(1, previous), from_previous.download(), BATON_INT32));
    EXPECT_TRUE(same_bytes(input(2, next), from_next.download(), BATON_INT32));
}

/// A thread's floating-point mode, as programs set it; threads that it makes inherit it.
class FloatMode {
public:
    enum Kind {
        as_default,
        upward,
        no_subnormals  ///< as start-up code of -ffast-math sets it
    };
    explicit FloatMode(Kind kind) {
        std::fegetenv(&before_);
        if (kind == upward) {
            EXPECT_EQ(std::fesetround(FE_UPWARD), 0);
        }
#if defined(__x86_64__)
        if (kind == no_subnormals) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    }
    ~FloatMode() { std::fesetenv(&before_); }
    FloatMode(const FloatMode &) = delete;
    FloatMode &operator=(const FloatMode &) = delete;

private:
    std::fenv_t before_;
};

/// Elements whose reductions round, and elements that have subnormal ones.
template <class T>
Bytes round_and_subnormal(int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = i % 2 == 0 ? T(1) / static_cast<T>(3 + static_cast<int>(i % 7) + rank)
                               : std::numeric_limits<T>::min() / static_cast<T>(2 + static_cast<int>(i % 5));
    Bytes bytes(count * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

Bytes round_and_subnormal(baton_type type, int rank, std::size_t count) {
    if (type == BATON_FLOAT64) return round_and_subnormal<double>(rank, count);
    const Bytes floats = round_and_subnormal<float>(rank, count);
    if (type == BATON_FLOAT32) return floats;
    Bytes bytes(count * 2);  // bfloat16
    for (std::size_t i = 0; i < count; ++i) std::copy_n(&floats[4 * i + 2], 2, &bytes[2 * i]);
    return bytes;
}

/// All ranks get the same bits as the reference, even if one or all of them call in another mode, with a stream or
/// without.
TEST_F(Streams, CalculateAlikeInAnyFloatMode) {
    if (on_gpu()) GTEST_SKIP() << "a GPU has no mode";
    for (const FloatMode::Kind kind : {FloatMode::as_default, FloatMode::upward, FloatMode::no_subnormals})
        for (const bool all : {false, true}) {
            const FloatMode::Kind mine = all || rank() == size() - 1 ? kind : FloatMode::as_default;
            std::optional<Stream> own;
            {
                const FloatMode mode(mine);
                own.emplace(comm(), Stream::Kind::own);
            }
            for (const baton_type type : {BATON_FLOAT32, BATON_FLOAT64, BATON_BFLOAT16})
                for (const baton_op op : {BATON_SUM, BATON_PROD, BATON_AVG})
                    for (const std::size_t count : {std::size_t{6}, std::size_t{2003}, std::size_t{60013}}) {
                        std::vector<Bytes> inputs;
                        for (int of = 0; of < size(); ++of) inputs.push_back(round_and_subnormal(type, of, count));
                        const Bytes expected =
                            reduce(type, op, std::vector<std::span<const std::byte>>(inputs.begin(), inputs.end()));
                        Buffer send(comm(), expected.size()), recv(comm(), expected.size());
                        send.upload(inputs[static_cast<std::size_t>(rank())]);
                        for (const bool queued : {false, true}) {
                            const baton_stream_t stream = queued ? own->get() : nullptr;
                            recv.upload(Bytes(expected.size()));
                            {
                                const FloatMode mode(mine);
                                ASSERT_OK(baton_allreduce(send.data(), recv.data(), count, type, op, comm(), stream));
                            }
                            own->synchronize();
                            EXPECT_TRUE(same_bytes(expected, recv.download(), type))
                                << baton_type_name(type) << ' ' << baton_op_name(op) << ' ' << count << ", mode "
                                << kind << (all ? " of all" : " of one") << (queued ? ", queued" : "");
                        }
                        if (any_rank(HasFailure())) return;
                    }
        }
}

}  // namespace
}  // namespace baton::test
