// baton.hpp: who owns what, where it goes in a move, and when it ends.
#include "cpp_values.hpp"

namespace baton::test {
namespace {

TEST(CppApi, AGroupEndsOnce) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    ::baton::Group outer;
    ::baton::Group inner;
    inner.end();
    EXPECT_THROW(inner.end(), Error);
    outer.end();
}

TEST(CppApi, WhatWasMovedFromIsEmpty) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    ::baton::Memory<int> first(comm, 10), second(comm, 20);
    int *const data = second.data();
    first = std::move(second);
    EXPECT_EQ(first.data(), data);
    EXPECT_EQ(first.size(), 20U);
    EXPECT_EQ(second.data(), nullptr);
    EXPECT_TRUE(second.span().empty());
    const ::baton::Memory<int> third(std::move(first));
    EXPECT_EQ(third.size(), 20U);
    EXPECT_TRUE(first.span().empty());
    Window window(comm, 64);
    void *const base = window.base();
    Window moved(std::move(window));
    EXPECT_EQ(moved.base(), base);
    EXPECT_EQ(moved.bytes(), 64U);
    EXPECT_EQ(window.get(), nullptr);
    EXPECT_EQ(window.base(), nullptr);
    EXPECT_EQ(window.bytes(), 0U);
    window = std::move(moved);
    EXPECT_EQ(window.base(), base);
    EXPECT_EQ(moved.base(), nullptr);
}

/// Calls on it would be on the NULL stream, and so in another order.
TEST(CppApi, AHostStreamThatWasMovedFromIsNoStream) {
    const ::baton::Communicator comm = on_the_host();
    HostStream first;
    const HostStream second(std::move(first));
    EXPECT_NE(static_cast<baton_stream_t>(second), nullptr);
    EXPECT_THROW(static_cast<void>(static_cast<baton_stream_t>(first)), Error);
    std::vector<int> some(1);
    EXPECT_THROW(comm.allreduce(some, BATON_SUM, first), Error);
    EXPECT_THROW(first.synchronize(), Error);
    comm.allreduce(some, BATON_SUM, second);
    second.synchronize();
}

TEST(CppApi, ACommunicatorTakesItsRankAndSizeAlong) {
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const auto expect_empty = [](const ::baton::Communicator &comm) {
        EXPECT_THROW(comm.rank(), Error);
        EXPECT_THROW(comm.size(), Error);
        std::vector<int> some(6);
        EXPECT_THROW(comm.allgather(some), Error);
        EXPECT_THROW(comm.broadcast(some, some, 0), Error);
        EXPECT_THROW(comm.barrier(), Error);
    };
    const auto expect_whole = [&](const ::baton::Communicator &comm) {
        EXPECT_EQ(comm.rank(), rank);
        EXPECT_EQ(comm.size(), size);
    };
    ::baton::Communicator world(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
    ::baton::Communicator moved(std::move(world));
    expect_empty(world);
    expect_whole(moved);
    alone = std::move(moved);
    expect_empty(moved);
    expect_whole(alone);
    alone.destroy();
    expect_empty(alone);
    alone = ::baton::Communicator(MPI_COMM_SELF);
    EXPECT_EQ(alone.rank(), 0);
    EXPECT_EQ(alone.size(), 1);
}

TEST(CppApi, AssignedMemoryIsFreedOnItsOwnCommunicator) {
    const ::baton::Communicator one(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
    const auto ones = one.info().regions, others = other.info().regions;
    {
        ::baton::Memory<int> memory(one, 10);
        EXPECT_EQ(one.info().regions, ones + 1);
        memory = ::baton::Memory<int>(other, 20);
        EXPECT_EQ(one.info().regions, ones);
        EXPECT_EQ(other.info().regions, others + 1);
    }
    EXPECT_EQ(other.info().regions, others);
}

TEST(CppApi, ARegistrationEndsWithItsOwner) {
    const ::baton::Communicator comm(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
    if (comm.info().on_gpu != 0 && comm.info().peer_access == 0) GTEST_SKIP() << "nothing is registered";
    const ::baton::Memory<int> memory(other, 100);
    const auto deregister = [&] { return baton_deregister(comm.get(), memory.data()); };
    {
        const Registration first(comm, memory);
        Registration second(comm, memory.span().first(10));
        const Registration third(std::move(second));
    }
    EXPECT_EQ(deregister(), BATON_ERR_ARGUMENT) << "registered still";
    {
        Registration kept(comm, memory);
        kept = Registration(comm, memory);
        EXPECT_EQ(deregister(), BATON_SUCCESS) << "registered no more";
        EXPECT_EQ(deregister(), BATON_ERR_ARGUMENT) << "registered twice";
    }
    EXPECT_THROW(Registration(comm, memory.span().first(0)), Error);
}

TEST(CppApi, AWindowThatIsDestroyedSaysWhatFails) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Window window(comm, 64);
    window.destroy();
    EXPECT_EQ(window.get(), nullptr);
    EXPECT_EQ(window.base(), nullptr);
    EXPECT_EQ(window.bytes(), 0U);
    EXPECT_THROW(window.destroy(), Error);
    Window odd(comm, 64), even(comm, 64);
    if (comm.size() == 1) return;
    try {
        (comm.rank() % 2 == 1 ? odd : even).destroy();
        FAIL() << "no exception";
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_MISMATCH) << error.what();
    }
}

}  // namespace
}  // namespace baton::test
