#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "expected.hpp"
#include "thread_ranks.hpp"
#include "transport/element/reduce.hpp"

namespace baton::test {
namespace {

using core::Communicator;

class ThreadCollectives : public testing::TestWithParam<std::tuple<int, HostWay>> {
protected:
    ThreadConfig config() const { return thread_config(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

constexpr std::size_t sizes[] = {0, 1, 3, 13, 1000, 8192, 8200, 40001};

TEST_P(ThreadCollectives, AllgatherMovesEveryByte) {
    const int n = config().size;
    with_ranks(config(), [&](Communicator &comm) {
        std::uint64_t seed = test_seed();
        for (const std::size_t count : sizes) {
            const auto inputs = all_patterns(++seed, n, count);
            std::vector<std::byte> expected;
            for (const auto &input : inputs) expected.insert(expected.end(), input.begin(), input.end());
            std::vector<std::byte> recv(count * static_cast<std::size_t>(n), std::byte{0xEE});
            std::vector<std::byte> send = inputs[static_cast<std::size_t>(comm.rank())];
            allgather(comm, send.data(), recv.data(), count, BATON_UINT8);
            std::ranges::fill(send, std::byte{0});  // the caller's again
            EXPECT_TRUE(equal_bytes(expected, recv)) << "rank " << comm.rank() << " count " << count;

            std::vector<std::byte> place(recv.size(), std::byte{0xEE});
            if (count > 0) {
                std::memcpy(place.data() + static_cast<std::size_t>(comm.rank()) * count,
                            inputs[static_cast<std::size_t>(comm.rank())].data(), count);
            }
            allgather(comm, BATON_IN_PLACE, place.data(), count, BATON_UINT8);
            EXPECT_TRUE(equal_bytes(expected, place)) << "in place, rank " << comm.rank() << " count " << count;
        }
    });
}

TEST_P(ThreadCollectives, AlltoallMovesEveryBlock) {
    const auto n = static_cast<std::size_t>(config().size);
    with_ranks(config(), [&](Communicator &comm) {
        std::uint64_t seed = test_seed();
        const auto rank = static_cast<std::size_t>(comm.rank());
        for (const std::size_t count : sizes) {
            const auto inputs = all_patterns(++seed, config().size, n * count);
            std::vector<std::byte> expected;
            for (const auto &input : inputs) {
                const auto block = input.begin() + static_cast<std::ptrdiff_t>(rank * count);
                expected.insert(expected.end(), block, block + static_cast<std::ptrdiff_t>(count));
            }
            std::vector<std::byte> recv(n * count, std::byte{0xEE});
            std::vector<std::byte> send = inputs[rank];
            alltoall(comm, send.data(), recv.data(), count, BATON_UINT8);
            std::ranges::fill(send, std::byte{0});  // the caller's again
            EXPECT_TRUE(equal_bytes(expected, recv)) << "rank " << rank << " count " << count;

            std::vector<std::byte> place = inputs[rank];
            alltoall(comm, BATON_IN_PLACE, place.data(), count, BATON_UINT8);
            EXPECT_TRUE(equal_bytes(expected, place)) << "in place, rank " << rank << " count " << count;
        }
    });
}

/// The last size is relayed in several steps.
TEST_P(ThreadCollectives, BroadcastReachesEverybodyFromEveryRoot) {
    with_ranks(config(), [&](Communicator &comm) {
        std::uint64_t seed = test_seed();
        for (const std::size_t count : {0, 1, 13, 1000, 8192, 8200, 40001, 3 * 1024 * 1024 + 77}) {
            const int stride = count > 100000 ? 3 : 1;
            for (int root = 0; root < config().size; root += stride) {
                const auto data = pattern(++seed, root, count);
                const bool is_root = comm.rank() == root;
                std::vector<std::byte> recv(count, std::byte{0xEE});
                broadcast(comm, is_root ? data.data() : nullptr, recv.data(), count, BATON_UINT8, root);
                EXPECT_TRUE(equal_bytes(data, recv))
                    << "rank " << comm.rank() << " count " << count << " root " << root;

                std::vector<std::byte> place(count, std::byte{0xEE});
                if (is_root) place = data;
                broadcast(comm, BATON_IN_PLACE, place.data(), count, BATON_UINT8, root);
                EXPECT_TRUE(equal_bytes(data, place))
                    << "in place, rank " << comm.rank() << " count " << count << " root " << root;
            }
        }
    });
}

TEST_P(ThreadCollectives, ReduceScatterCombinesInRankOrder) {
    const auto n = static_cast<std::size_t>(config().size);
    with_ranks(config(), [&](Communicator &comm) {
        std::uint64_t seed = test_seed();
        const auto rank = static_cast<std::size_t>(comm.rank());
        for (const baton_type type : {BATON_FLOAT32, BATON_INT8, BATON_BFLOAT16, BATON_UINT64}) {
            const std::size_t width = baton_type_size(type);
            for (const std::size_t count : sizes) {
                const auto inputs = all_patterns(++seed, config().size, count * n * width);
                const auto expected = expected_reduction(inputs, count, type, BATON_SUM, rank * count);
                std::vector<std::byte> recv(count * width, std::byte{0xEE});
                reduce_scatter(comm, inputs[rank].data(), recv.data(), count, type, BATON_SUM);
                EXPECT_TRUE(equal_bytes(expected, recv))
                    << "rank " << rank << " count " << count << " " << baton_type_name(type);

                std::vector<std::byte> place = inputs[rank];
                reduce_scatter(comm, BATON_IN_PLACE, place.data(), count, type, BATON_SUM);
                EXPECT_TRUE(equal_bytes(expected, std::span(place).first(expected.size())))
                    << "in place, rank " << rank << " count " << count << " " << baton_type_name(type);
            }
        }
    });
}

TEST_P(ThreadCollectives, AllreduceGivesTheSameBitsEverywhere) {
    with_ranks(config(), [&](Communicator &comm) {
        std::uint64_t seed = test_seed();
        const auto rank = static_cast<std::size_t>(comm.rank());
        for (int index = 0; index < BATON_TYPE_COUNT; ++index) {
            const auto type = static_cast<baton_type>(index);
            for (int op = 0; op < BATON_OP_COUNT; ++op) {
                if (!core::op_defined(type, static_cast<baton_op>(op))) continue;
                for (const std::size_t count : {std::size_t{0}, std::size_t{7}, std::size_t{3001}}) {
                    const auto inputs = all_patterns(++seed, config().size, count * baton_type_size(type));
                    const auto expected = expected_reduction(inputs, count, type, static_cast<baton_op>(op));
                    std::vector<std::byte> recv(inputs[rank].size(), std::byte{0xEE});
                    allreduce(comm, inputs[rank].data(), recv.data(), count, type, static_cast<baton_op>(op));
                    const std::vector<std::byte> found = recv;
                    std::ranges::fill(recv, std::byte{0});  // the caller's again
                    EXPECT_TRUE(equal_bytes(expected, found))
                        << "rank " << rank << " count " << count << " " << baton_type_name(type) << " "
                        << baton_op_name(static_cast<baton_op>(op));
                    std::vector<std::byte> place = inputs[rank];
                    allreduce(comm, place.data(), place.data(), count, type, static_cast<baton_op>(op));
                    EXPECT_TRUE(equal_bytes(expected, place)) << "in place";
                }
            }
        }
    });
}

TEST_P(ThreadCollectives, BarrierHoldsEverybody) {
    std::atomic<int> inside{0};
    const int n = config().size;
    with_ranks(config(), [&](Communicator &comm) {
        for (int round = 1; round <= 50; ++round) {
            inside.fetch_add(1);
            barrier(comm);
            EXPECT_GE(inside.load(), round * n);
            barrier(comm);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Host, ThreadCollectives,
                         testing::Combine(testing::Values(1, 2, 3, 4, 8),
                                          testing::Values(HostWay::pull, HostWay::push, HostWay::staged)),
                         [](const auto &instance) {
                             return std::to_string(std::get<0>(instance.param)) + "Ranks" +
                                    name_of(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace baton::test
