// Where the host stages, memory that all ranks have mapped is copied straight. Each rank may use another kind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "collective_case.hpp"

namespace baton::test {
namespace {

/// A tuning that stages everything, and sends long messages in packets.
std::string staged_tables() {
    std::string operations;
    for (const char *name : {"allgather", "alltoall", "reduce_scatter", "allreduce", "broadcast"})
        operations += fmt::format("\"{}\": [{{\"algorithm\": \"staged\", \"mover\": \"host\"}}], ", name);
    operations += "\"send\": [{\"algorithm\": \"packet\", \"mover\": \"host\"}]";
    return fmt::format(
        R"({{"version": 1, "tables": [{{"gpu": "host", "link": "shared memory", "ranks": {}, "operations": {{{}}}}}]}})",
        world_size(), operations);
}

class MappedMemory : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string tables = staged_tables();
        baton_config config;
        baton_config_init(&config);
        config.tuning = tables.c_str();
        comm_ = std::make_unique<Communicator>(MPI_COMM_WORLD, &config);
        if (on_gpu(*comm_)) GTEST_SKIP() << "for the host";
        streams_.push_back(std::make_unique<Stream>(*comm_, Stream::Kind::null));
        streams_.push_back(std::make_unique<Stream>(*comm_, Stream::Kind::own));
    }
    void TearDown() override {
        streams_.clear();
        comm_.reset();
    }

    /// Whose buffers are mapped: 0 all ranks'; 1 nobody's; 2 those of all ranks but one; 3 every second rank's, in
    /// turns; 4 all send buffers, and the recv buffers of all ranks but one; 5 the other way round.
    static constexpr int kinds = 6;
    Memory memory(int kind, int turn) const {
        const bool all_but_one = turn % comm_->size() != comm_->rank();
        const bool mapped = kind == 0 || kind == 4 || ((kind == 2 || kind == 5) && all_but_one) ||
                            (kind == 3 && (turn + comm_->rank()) % 2 == 0);
        return mapped ? Memory::baton : Memory::plain;
    }
    std::optional<Memory> recv_memory(int kind, int turn) const {
        if (kind < 4) return std::nullopt;
        return memory(kind == 4 ? 5 : 4, turn);
    }
    /// Whether mapped memory is staged too.
    bool goes_through_staging_only() const {
        return std::string(info_of(*comm_).reach).find("p2p is off") != std::string::npos;
    }
    Stream &stream(int turn) { return *streams_[static_cast<std::size_t>(turn) % 2]; }

    std::unique_ptr<Communicator> comm_;
    std::vector<std::unique_ptr<Stream>> streams_;
};

TEST_F(MappedMemory, Collectives) {
    int turn = 0;
    for (const baton_operation operation : collective_operations) {
        for (const Placement placement : {Placement::separate, Placement::equal_pointers, Placement::in_place}) {
            if (placement == Placement::in_place && operation == BATON_BROADCAST) continue;
            for (const std::size_t count : {1u, 5003u, 200003u}) {
                for (int kind = 0; kind < kinds; ++kind) {
                    CollectiveCase c;
                    c.operation = operation;
                    c.type = BATON_INT32;
                    c.count = count;
                    c.placement = placement;
                    c.memory = memory(kind, ++turn);
                    c.recv_memory = recv_memory(kind, turn);
                    c.recv_offset = 4;
                    c.seed = environment().seed + static_cast<std::uint64_t>(turn);
                    c.root = turn;
                    run_case(c, *comm_, stream(turn));
                    if (HasFailure()) return;
                }
            }
        }
    }
}

/// Round a ring. The sender alone decides how.
TEST_F(MappedMemory, Messages) {
    const int n = comm_->size();
    const int next = (comm_->rank() + 1) % n;
    const int before = (comm_->rank() + n - 1) % n;
    int turn = 0;
    for (const std::size_t count : {1u, 16384u, 20000u, 300007u}) {
        for (int kind = 0; kind < kinds; ++kind) {
            const std::uint64_t seed = environment().seed + static_cast<std::uint64_t>(++turn);
            Buffer send(*comm_, count * 4, memory(kind, turn));
            Buffer recv(*comm_, count * 4, memory(kind, turn + 1), 4);
            send.upload(make_input(BATON_INT32, BATON_SUM, seed, comm_->rank(), count));
            ASSERT_OK(baton_sendrecv(send.data(), count, next, recv.data(), count, before, BATON_INT32, *comm_,
                                     stream(turn)));
            stream(turn).synchronize();
            EXPECT_TRUE(
                same_bytes(make_input(BATON_INT32, BATON_SUM, seed, before, count), recv.download(), BATON_INT32))
                << count << " elements, kind " << kind << ", seed " << seed;
            EXPECT_TRUE(recv.guards_intact());
            if (HasFailure()) return;
        }
    }
}

/// Shown by pages that their owner may not read during the call: peers read them through mappings of their own, while
/// staging would begin with the owner's copy.
TEST_F(MappedMemory, AllgatherInPlaceIsCopiedStraight) {
    if (world_size() < 2 || goes_through_staging_only()) GTEST_SKIP() << "nothing is copied straight";
    constexpr std::size_t page = 4096, block = 20 * page;
    const CollectiveCase c{
        .operation = BATON_ALLGATHER, .type = BATON_UINT8, .count = block, .seed = environment().seed};
    for (const bool says_in_place : {true, false}) {
        void *memory = nullptr;
        ASSERT_OK(baton_malloc(*comm_, block * static_cast<std::size_t>(world_size()), &memory));
        std::byte *const own = static_cast<std::byte *>(memory) + block * static_cast<std::size_t>(world_rank());
        const Bytes input = collective_input(c, world_rank(), world_size());
        std::memcpy(own, input.data(), input.size());
        // The call looks at the first and the last byte of a buffer itself.
        ASSERT_EQ(::mprotect(own + page, block - 2 * page, PROT_NONE), 0) << std::strerror(errno);
        const void *const send = says_in_place ? BATON_IN_PLACE : own;
        EXPECT_OK(baton_allgather(send, memory, block, BATON_UINT8, *comm_, nullptr));
        ASSERT_EQ(::mprotect(own + page, block - 2 * page, PROT_READ | PROT_WRITE), 0);
        const Bytes expected = collective_output(c, world_rank(), world_size());
        EXPECT_EQ(std::memcmp(memory, expected.data(), expected.size()), 0) << "BATON_IN_PLACE: " << says_in_place;
        EXPECT_OK(baton_free(*comm_, memory));
    }
}

TEST_F(MappedMemory, IsExplained) {
    char text[1000];
    ASSERT_OK(
        baton_explain(*comm_, BATON_ALLREDUCE, 100000, BATON_INT32, BATON_SUM, nullptr, nullptr, text, sizeof(text)));
    EXPECT_THAT(text, ::testing::HasSubstr("staged by host"));
    const auto straight = ::testing::HasSubstr("memory of baton_malloc and windows is copied straight");
    if (world_size() > 1 && !goes_through_staging_only()) {
        EXPECT_THAT(text, straight);
    } else {
        EXPECT_THAT(text, ::testing::Not(straight));
    }
}

}  // namespace
}  // namespace baton::test
