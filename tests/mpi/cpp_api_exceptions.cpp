// baton.hpp while an exception unwinds: what a destructor may wait for, and what others hear of it.
#include <gmock/gmock.h>

#include <functional>

#include "cpp_values.hpp"

namespace baton::test {
namespace {

TEST(CppApi, AnExceptionThatDestroysACommunicatorAbortsIt) {
    const ::baton::Communicator outer(MPI_COMM_WORLD);
    Values<int> word(outer, {1});
    try {
        const ::baton::Communicator comm(MPI_COMM_WORLD);
        if (comm.rank() + 1 == comm.size()) throw std::runtime_error("of the application");
        comm.allreduce(word.span(), BATON_SUM);
        for (;;) comm.check_state();  // on GPUs the call has returned before the others learn of it
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ABORTED) << error.what();
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "of the application");
    }
    outer.barrier();
}

/// A window is destroyed before its communicator, and would wait for the other ranks.
TEST(CppApi, AnExceptionThatDestroysAWindowAbortsItsCommunicator) {
    const ::baton::Communicator outer(MPI_COMM_WORLD);
    Values<int> word(outer, {1});
    baton_config config = default_config();
    config.timeout_seconds = 20;
    try {
        const ::baton::Communicator comm(MPI_COMM_WORLD, &config);
        Window first(comm, 64);
        const Window window(std::move(first));
        if (comm.rank() + 1 == comm.size()) throw std::runtime_error("of the application");
        comm.allreduce(word.span(), BATON_SUM);
        for (;;) comm.check_state();
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ABORTED) << error.what();
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "of the application");
    }
    outer.barrier();
}

/// A stream made before its communicator is destroyed after it; by then nothing waits for the other ranks any more.
TEST(CppApi, AnExceptionThatDestroysACommunicatorEndsWhatItsStreamHasQueued) {
    const ::baton::Communicator outer(MPI_COMM_WORLD);
    if (outer.info().on_gpu != 0 || outer.size() < 2) GTEST_SKIP() << "needs a host stream, and somebody to wait for";
    Values<int> word(outer, {1});
    baton_config config = default_config();
    config.timeout_seconds = 20;
    try {
        const HostStream stream;
        const ::baton::Communicator comm(MPI_COMM_WORLD, &config);
        if (comm.rank() + 1 == comm.size()) {
            comm.recv(word.span(), 0, stream);
            throw std::runtime_error("of the application");
        }
        comm.barrier();
        FAIL() << "no exception";
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ABORTED) << error.what();
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "of the application");
    }
    outer.barrier();
}

/// Even ranks receive into memory that an exception has taken from them, before odd ones send.
TEST(CppApi, AnExceptionLeavesMemoryThatIsInUse) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Stream stream(comm.get(), Stream::Kind::own);
    constexpr std::size_t count = 1 << 20;
    const bool receives = comm.rank() % 2 == 0 && comm.rank() + 1 < comm.size();
    int *data = nullptr;
    try {
        const ::baton::Memory<int> memory(comm, count);
        data = memory.data();
        if (receives) comm.recv(memory, comm.rank() + 1, stream);
        throw std::runtime_error("of the application");
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "of the application");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() % 2 == 1) {
        Values<int> sent(comm, std::vector<int>(count, comm.rank()));
        comm.send(sent.view(), comm.rank() - 1);
        comm.barrier();
    } else {
        comm.barrier(stream);
    }
    stream.synchronize();
    if (!receives) return;
    std::vector<int> got(count);
    copy_memory(got.data(), data, count * sizeof(int), on_gpu(comm.get()));
    EXPECT_EQ(got, std::vector<int>(count, comm.rank() + 1));
}

/// What was collected has the address of memory that may be gone: nothing is written there, and ranks that wait for it
/// hear of it. Here the memory is still there, so that the test can look at it.
TEST(CppApi, AnExceptionThatDestroysAGroupDropsItsCalls) {
    const ::baton::Communicator outer(MPI_COMM_WORLD);
    constexpr std::size_t count = 20000;
    Values<int> sent(outer, std::vector<int>(count, 42)), got(outer, std::vector<int>(count, 7));
    baton_config config = default_config();
    config.timeout_seconds = 20;
    const ::baton::Communicator comm(MPI_COMM_WORLD, &config);
    const int drops = comm.size() - 1;
    try {
        if (comm.rank() == drops) {
            const Group group;
            const Group nested;
            for (int peer = 0; peer < comm.size(); ++peer) comm.recv(got.span(), peer);
            throw std::runtime_error("of the application");
        }
        comm.send(sent.view(), drops);
        for (;;) comm.check_state();  // on GPUs the call has returned before the others learn of it
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), BATON_ERR_ABORTED) << error.what();
        EXPECT_THAT(error.what(), ::testing::HasSubstr("baton_group_drop"));
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "of the application");
    }
    EXPECT_EQ(baton_group_end(), BATON_ERR_ARGUMENT) << "a group is open still";
    EXPECT_EQ(baton_comm_check(comm.get()), BATON_ERR_ABORTED);
    outer.barrier();
    EXPECT_EQ(got.values(), std::vector<int>(count, 7));
}

/// The group is not left by an exception, though one unwinds that has nothing to do with it.
TEST(CppApi, AGroupThatIsLeftIsIssued) {
    const ::baton::Communicator comm(MPI_COMM_WORLD);
    Values<int> sent(comm, {comm.rank() + 1}), got(comm, {0, 0});
    Stream stream(comm.get(), Stream::Kind::own);
    const int next = (comm.rank() + 1) % comm.size();
    const int previous = (comm.rank() + comm.size() - 1) % comm.size();
    const auto exchange = [&](std::size_t place) {
        const Group group;
        comm.send(sent.view(), next, stream.get());
        comm.recv(got.span().subspan(place, 1), previous, stream.get());
    };
    struct AtTheEnd {
        ~AtTheEnd() { call(); }
        std::function<void()> call;
    };
    exchange(0);
    try {
        const AtTheEnd at_the_end{[&] { exchange(1); }};
        throw std::runtime_error("of the application");
    } catch (const std::runtime_error &) {
    }
    stream.synchronize();
    comm.check_state();
    EXPECT_EQ(got.values(), std::vector<int>(2, previous + 1));
}

}  // namespace
}  // namespace baton::test
