// The collectives: every type and operation, sizes around every limit, in place, misaligned.
#include <cstdlib>
#include <string_view>

#include "collective_case.hpp"

namespace baton::test {
namespace {

class BroadcastArguments : public CommTest {};

class CollectivePlans : public ::testing::Test {};

class Collectives : public CommTest, public ::testing::WithParamInterface<baton_operation> {
protected:
    void run(CollectiveCase c) {
        Stream &stream = ++calls_ % 2 == 0 ? *null_ : *own_;
        c.operation = GetParam();
        c.seed = environment().seed + static_cast<std::uint64_t>(calls_);
        c.root = calls_;
        run_case(c, comm(), stream);
    }
    void SetUp() override {
        CommTest::SetUp();
        null_ = std::make_unique<Stream>(comm(), Stream::Kind::null);
        own_ = std::make_unique<Stream>(comm(), Stream::Kind::own);
    }
    void TearDown() override {
        own_.reset();
        null_.reset();
        CommTest::TearDown();
    }

    /// Whether to run fewer of the large cases, of the same kinds: for eight ranks on few cores, or slow code
    /// (BATON_TEST_QUICK).
    bool few_large_cases() const { return size() > 4 || std::getenv("BATON_TEST_QUICK") != nullptr; }

    static bool has(baton_type type, baton_op op) {
        return is_defined(op, type) && (reduces(GetParam()) || op == BATON_SUM);
    }

    std::unique_ptr<Stream> null_, own_;
    int calls_ = 0;
};

TEST_P(Collectives, EveryTypeAndOperation) {
    for (baton_type type : all_types)
        for (baton_op op : all_ops) {
            if (!has(type, op)) continue;
            for (std::size_t count : {1, 37}) {
                run({.type = type, .op = op, .count = count});
                if (HasFailure()) return;
            }
        }
}

TEST_P(Collectives, EveryTypeAndOperationLarge) {
    int turn = 0;
    for (baton_type type : all_types)
        for (baton_op op : all_ops) {
            if (!has(type, op)) continue;
            // Above any packet limit per rank. With many ranks one operation for each type, in turns.
            if (few_large_cases() && turn++ % 4 != 0) continue;
            run({.type = type, .op = op, .count = 70001 / width_of(type) + 1000});
            if (HasFailure()) return;
        }
}

TEST_P(Collectives, SizesAroundTheLimits) {
    const baton_type types[] = {BATON_INT8, BATON_FLOAT16, BATON_FLOAT32, BATON_FLOAT64};
    for (baton_type type : types) {
        const std::size_t packet = 65536 / width_of(type);
        for (std::size_t count :
             {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{15}, std::size_t{127},
              std::size_t{1009}, packet / 8 - 1, packet / 8 + 1, packet - 1, packet, packet + 1}) {
            run({.type = type, .count = count});
            if (HasFailure()) return;
        }
    }
}

TEST_P(Collectives, MegabytesAndOdd) {
    for (baton_type type : {BATON_UINT8, BATON_BFLOAT16, BATON_INT32, BATON_FLOAT64}) {
        if (few_large_cases() && type != BATON_INT32) continue;
        for (std::size_t bytes : {std::size_t{1} << 20, (std::size_t{3} << 20) + 56}) {
            const bool large = bytes > std::size_t{1} << 20;
            if (GetParam() != BATON_ALLREDUCE && large && (type != BATON_INT32 || few_large_cases())) continue;
            run({.type = type, .count = bytes / width_of(type) + 3});
            if (HasFailure()) return;
        }
    }
}

/// What copy engines push to be combined comes in pieces of at least 4 MiB, after a head (collectives/pushed.hpp).
TEST_P(Collectives, InSeveralPieces) {
    const char *transport = std::getenv("BATON_TRANSPORT");
    const bool by_copy_engines = transport != nullptr && std::string_view(transport) == "copy_engine";
    if (!reduces(GetParam()) || !by_copy_engines || few_large_cases()) GTEST_SKIP() << "other tests have all others";
    const std::size_t parts = GetParam() == BATON_ALLREDUCE ? static_cast<std::size_t>(size()) : 1;
    const std::size_t count = parts * (20 << 18) + 3;
    for (const Placement placement : {Placement::separate, Placement::separate, Placement::in_place})
        run({.type = BATON_FLOAT32, .count = count, .placement = placement});
    run({.type = BATON_BFLOAT16, .count = 2 * count, .send_offset = 32, .recv_offset = 16});
}

TEST_P(Collectives, InPlace) {
    for (Placement placement : {Placement::equal_pointers, Placement::in_place})
        for (Memory memory : {Memory::plain, Memory::baton})
            for (std::size_t count : {0, 1, 5, 1021, 16384, 20011, 300007}) {
                if (few_large_cases() && count > 100000 && memory == Memory::baton) continue;
                run({.type = BATON_FLOAT32, .count = count, .placement = placement, .memory = memory});
                if (few_large_cases() && count > 100000) continue;
                run({.type = BATON_INT16, .op = BATON_MAX, .count = count, .placement = placement, .memory = memory});
                if (HasFailure()) return;
            }
}

TEST_P(Collectives, BatonMemory) {
    for (std::size_t count : {0, 1, 4095, 65537, few_large_cases() ? 100003 : 500009})
        run({.count = count, .memory = Memory::baton});
}

TEST_P(Collectives, EveryAlignmentOfBytes) {
    for (std::size_t offset = 0; offset <= 16; ++offset)
        for (std::size_t count : {1, 15, 100, 70001}) {
            if (few_large_cases() && count == 70001 && offset % 4 != 1) continue;
            run({.type = BATON_UINT8, .count = count, .send_offset = offset, .recv_offset = (3 * offset + 1) % 17});
            if (HasFailure()) return;
        }
}

TEST_P(Collectives, NaturalAlignment) {
    for (baton_type type : {BATON_FLOAT16, BATON_INT32, BATON_FLOAT64})
        for (std::size_t elements = 1; elements * width_of(type) <= 16; ++elements) {
            const std::size_t offset = elements * width_of(type);
            for (std::size_t count : {7, 1001, few_large_cases() && elements > 1 ? 3333 : 33333})
                run({.type = type, .count = count, .send_offset = offset, .recv_offset = 16 - offset});
            if (HasFailure()) return;
        }
}

/// The ranks' buffers need not be aligned alike.
TEST_P(Collectives, AlignmentThatDiffersByRank) {
    for (std::size_t count : {17, 9001, 80003}) {
        const std::size_t mine = static_cast<std::size_t>(rank());
        run({.type = BATON_UINT8, .count = count, .send_offset = mine * 3 % 16, .recv_offset = mine * 5 % 16});
        run({.type = BATON_FLOAT32, .count = count, .send_offset = mine % 4 * 4, .recv_offset = (mine + 1) % 4 * 4});
    }
}

TEST_P(Collectives, ZeroCountTakesNullPointers) {
    CollectiveCase c{.operation = GetParam(), .count = 0};
    EXPECT_OK(issue(c, nullptr, nullptr, comm(), *null_));
    null_->synchronize();
    expect_works(comm());
}

/// Many calls are in flight at once; results are looked at only at the end.
TEST_P(Collectives, ManyInFlight) {
    std::vector<std::unique_ptr<CollectiveRun>> runs;
    Random random(environment().seed);
    for (int i = 0; i < 40; ++i) {
        const CollectiveCase c{.operation = GetParam(),
                               .type = i % 2 == 0 ? BATON_FLOAT32 : BATON_BFLOAT16,
                               .count = random.below(i % 10 == 0 ? 100000 : 3000),
                               .placement = static_cast<Placement>(random.below(3)),
                               .seed = random.next(),
                               .root = i};
        runs.push_back(std::make_unique<CollectiveRun>(c, comm()));
    }
    for (auto &run : runs) run->start(*own_);
    own_->synchronize();
    for (auto &run : runs) run->verify();
}

/// The bits are the same, whatever algorithm the limits make selection choose.
TEST_F(CollectivePlans, GiveTheSameBits) {
    for (std::size_t packet_limit : {std::size_t{0}, std::size_t{1024}, std::size_t{65536}})
        for (std::size_t segment : {std::size_t{16384}, std::size_t{1048576}}) {
            baton_config config = default_config();
            config.packet_limit = packet_limit;
            config.segment_bytes = segment;
            config.copy_engine_limit = packet_limit * 4;
            Communicator other(MPI_COMM_WORLD, &config);
            Stream stream(other, Stream::Kind::own);
            for (baton_operation operation : collective_operations)
                for (std::size_t count : {0, 1, 333, 9001, 60013})
                    run_case({.operation = operation, .type = BATON_FLOAT32, .count = count, .seed = 5, .root = 1},
                             other, stream);
            if (any_rank(HasFailure())) return;
        }
}

/// Only the root's sendbuf is looked at, even if it is the marker.
TEST_F(BroadcastArguments, OthersNeedNoSendbuf) {
    for (std::size_t count : {100, 100003}) {
        const CollectiveCase c{.operation = BATON_BROADCAST, .count = count, .root = size() - 1};
        const Bytes data = collective_output(c, rank(), size());
        for (const void *elsewhere : {BATON_IN_PLACE, static_cast<const void *>(nullptr)}) {
            Buffer buffer(comm(), data.size());
            Stream stream(comm(), Stream::Kind::own);
            const bool root = rank() == size() - 1;
            if (root) buffer.upload(data);
            ASSERT_OK(issue(c, root ? buffer.data() : elsewhere, buffer.data(), comm(), stream));
            stream.synchronize();
            EXPECT_TRUE(same_bytes(data, buffer.download(), c.type)) << c;
            EXPECT_TRUE(buffer.guards_intact());
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Collectives, ::testing::ValuesIn(collective_operations),
                         [](const auto &param) { return baton_operation_name(param.param); });

}  // namespace
}  // namespace baton::test
