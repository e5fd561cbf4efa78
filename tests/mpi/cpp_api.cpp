// baton.hpp: what it adds to the C API is ownership, spans and exceptions. Here spans.
#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include "cpp_values.hpp"

namespace baton::test {
namespace {

TEST(CppApi, CollectivesTakeTheirCountsFromSpans) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Stream stream(comm.get(), Stream::Kind::own);
    const auto n = static_cast<std::size_t>(comm.size());
    const auto rank = static_cast<std::size_t>(comm.rank());
    Values<int> mine(comm, {static_cast<int>(rank), 100 + static_cast<int>(rank)});
    Values<int> all(comm, std::vector<int>(2 * n, -1));
    comm.allgather(mine.view(), all.span(), stream);
    Values<double> sum(comm, std::vector<double>(3, static_cast<double>(rank + 1)));
    comm.allreduce(sum.span(), BATON_SUM, stream);
    Values<float> blocks(comm, std::vector<float>(n, static_cast<float>(rank)));
    Values<float> block(comm, {-1.0F});
    comm.reduce_scatter(blocks.view(), block.span(), BATON_MAX, stream);
    std::vector<int> numbered(n);
    std::iota(numbered.begin(), numbered.end(), 10 * static_cast<int>(rank));
    Values<int> out(comm, numbered), in(comm, std::vector<int>(n, -1)), both(comm, numbered);
    comm.alltoall(out.view(), in.span(), stream);
    comm.alltoall(both.span(), stream);
    std::vector<int> own_block(n, -1);
    own_block[rank] = numbered[rank];
    Values<int> gathered(comm, own_block), reduced(comm, numbered);
    comm.allgather(gathered.span(), stream);
    comm.reduce_scatter(reduced.span(), BATON_MAX, stream);
    const int root = comm.size() - 1;
    Values<float> word(comm, {rank + 1 == n ? 2.5F : -1.0F}), heard(comm, {-1.0F});
    comm.broadcast(rank + 1 == n ? word.view() : std::span<const float>(), heard.span(), root, stream);
    comm.broadcast(word.span(), root, stream);
    stream.synchronize();
    EXPECT_EQ(heard.values(), std::vector<float>{2.5F});
    EXPECT_EQ(word.values(), std::vector<float>{2.5F});
    for (std::size_t peer = 0; peer < n; ++peer) {
        EXPECT_EQ(in.values()[peer], 10 * static_cast<int>(peer) + static_cast<int>(rank));
        EXPECT_EQ(both.values()[peer], 10 * static_cast<int>(peer) + static_cast<int>(rank));
        EXPECT_EQ(all.values()[2 * peer], static_cast<int>(peer));
        EXPECT_EQ(all.values()[2 * peer + 1], 100 + static_cast<int>(peer));
    }
    for (std::size_t peer = 0; peer < n; ++peer)
        EXPECT_EQ(gathered.values()[peer], 10 * static_cast<int>(peer) + static_cast<int>(peer));
    EXPECT_EQ(reduced.values()[0], 10 * static_cast<int>(n - 1) + static_cast<int>(rank));
    EXPECT_EQ(sum.values(), std::vector<double>(3, static_cast<double>(n * (n + 1)) / 2));
    EXPECT_EQ(block.values(), std::vector<float>{static_cast<float>(n - 1)});
}

TEST(CppApi, SpansThatDoNotFitAreRefused) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Values<int> one(comm, {1});
    Values<int> many(comm, std::vector<int>(static_cast<std::size_t>(comm.size()) + 1));
    try {
        comm.allgather(one.view(), many.span());
        FAIL() << "no exception";
    } catch (const ::baton::Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ARGUMENT);
        const std::string n = std::to_string(comm.size()), found = std::to_string(comm.size() + 1);
        EXPECT_EQ(error.what(), "allgather: recv.size() is " + found + ", but size() * send.size() is " + n);
    }
    EXPECT_THROW(comm.send(one.view(), comm.size()), ::baton::Error);
    EXPECT_THROW(comm.alltoall(one.view(), many.span()), ::baton::Error);
    EXPECT_THROW(comm.reduce_scatter(many.view(), one.span(), BATON_SUM), ::baton::Error);
    EXPECT_THROW(comm.allreduce(one.view(), many.span(), BATON_SUM), ::baton::Error);
    EXPECT_THROW(comm.broadcast(many.view(), one.span(), comm.rank()), ::baton::Error);
    EXPECT_THROW(comm.broadcast(one.span(), comm.size()), ::baton::Error);
    if (comm.size() > 1) {
        EXPECT_THROW(comm.alltoall(many.span()), ::baton::Error);
        EXPECT_THROW(comm.allgather(many.span()), ::baton::Error);
        EXPECT_THROW(comm.reduce_scatter(many.span(), BATON_SUM), ::baton::Error);
    }
    comm.check_state();
}

TEST(CppApi, CallsTakeWhateverIsContiguous) {
    const ::baton::Communicator comm = on_the_host();
    const auto n = static_cast<std::size_t>(comm.size());
    const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<int> mine{comm.rank()}, all(n, -1), ranks(n);
    const std::vector<int> constant = mine;
    std::iota(ranks.begin(), ranks.end(), 0);
    comm.allgather(mine, all);
    EXPECT_EQ(all, ranks);
    std::fill(all.begin(), all.end(), -1);
    comm.allgather(std::span(mine), std::span(all));
    EXPECT_EQ(all, ranks);
    std::fill(all.begin(), all.end(), -1);
    comm.allgather(std::span<int, 1>(mine), std::span(all));
    EXPECT_EQ(all, ranks);
    const ::baton::Memory<int> memory(comm, n);
    comm.allgather(constant, memory);
    EXPECT_EQ(std::vector<int>(memory.begin(), memory.end()), ranks);
    comm.alltoall(memory, all);
    EXPECT_EQ(all, std::vector<int>(n, comm.rank()));
    comm.alltoall(all);
    EXPECT_EQ(all, ranks);
    comm.reduce_scatter(all, BATON_SUM);
    EXPECT_EQ(all[0], comm.rank() * comm.size());
    all.assign(n, comm.rank());
    comm.allgather(all);
    EXPECT_EQ(all, ranks);
    std::array<float, 2> pair{1, 2}, sum{};
    comm.allreduce(pair, sum, BATON_SUM);
    EXPECT_EQ(sum, (std::array<float, 2>{static_cast<float>(n), 2 * static_cast<float>(n)}));
    comm.allreduce(pair, BATON_SUM);
    EXPECT_EQ(pair, sum);
    comm.reduce_scatter(ranks, std::span(mine), BATON_MAX);
    EXPECT_EQ(mine, constant);
    long long word[3] = {comm.rank(), comm.rank(), comm.rank()}, heard[3] = {-1, -1, -1};
    comm.broadcast(word, heard, 0);
    EXPECT_THAT(heard, ::testing::Each(0));
    comm.broadcast(word, 0);
    EXPECT_THAT(word, ::testing::Each(0));
    comm.send(std::span(mine), next);
    comm.send(std::as_const(mine), next);
    comm.recv(std::span<int, 2>(all.data(), 2).first<1>(), previous);
    EXPECT_EQ(all[0], previous);
    comm.recv(mine, previous);
    EXPECT_EQ(mine[0], previous);
    std::string text(8, static_cast<char>('a' + comm.rank())), got(8, ' ');
    comm.sendrecv(text, next, got, previous);
    EXPECT_EQ(got, std::string(8, static_cast<char>('a' + previous)));
    const Window window(comm, 64);
    window.put(constant, comm.rank(), 4);
    window.get(mine, comm.rank(), 4);
    EXPECT_EQ(mine, constant);
}

// What a call would write must be writable, of the sender's type and alive after the call.
static_assert(SendBuffer<std::vector<int> &> && SendBuffer<const std::vector<int> &> && SendBuffer<std::span<int, 3>>);
static_assert(SendBuffer<std::byte (&)[4]> && RecvBuffer<const ::baton::Memory<float> &>);
static_assert(!SendBuffer<std::vector<int>> && !SendBuffer<std::vector<bool> &> && !SendBuffer<std::span<int *>>);
static_assert(RecvBuffer<std::span<int>> && !RecvBuffer<std::span<const int>> && !RecvBuffer<const std::string &>);
static_assert(RecvBufferFor<std::vector<int> &, std::span<const int>>);
static_assert(!RecvBufferFor<std::vector<unsigned> &, std::span<const int>>);

// Windows and Memory take what is no more than its bytes.
template <class B>
concept CanBePut = requires(const Window &window, B &buffer) {
    window.put(buffer, 0, 0);
};
template <class B>
concept CanBeGot = requires(const Window &window, B &buffer) {
    window.get(buffer, 0, 0);
};
struct Pair {
    int first;
    double second;
};
struct alignas(512) FarApart {
    int value;
};
static_assert(CanBePut<std::vector<Pair>> && CanBePut<const std::vector<Pair>> && CanBeGot<std::vector<Pair>>);
static_assert(!CanBePut<std::vector<std::string>> && !CanBePut<std::span<std::unique_ptr<int>>>);
static_assert(!CanBeGot<std::vector<std::string>> && !CanBeGot<const std::vector<Pair>>);
template <class T>
concept CanBeAllocated = requires {
    typename ::baton::Memory<T>;
};
static_assert(CanBeAllocated<Pair> && !CanBeAllocated<std::string> && !CanBeAllocated<FarApart>);

template <class T>
concept HasType = requires {
    ::baton::type_of<T>::value;
};
static_assert(type_of_v<long long> == BATON_INT64 && type_of_v<unsigned long long> == BATON_UINT64);
static_assert(type_of_v<std::int64_t> == BATON_INT64 && type_of_v<const long> == BATON_INT64);
static_assert(type_of_v<char> == (std::is_signed_v<char> ? BATON_INT8 : BATON_UINT8));
static_assert(type_of_v<signed char> == BATON_INT8 && type_of_v<char8_t> == BATON_UINT8);
static_assert(type_of_v<short> == BATON_INT16 && type_of_v<char32_t> == BATON_UINT32);
static_assert(!HasType<bool> && !HasType<void *> && HasType<std::byte>);

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wold-style-cast"
TEST(CppApi, InPlaceIsNoOldStyleCast) {
    const void *const in_place = BATON_IN_PLACE;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in_place), UINTPTR_MAX);
}
#pragma GCC diagnostic pop

TEST(CppApi, MoreMemoryThanBytesCanCountIsRefused) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    const std::size_t count = SIZE_MAX / sizeof(double) + 2;
    try {
        const ::baton::Memory<double> memory(comm, count);
        FAIL() << "no exception";
    } catch (const ::baton::Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ARGUMENT);
        EXPECT_THAT(error.what(), ::testing::HasSubstr(std::to_string(count) + " elements of 8 bytes"));
    }
}

TEST(CppApi, GroupsAndWindowsAndMemory) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Stream stream(comm.get(), Stream::Kind::own);
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    Values<std::uint64_t> sent(comm, {static_cast<std::uint64_t>(comm.rank()) + 7});
    Values<std::uint64_t> got(comm, {0});
    Group group;
    comm.send(sent.view(), next, stream);
    comm.recv(got.span(), previous, stream);
    group.end();
    const Window window(comm, 64);
    window.put(sent.view(), next, 8, stream);
    window.signal(next, stream);
    window.wait_signal(previous, 1, stream);
    Values<std::uint64_t> put(comm, {0});
    window.get(put.span(), comm.rank(), 8, stream);
    stream.synchronize();
    EXPECT_EQ(got.values()[0], static_cast<std::uint64_t>(previous) + 7);
    EXPECT_EQ(put.values()[0], static_cast<std::uint64_t>(previous) + 7);
    const ::baton::Memory<float> memory(comm, 1000);
    EXPECT_EQ(memory.span().size(), 1000U);
    EXPECT_GE(comm.info().regions, 1U);
    EXPECT_NE(comm.explain(BATON_ALLGATHER, 10, BATON_FLOAT32).find("allgather"), std::string::npos);
}

}  // namespace
}  // namespace baton::test
