// explain and info: texts that name the plan, and numbers that add up.
#include <cstdlib>
#include <cstring>

#include "support/fixture.hpp"
#include "support/process_maps.hpp"
#include "support/set_variable.hpp"

namespace baton::test {
namespace {

class Explain : public CommTest {};

TEST_F(Explain, NamesAPlanForEveryOperation) {
    for (int operation = BATON_ALLGATHER; operation < BATON_OPERATION_COUNT; ++operation)
        for (std::size_t count : {std::size_t{0}, std::size_t{10}, std::size_t{100000}, std::size_t{1} << 28}) {
            char text[4096];
            std::memset(text, 'x', sizeof(text));
            ASSERT_OK(baton_explain(comm(), static_cast<baton_operation>(operation), count, BATON_FLOAT32, BATON_SUM,
                                    nullptr, nullptr, text, sizeof(text)))
                << operation;
            ASSERT_NE(std::memchr(text, 0, sizeof(text)), nullptr) << "no terminating zero";
            EXPECT_GT(std::strlen(text), 10u) << text;
        }
}

/// Runs in the variant whose copies between processes are refused (refused_single_copies.cpp).
TEST_F(Explain, SaysThatTheSystemRefusesSingleCopies) {
    const char *const single_copies = std::getenv("BATON_TEST_SINGLE_COPIES");
    if (single_copies == nullptr || size() == 1) GTEST_SKIP() << "they are not";
    ASSERT_STREQ(single_copies, "refused");
    char text[4096];
    ASSERT_OK(baton_explain(comm(), BATON_ALLGATHER, 1 << 20, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, text,
                            sizeof(text)));
    EXPECT_NE(std::strstr(text, "the system refuses process_vm_readv"), nullptr) << text;
}

TEST_F(Explain, KnowsNoOtherOperations) {
    char text[100];
    EXPECT_ERROR(
        BATON_ERR_ARGUMENT,
        baton_explain(comm(), BATON_OPERATION_COUNT, 1, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, text, sizeof(text)),
        "operation", "12");
}

TEST_F(Explain, SaysWhatPeersReachOnly) {
    const auto explained = [](baton_comm_t comm, const void *send, void *recv) {
        char text[4096];
        EXPECT_OK(
            baton_explain(comm, BATON_ALLREDUCE, 100000, BATON_FLOAT32, BATON_SUM, send, recv, text, sizeof(text)));
        return std::string(text);
    };
    Communicator alone(MPI_COMM_SELF);
    int nothing = 0;
    const std::string text = explained(alone, &nothing, &nothing);
    EXPECT_EQ(text.find("buf:"), std::string::npos) << text;
    EXPECT_EQ(text.find("peer"), std::string::npos) << text;
    void *const unmapped = reinterpret_cast<void *>(std::uintptr_t{8});
    const std::string all = explained(comm(), unmapped, unmapped);
    EXPECT_EQ(all.find("buf: "), all.find("buf: not allocated memory")) << all;
}

/// If buffers are not reached, the text says so once, and does not say that some of them are copied straight.
TEST_F(Explain, SaysOnceWhyBuffersAreNotReached) {
    if (size() < 2) GTEST_SKIP() << "there is nobody to reach";
    baton_config config = default_config();
    config.p2p = BATON_P2P_OFF;
    const Communicator comm(MPI_COMM_WORLD, &config);
    const std::string reach = std::string(info_of(comm).reach).substr(0, 40);
    for (const baton_operation operation :
         {BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLREDUCE, BATON_ALLTOALL, BATON_BROADCAST, BATON_SEND}) {
        for (const std::size_t count : {10, 1000000}) {
            char bytes[4096];
            EXPECT_OK(baton_explain(comm, operation, count, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, bytes,
                                    sizeof(bytes)));
            const std::string text = bytes;
            const std::size_t first = text.find(reach);
            EXPECT_TRUE(first == text.npos || text.find(reach, first + 1) == text.npos) << text;
            EXPECT_EQ(text.find("copied straight"), text.npos) << text;
        }
    }
}

TEST_F(Explain, TellsOfTheCopyBehindAnAlltoallInPlace) {
    Buffer buffer(comm(), 400000 * static_cast<std::size_t>(size())), other(comm(), buffer.size());
    const auto explained = [&](const void *send, std::size_t count) {
        char text[4096];
        EXPECT_OK(baton_explain(comm(), BATON_ALLTOALL, count, BATON_FLOAT32, BATON_SUM, send, buffer.data(), text,
                                sizeof(text)));
        return std::string(text);
    };
    const std::string plan = explained(other.data(), 100000);
    const bool direct = size() > 1 && (plan.find("push") == 0 || plan.find("pull") == 0);
    for (const void *send : {BATON_IN_PLACE, static_cast<const void *>(buffer.data())}) {
        EXPECT_EQ(explained(send, 100000).find("in place") != std::string::npos, direct) << explained(send, 100000);
        EXPECT_EQ(explained(send, 10).find("in place"), std::string::npos) << explained(send, 10);
    }
    EXPECT_EQ(explained(other.data(), 100000).find("in place"), std::string::npos);
}

/// Where the text does not mention a copy, none is made: the communicator's memory stays as it was.
TEST_F(Explain, TellsOfTheCopyBehindAReduceScatterInPlace) {
    const Communicator fresh(MPI_COMM_WORLD);
    Buffer buffer(fresh.get(), 400000 * static_cast<std::size_t>(size()));
    Stream stream(fresh.get(), Stream::Kind::own);
    const auto memory = [&] {
        const baton_info info = info_of(fresh.get());
        return info.device_bytes + info.host_bytes;
    };
    for (const std::size_t count : {std::size_t{10}, std::size_t{1000}, std::size_t{100000}}) {
        char text[4096];
        EXPECT_OK(baton_explain(fresh.get(), BATON_REDUCE_SCATTER, count, BATON_INT32, BATON_SUM, BATON_IN_PLACE,
                                buffer.data(), text, sizeof(text)));
        const std::string plan = text;
        const bool over_input = rank() > 0 && (plan.find("pull") == 0 || plan.find("staged") == 0);
        EXPECT_EQ(plan.find("in place") != std::string::npos, over_input) << plan;
        const auto before = memory();
        ASSERT_OK(
            baton_reduce_scatter(BATON_IN_PLACE, buffer.data(), count, BATON_INT32, BATON_SUM, fresh.get(), stream));
        stream.synchronize();
        EXPECT_EQ(memory() > before, over_input) << plan;
    }
}

TEST_F(Explain, FitsAnyBuffer) {
    char full[4096];
    ASSERT_OK(
        baton_explain(comm(), BATON_ALLREDUCE, 1000, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, full, sizeof(full)));
    for (std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{17}}) {
        char text[32];
        std::memset(text, 'x', sizeof(text));
        ASSERT_OK(baton_explain(comm(), BATON_ALLREDUCE, 1000, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, text, size));
        const std::size_t length = strnlen(text, size);
        ASSERT_LT(length, size) << "the zero at the end";
        const std::string got(text, length);
        const bool dots = got != full && size > 4;
        EXPECT_EQ(dots ? got.substr(length - 3) : "...", "...");
        const std::string kept = got.substr(0, dots ? length - 3 : length);
        EXPECT_EQ(kept, std::string(full).substr(0, kept.size()));
        EXPECT_EQ(text[size], 'x') << "written past the end";
    }
}

TEST_F(Explain, StartsNothing) {
    char text[1024];
    Buffer buffer(comm(), 4000);
    // Only rank 0 asks: if that started anything, the others would be missed.
    if (rank() == 0) {
        EXPECT_OK(baton_explain(comm(), BATON_ALLREDUCE, 1000, BATON_FLOAT32, BATON_SUM, buffer.data(), buffer.data(),
                                text, sizeof(text)));
    }
    expect_works(comm());
}

/// After a break it is most useful to know what a call would have done.
TEST_F(Explain, WorksOnABrokenCommunicator) {
    baton_comm_t broken = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, nullptr, &broken));
    Buffer buffer(broken, 4000);
    const auto explained = [&] {
        char text[4096] = "";
        EXPECT_OK(baton_explain(broken, BATON_ALLREDUCE, 1000, BATON_FLOAT32, BATON_SUM, buffer.data(), buffer.data(),
                                text, sizeof(text)));
        return std::string(text);
    };
    const std::string before = explained();
    ASSERT_OK(baton_comm_abort(broken));
    EXPECT_ERROR(BATON_ERR_ABORTED, baton_comm_check(broken));
    EXPECT_EQ(explained(), before);
    EXPECT_OK(baton_comm_destroy(broken));
    char text[100];
    EXPECT_ERROR(
        BATON_ERR_ARGUMENT,
        baton_explain(broken, BATON_ALLREDUCE, 1, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, text, sizeof(text)),
        "comm");
}

/// One block fits into the address space, but not all ranks' blocks together.
TEST_F(Explain, RefusesACountThatTheCallRefuses) {
    if (size() < 2) GTEST_SKIP() << "one block is all of them";
    const std::size_t count = (std::size_t{1} << 63) / static_cast<std::size_t>(size()) + 1;
    char text[1024];
    for (const baton_operation operation : {BATON_ALLGATHER, BATON_REDUCE_SCATTER}) {
        EXPECT_ERROR(
            BATON_ERR_ARGUMENT,
            baton_explain(comm(), operation, count, BATON_INT8, BATON_SUM, nullptr, nullptr, text, sizeof(text)),
            "count", std::to_string(count));
    }
}

/// Spawned ranks have an MPI_COMM_WORLD of their own, so ranks differ in how many they count on the machine.
TEST_F(Explain, IsAlikeOnAllRanksWhereTheirWorldsDiffer) {
    if (environment().device >= 0 || size() == 1) GTEST_SKIP() << "nothing depends on it";
    const SetVariable ranks_here("OMPI_COMM_WORLD_LOCAL_SIZE", rank() == 0 ? "1" : "4096");
    const Communicator fresh(MPI_COMM_WORLD);
    for (const baton_operation operation :
         {BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLREDUCE, BATON_ALLTOALL, BATON_BROADCAST}) {
        char mine[1024] = "", of_rank_0[1024] = "";
        EXPECT_OK(baton_explain(fresh.get(), operation, std::size_t{1} << 20, BATON_UINT8, BATON_SUM, nullptr, nullptr,
                                mine, sizeof(mine)));
        std::memcpy(of_rank_0, mine, sizeof(mine));
        MPI_Bcast(of_rank_0, sizeof(of_rank_0), MPI_CHAR, 0, MPI_COMM_WORLD);
        EXPECT_STREQ(mine, of_rank_0);
    }
}

/// Steps are numbered with 24 bits (sync/arena.hpp). More would be taken for those of later operations.
TEST_F(Explain, RefusesWhatWouldTakeTooManySegments) {
    if (size() < 2) GTEST_SKIP() << "no segments";
    baton_config config = default_config();
    config.p2p = BATON_P2P_OFF;
    config.segment_bytes = 4096;
    const Communicator comm(MPI_COMM_WORLD, &config);
    char text[1024];
    const auto explain = [&](baton_operation operation, std::size_t bytes) {
        return baton_explain(comm, operation, bytes, BATON_INT8, BATON_SUM, nullptr, nullptr, text, sizeof(text));
    };
    constexpr std::size_t GiB = std::size_t{1} << 30;
    const auto n = static_cast<std::size_t>(size());
    EXPECT_OK(explain(BATON_ALLREDUCE, 31 * n * GiB));
    EXPECT_OK(explain(BATON_ALLGATHER, 63 * GiB));
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, explain(BATON_ALLREDUCE, 32 * n * GiB), "allreduce", "4096", "BATON_SEGMENT");
    for (const baton_operation operation : {BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLTOALL, BATON_BROADCAST}) {
        EXPECT_ERROR(BATON_ERR_UNSUPPORTED, explain(operation, 64 * GiB), "68719476736");
    }
}

TEST_F(Explain, InfoAddsUp) {
    const baton_info info = info_of(comm());
    EXPECT_EQ(info.rank, world_rank());
    EXPECT_EQ(info.size, world_size());
    EXPECT_GE(info.channels, 1);
    EXPECT_GE(info.ranks_on_device, 1);
    EXPECT_LE(info.ranks_on_device, info.size);
    EXPECT_NE(std::string(info.links).find(": "), std::string::npos) << info.links;
    if (info.on_gpu != 0) {
        EXPECT_EQ(info.device, environment().device);
        EXPECT_EQ(std::string(info.device_uuid).substr(0, 4), "GPU-");
        EXPECT_GT(info.peer_access != 0 ? info.device_bytes : info.host_bytes, 0u);
        EXPECT_GT(std::strlen(info.device_name), 0u);
    } else {
        EXPECT_EQ(info.device, -1);
        EXPECT_STREQ(info.device_name, "host");
        EXPECT_STREQ(info.device_uuid, "");
        EXPECT_EQ(info.ranks_on_device, info.size);
        EXPECT_GT(info.host_bytes, 0u);
    }
}

/// Compares with what the process has mapped since, divided among the ranks: segments that all ranks map whole, in
/// whole pages.
TEST_F(Explain, InfoCountsWhatRanksShare) {
    const auto mapped = [] {
        std::size_t bytes = 0;
        for (const Mapping &mapping : process_maps("/dev/shm/baton-")) bytes += mapping.end - mapping.begin;
        return bytes;
    };
    const std::size_t before = mapped();
    const Communicator fresh(MPI_COMM_WORLD);
    const std::size_t share = (mapped() - before) / static_cast<std::size_t>(size());
    EXPECT_GT(share, 0u);
    // Beside them lies the table of all ranks' regions (2048 entries of 16 bytes each), and on the host much more.
    const std::size_t table = std::size_t{2048} * 16 * static_cast<std::size_t>(size());
    EXPECT_GE(info_of(fresh.get()).host_bytes, share + table);
}

/// If one rank may not be reached directly, all go through host memory, and all know which rank it is.
TEST_F(Explain, P2pOffOnOneRankIsOffOnAll) {
    baton_config config = default_config();
    const int refuses = size() - 1;
    if (rank() == refuses) config.p2p = BATON_P2P_OFF;
    Communicator refused(MPI_COMM_WORLD, &config);
    const baton_info info = info_of(refused);
    EXPECT_EQ(info.single_copy, 0);
    EXPECT_EQ(info.peer_access, 0);
    if (std::getenv("BATON_P2P") == nullptr) {
        EXPECT_NE(std::string(info.reach).find("rank " + std::to_string(refuses)), std::string::npos) << info.reach;
    }
    char text[1024];
    for (const baton_operation operation : {BATON_ALLGATHER, BATON_ALLREDUCE, BATON_SEND}) {
        ASSERT_OK(
            baton_explain(refused, operation, 1 << 20, BATON_FLOAT32, BATON_SUM, nullptr, nullptr, text, sizeof(text)));
        EXPECT_NE(std::string(text).find(info.reach), std::string::npos) << text;
    }
    expect_works(refused);
}

TEST_F(Explain, InfoCountsRegions) {
    std::size_t published = 0;
    const auto regions = [&] {
        const baton_info info = info_of(comm());
        // Where GPUs do not reach each other, what baton_malloc gives is this rank's own.
        published = info.on_gpu && !info.peer_access ? 0 : 1;
        return info.regions;
    };
    const std::size_t before = regions();
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(comm(), 10000, &memory));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0u);
    EXPECT_EQ(regions(), before + published);
    ASSERT_OK(baton_free(comm(), memory));
    EXPECT_EQ(regions(), before);
}

/// Registration never changes results, however often it is done.
TEST_F(Explain, RegisterIsCounted) {
    Buffer buffer(comm(), 100000);
    Stream stream(comm(), Stream::Kind::own);
    const baton_result first = baton_register(comm(), buffer.data(), buffer.size());
    if (first == BATON_ERR_UNSUPPORTED) {
        EXPECT_GT(std::strlen(baton_last_error()), 0u);
    } else {
        EXPECT_OK(first);
        EXPECT_OK(baton_register(comm(), buffer.at(50), 1000));
    }
    buffer.upload(make_input(BATON_INT32, BATON_SUM, 9, rank(), 25000));
    ASSERT_OK(baton_allreduce(BATON_IN_PLACE, buffer.data(), 25000, BATON_INT32, BATON_SUM, comm(), stream));
    stream.synchronize();
    EXPECT_TRUE(same_bytes(reduce_inputs(BATON_INT32, BATON_SUM, 9, size(), 25000), buffer.download(), BATON_INT32));
    if (first != BATON_SUCCESS) return;
    EXPECT_OK(baton_deregister(comm(), buffer.data()));
    EXPECT_OK(baton_deregister(comm(), buffer.data()));
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_deregister(comm(), buffer.data()));
}

/// Memory of baton_malloc has a registration that nobody asked for, which only baton_free ends.
TEST_F(Explain, TheRegistrationFromBirthIsNotCounted) {
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(comm(), 10000, &memory));
    const std::size_t regions = info_of(comm()).regions;
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_deregister(comm(), memory), "baton_deregister", "not registered");
    const baton_result first = baton_register(comm(), memory, 10000);
    if (first != BATON_ERR_UNSUPPORTED) {
        EXPECT_OK(first);
        EXPECT_OK(baton_deregister(comm(), memory));
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_deregister(comm(), memory), "not registered");
    }
    EXPECT_EQ(info_of(comm()).regions, regions);
    EXPECT_OK(baton_free(comm(), memory));
}

}  // namespace
}  // namespace baton::test
