// baton.hpp: what it adds to the C API is ownership, spans and exceptions.
#include "baton/baton.hpp"

#include <numeric>

#include "support/fixture.hpp"

namespace baton::test {
namespace {

/// Host memory or device memory, whatever the communicator is on; values go in and out by MPI-independent copies.
template <class T>
class Values {
public:
    Values(const ::baton::Communicator &comm, std::vector<T> values)
        : buffer_(comm.get(), values.size() * sizeof(T)), count_(values.size()) {
        Bytes bytes(values.size() * sizeof(T));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        buffer_.upload(bytes);
    }
    std::span<T> span() { return {static_cast<T *>(buffer_.data()), count_}; }
    std::span<const T> view() { return {static_cast<const T *>(buffer_.data()), count_}; }
    std::vector<T> values() const {
        const Bytes bytes = buffer_.download();
        std::vector<T> values(count_);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

private:
    Buffer buffer_;
    std::size_t count_;
};

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
    }
    EXPECT_THROW(comm.send(one.view(), comm.size()), ::baton::Error);
    EXPECT_THROW(comm.alltoall(one.view(), many.span()), ::baton::Error);
    EXPECT_THROW(comm.broadcast(many.view(), one.span(), comm.rank()), ::baton::Error);
    EXPECT_THROW(comm.broadcast(one.span(), comm.size()), ::baton::Error);
    if (comm.size() > 1) {
        EXPECT_THROW(comm.alltoall(many.span()), ::baton::Error);
    }
    comm.check_state();
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
