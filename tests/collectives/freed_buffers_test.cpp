// A peer that waits for nothing from this rank except its arrival may have ended the operation and freed its memory:
// its buffers must not be looked up.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "host_node.hpp"

namespace baton::test {
namespace {

using core::Algorithm;

constexpr int ranks = 4;

struct Case {
    const char *name;
    baton_operation operation;
    Algorithm algorithm;
    std::size_t count;  // bytes of a block, or of the buffer
    std::vector<int> island_of_rank;
    /// Whether `reader` may look up the buffers of `owner`, because `owner` waits for it before it ends the operation.
    bool (*is_there)(int reader, int owner);
    bool names_input = true;
};
void PrintTo(const Case &one, std::ostream *out) { *out << one.name; }

constexpr int root = 1;
bool the_root_is(int /*reader*/, int owner) { return owner == root; }
bool for_the_root(int reader, int /*owner*/) { return reader == root; }
bool but_the_root(int reader, int owner) { return reader == root || owner != root; }
bool behind_the_reader(int reader, int owner) { return owner == (reader + 1) % ranks && owner != root; }
bool nobody(int /*reader*/, int /*owner*/) { return false; }
bool for_the_first_of_islands(int reader, int /*owner*/) { return reader < 2; }  // 0 | 1 2 3
bool for_even_ranks(int reader, int /*owner*/) { return reader % 2 == 0; }       // 0 1 | 2 3

class FreedBuffers : public testing::TestWithParam<Case> {};

TEST_P(FreedBuffers, AreNotLookedUp) {
    const Case &one = GetParam();
    const bool scatters = one.operation == BATON_REDUCE_SCATTER;
    const std::size_t input = scatters ? one.count * ranks : one.count;
    // A region for each rank: its input, then its result.
    std::vector<std::vector<std::byte>> memories(ranks, std::vector<std::byte>(input + one.count + 1));
    HostNode node(ranks, 4096);
    for (int owner = 0; owner < ranks; ++owner) {
        std::byte *const base = memories[static_cast<std::size_t>(owner)].data();
        for (std::size_t at = 0; at < input; ++at)
            base[at] = static_cast<std::byte>(at * 7 + static_cast<std::size_t>(owner));
        for (int reader = 0; reader < ranks; ++reader) {
            // Another region has taken the slot of the memory that is gone.
            const std::uint64_t generation = one.is_there(reader, owner) ? 1 : 2;
            node.region(reader, owner) = {reinterpret_cast<std::uint64_t>(base), generation};
        }
    }
    core::Links links;
    if (!one.island_of_rank.empty()) links.shape = core::Links::Shape::islands;
    links.island_of_rank = one.island_of_rank;
    node.with_ranks(links, [&](const HostNode::Rank &rank) {
        std::byte *const send = memories[static_cast<std::size_t>(rank.view.rank)].data();
        core::Request request;
        request.operation = one.operation;
        request.count = request.bytes = one.count;
        request.root = one.operation == BATON_BROADCAST ? root : 0;
        core::CollectiveArgs args;
        args.arrival = HostNode::Rank::arrival(request, nullptr, nullptr);
        args.arrival.send = one.names_input ? core::BufferRef::in_region({0, 1}, 0) : core::BufferRef{};
        args.arrival.recv = core::BufferRef::in_region({0, 1}, input);
        args.send = send;
        args.recv = send + input;
        args.bytes = one.count;
        args.root = request.root;
        rank.executor.collective(request, {.algorithm = one.algorithm}, args, nullptr);
        EXPECT_EQ(*rank.view.own().epoch(0), 1U) << "rank " << rank.view.rank;
    });
    for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(node.control(rank).recorded, 0U) << "rank " << rank;
        for (std::size_t at = 0; at < one.count; ++at) {
            const std::size_t place = (scatters ? static_cast<std::size_t>(rank) * one.count : 0) + at;
            unsigned expected = 0;
            for (int of = 0; of < ranks; ++of) {
                if (one.operation != BATON_BROADCAST || of == root)
                    expected += static_cast<unsigned>(memories[static_cast<std::size_t>(of)][place]);
            }
            ASSERT_EQ(memories[static_cast<std::size_t>(rank)][input + at], static_cast<std::byte>(expected))
                << "rank " << rank << ", byte " << at;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Host, FreedBuffers,
    testing::Values(
        Case{"Push", BATON_BROADCAST, Algorithm::push, 1000, {}, for_the_root},
        Case{"PushRelayed", BATON_BROADCAST, Algorithm::push, 4 << 20, {}, but_the_root},
        Case{"Pull", BATON_BROADCAST, Algorithm::pull, 100000, {}, the_root_is},
        Case{"Pipeline", BATON_BROADCAST, Algorithm::pipeline, 100000, {}, behind_the_reader},
        Case{"PipelineOfNothing", BATON_BROADCAST, Algorithm::pipeline, 0, {}, nobody},
        Case{"StagedFromMappedMemory", BATON_BROADCAST, Algorithm::staged, 100000, {}, the_root_is},
        Case{"Staged", BATON_BROADCAST, Algorithm::staged, 100000, {}, nobody, false},
        Case{"Packets", BATON_ALLREDUCE, Algorithm::packet, 64, {}, nobody},
        Case{"AllreduceWithoutALane",
             BATON_ALLREDUCE,
             Algorithm::two_level,
             10000,
             {0, 1, 1, 1},
             for_the_first_of_islands},
        Case{"AllreduceInAnEmptyLane", BATON_ALLREDUCE, Algorithm::two_level, 8, {0, 0, 1, 1}, for_even_ranks},
        Case{"AllreduceChainOfNothing", BATON_ALLREDUCE, Algorithm::chain, 0, {}, nobody},
        Case{"ReduceScatterChainOfNothing", BATON_REDUCE_SCATTER, Algorithm::chain, 0, {}, nobody},
        Case{"ReduceScatterWithoutALane",
             BATON_REDUCE_SCATTER,
             Algorithm::two_level,
             10000,
             {0, 1, 1, 1},
             for_the_first_of_islands},
        Case{
            "ReduceScatterInAnEmptyLane", BATON_REDUCE_SCATTER, Algorithm::two_level, 8, {0, 0, 1, 1}, for_even_ranks}),
    [](const auto &instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace baton::test
