// Algorithms that take the links into account, over random rings and islands: right, with the same bits as the others.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include "collectives/broadcast/pipeline.hpp"
#include "expected.hpp"
#include "host_node.hpp"
#include "thread_ranks.hpp"
#include "transport/host/engine.hpp"

namespace baton::test {
namespace {

using core::Algorithm;
using core::Links;

Algorithm algorithm_for(baton_operation operation, const Links &links) {
    if (links.shape == Links::Shape::islands) return Algorithm::two_level;
    return core::reduces(operation) ? Algorithm::chain : Algorithm::ring;
}

Links ring_of(const std::vector<int> &order) {
    Links links;
    links.shape = Links::Shape::ring;
    links.ring = order;
    return links;
}
Links islands_of(const std::vector<int> &island) {
    Links links;
    links.shape = Links::Shape::islands;
    links.island_of_rank = island;
    return links;
}

Links all_alike() {
    Links links;
    links.all_alike = true;
    return links;
}

/// Many ranks on few cores, or slow code (BATON_TEST_QUICK): fewer cases of a kind.
bool are_many(int size) { return size > 4 || std::getenv("BATON_TEST_QUICK") != nullptr; }
int draws(int size) { return are_many(size) ? 1 : 3; }

/// In rank order, as reductions want it: the chain of all, two halves, and runs of any lengths.
std::vector<Links> ordered_links(int size, std::mt19937_64 &random) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> halves;
    for (const int rank : ranks) halves.push_back(2 * rank / size);
    std::vector<Links> all{ring_of(ranks), islands_of(halves)};
    for (int draw = 0; draw < draws(size); ++draw) {
        std::vector<int> runs{7};  // any number will do for an island
        while (runs.size() < ranks.size()) runs.push_back(runs.back() + static_cast<int>(random() % 2));
        if (runs.back() != runs.front()) all.push_back(islands_of(runs));
    }
    return all;
}

/// ordered_links(), and others that keep no order.
std::vector<Links> any_links(int size, std::mt19937_64 &random) {
    std::vector<Links> all = ordered_links(size, random);
    for (int draw = 0; draw < draws(size); ++draw) {
        std::vector<int> order(static_cast<std::size_t>(size));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin() + 1, order.end(), random);
        all.push_back(ring_of(order));
        std::vector<int> island;
        for (int rank = 0; rank < size; ++rank) island.push_back(static_cast<int>(random() % 3));
        island.back() = 3 - island.front();
        all.push_back(islands_of(island));
    }
    return all;
}

std::string text(const Links &links) {
    if (links.shape == Links::Shape::uniform) return links.all_alike ? "alike" : "not known";
    const bool ring = links.shape == Links::Shape::ring;
    return fmt::format("{} {}", ring ? "ring" : "islands", fmt::join(ring ? links.ring : links.island_of_rank, " "));
}

/// A buffer at any address, between two guards that nobody may touch.
class Guarded {
public:
    Guarded(std::size_t bytes, std::size_t offset) : offset_(guard + offset), bytes_(bytes) {
        memory_.assign(bytes + 2 * guard + offset, poison);
    }
    explicit Guarded(const std::vector<std::byte> &contents, std::size_t offset) : Guarded(contents.size(), offset) {
        std::copy(contents.begin(), contents.end(), data());
    }
    std::byte *data() { return memory_.data() + offset_; }
    std::vector<std::byte> contents() { return {data(), data() + bytes_}; }
    bool intact() const {
        const auto is_poison = [](std::byte byte) { return byte == poison; };
        const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(offset_);
        return std::all_of(memory_.begin(), begin, is_poison) &&
               std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_poison);
    }

private:
    static constexpr std::size_t guard = 64;
    static constexpr std::byte poison{0xE7};
    const std::size_t offset_;
    const std::size_t bytes_;
    std::vector<std::byte> memory_;
};

class Routes : public testing::TestWithParam<int> {
protected:
    int size() const { return GetParam(); }
    std::size_t ranks() const { return static_cast<std::size_t>(size()); }

    std::uint64_t seed_ = test_seed();
    std::mt19937_64 random_{seed_};
    HostNode node_{GetParam(), 4096};
};

TEST_P(Routes, AllgatherMovesEveryByte) {
    for (const Links &links : any_links(size(), random_)) {
        node_.with_ranks(links, [&](const HostNode::Rank &rank) {
            const auto me = static_cast<std::size_t>(rank.view.rank);
            std::uint64_t seed = seed_;
            for (const std::size_t bytes : {0, 1, 3, 13, 1000, 8192, 8200, 40001}) {
                const Buffers inputs = all_patterns(++seed, size(), bytes);
                std::vector<std::byte> expected;
                for (const auto &input : inputs) expected.insert(expected.end(), input.begin(), input.end());
                const auto run = [&](std::byte *send, std::byte *recv) {
                    return rank.run(BATON_ALLGATHER, algorithm_for(BATON_ALLGATHER, links), send, recv, bytes);
                };
                Guarded send(inputs[me], seed % 5), recv(bytes * ranks(), seed % 16);
                EXPECT_TRUE(run(send.data(), recv.data()));
                EXPECT_TRUE(equal_bytes(expected, recv.contents()))
                    << text(links) << ", rank " << me << ", " << bytes << " bytes";
                EXPECT_TRUE(recv.intact() && send.intact());

                Guarded place(bytes * ranks(), seed % 7);
                std::copy(inputs[me].begin(), inputs[me].end(), place.data() + me * bytes);
                EXPECT_TRUE(run(place.data() + me * bytes, place.data()));
                EXPECT_TRUE(equal_bytes(expected, place.contents())) << "in place";
                EXPECT_TRUE(place.intact());
            }
        });
    }
}

std::vector<core::Route> routes_of(const Links &links, int size) {
    std::vector<core::Route> routes;
    for (int rank = 0; rank < size; ++rank) routes.push_back(core::make_route(links, rank, size));
    return routes;
}

/// The ranks in a channel's order. If that does not come back to the root, fails the test and returns no ranks.
std::vector<int> pipeline_order(const std::vector<core::Route> &routes, int root, int channel) {
    const auto neighbours = [&](int rank) {
        return core::pipeline_neighbours(routes[static_cast<std::size_t>(rank)], root, channel);
    };
    std::vector<int> order;
    for (int rank = root; order.size() < routes.size();) {
        order.push_back(rank);
        const int next = neighbours(rank).after;
        EXPECT_EQ(neighbours(next).before, rank);
        if (next == root) return order;
        rank = next;
    }
    ADD_FAILURE() << "goes round without root " << root;
    return {};
}

TEST_P(Routes, APipelineComesToEveryRankAndIntoEveryGroupOnce) {
    std::vector<Links> all = any_links(size(), random_);
    all.push_back(all_alike());
    for (const Links &links : all) {
        const std::vector<core::Route> routes = routes_of(links, size());
        for (int root = 0; root < size(); ++root) {
            for (int channel = 0; channel <= size(); ++channel) {
                const std::vector<int> order = pipeline_order(routes, root, channel);
                EXPECT_EQ(order.size(), ranks()) << text(links) << ", root " << root << ", channel " << channel;
                int entered = order.empty() ? 0 : 1;
                for (std::size_t at = 1; at < order.size(); ++at) {
                    const auto group_at = [&](std::size_t of) {
                        return routes[static_cast<std::size_t>(order[of])].own_group;
                    };
                    entered += group_at(at) != group_at(at - 1) ? 1 : 0;
                }
                EXPECT_EQ(entered, static_cast<int>(routes[0].groups)) << text(links) << ", root " << root;
            }
        }
    }
}

TEST_P(Routes, WhereLinksAreAlikeEveryRankHasEveryPlaceBehindTheRoot) {
    const std::vector<core::Route> routes = routes_of(all_alike(), size());
    for (int root = 0; root < size(); ++root) {
        std::vector<std::set<int>> ranks_at(ranks());
        for (int channel = 0; channel < size() - 1; ++channel) {
            const std::vector<int> order = pipeline_order(routes, root, channel);
            for (std::size_t place = 0; place < order.size(); ++place) ranks_at[place].insert(order[place]);
        }
        for (std::size_t place = 1; place < ranks(); ++place)
            EXPECT_EQ(ranks_at[place].size(), ranks() - 1) << "place " << place << ", root " << root;
    }
}

TEST_P(Routes, ChannelsFollowLinksThatAreNotAlike) {
    std::vector<Links> all = any_links(size(), random_);
    all.push_back({});  // and links of which nothing is known
    for (const Links &links : all) {
        const std::vector<core::Route> routes = routes_of(links, size());
        for (int root = 0; root < size(); ++root)
            EXPECT_EQ(pipeline_order(routes, root, 0), pipeline_order(routes, root, 1)) << text(links);
    }
}

/// What is left for segments begins where copies of large parts begin, and is most of the part.
TEST(PipelineHead, IsAtMostAFourthOfAPart) {
    for (const std::uint64_t bytes :
         {0ULL, 1ULL, 511ULL, 512ULL, 100000ULL, 524287ULL, 524288ULL, 600001ULL, 1ULL << 30}) {
        const std::uint64_t head = core::pipeline_head(bytes);
        EXPECT_EQ(head % core::copy_granule, 0U) << bytes;
        EXPECT_LE(head, std::min(bytes / 4, core::longest_pipeline_head)) << bytes;
        EXPECT_GT(head + core::copy_granule, std::min(bytes / 4, core::longest_pipeline_head)) << bytes;
    }
}

/// From every root; from one of them in several segments too.
TEST_P(Routes, BroadcastReachesEverybody) {
    for (const Links &links : any_links(size(), random_)) {
        node_.with_ranks(links, [&](const HostNode::Rank &rank) {
            const int me = rank.view.rank;
            std::uint64_t seed = seed_;
            for (int root = 0; root < size(); ++root) {
                std::vector<std::size_t> sizes{0, 1, 13, 8200};
                if (root == size() / 2) sizes.push_back(3 * core::longest_pipeline_segment - 5);
                for (const std::size_t bytes : sizes) {
                    const std::vector<std::byte> expected = all_patterns(++seed, 1, bytes)[0];
                    const auto run = [&](const std::byte *send, std::byte *recv) {
                        return rank.run(BATON_BROADCAST, Algorithm::pipeline, send, recv, bytes, BATON_UINT8, BATON_SUM,
                                        root);
                    };
                    Guarded send(expected, seed % 5), recv(bytes, seed % 16);
                    EXPECT_TRUE(run(send.data(), recv.data()));
                    EXPECT_TRUE(equal_bytes(expected, recv.contents()))
                        << text(links) << ", rank " << me << ", root " << root << ", " << bytes << " bytes";
                    EXPECT_TRUE(recv.intact() && send.intact());

                    Guarded place(bytes, seed % 7);
                    if (me == root) std::copy(expected.begin(), expected.end(), place.data());
                    EXPECT_TRUE(run(place.data(), place.data()));
                    EXPECT_TRUE(equal_bytes(expected, place.contents())) << "in place";
                    EXPECT_TRUE(place.intact());
                }
            }
        });
    }
}

/// A reduction, beside and in place, against the reference and a direct algorithm.
class Reduction {
public:
    Reduction(int ranks, baton_operation operation, baton_type type, baton_op op, std::size_t count, std::uint64_t seed)
        : operation_(operation),
          type_(type),
          op_(op),
          count_(count),
          seed_(seed),
          blocks_(operation == BATON_REDUCE_SCATTER ? static_cast<std::size_t>(ranks) : 1),
          inputs_(all_patterns(seed, ranks, blocks_ * bytes())),
          whole_(expected_reduction(inputs_, count * blocks_, type, op)) {}

    void check(HostNode &node, const Links &links) const {
        const std::string name = fmt::format("{} of {} {}, {}, seed {}, {}, rank ", baton_operation_name(operation_),
                                             count_, baton_type_name(type_), baton_op_name(op_), seed_, text(links));
        node.with_ranks(links, [&](const HostNode::Rank &rank) {
            check_rank(rank, algorithm_for(operation_, links), name + std::to_string(rank.view.rank));
        });
    }

private:
    std::size_t bytes() const { return count_ * baton_type_size(type_); }

    void check_rank(const HostNode::Rank &rank, Algorithm routed, const std::string &name) const {
        const auto me = static_cast<std::size_t>(rank.view.rank);
        const auto from = whole_.begin() + static_cast<std::ptrdiff_t>(blocks_ == 1 ? 0 : me * bytes());
        const std::vector<std::byte> expected(from, from + static_cast<std::ptrdiff_t>(bytes()));
        const auto run = [&](Algorithm algorithm, std::byte *send, std::byte *recv) {
            EXPECT_TRUE(rank.run(operation_, algorithm, send, recv, count_, type_, op_)) << name;
        };
        Guarded send(inputs_[me], seed_ % 5), recv(bytes(), seed_ % 16), direct(bytes(), 0);
        run(routed, send.data(), recv.data());
        EXPECT_TRUE(equal_bytes(expected, recv.contents())) << name;
        EXPECT_TRUE(equal_bytes(inputs_[me], send.contents())) << name;
        EXPECT_TRUE(recv.intact() && send.intact()) << name;

        run(operation_ == BATON_ALLREDUCE ? Algorithm::two_shot : Algorithm::pull, send.data(), direct.data());
        EXPECT_TRUE(equal_bytes(direct.contents(), recv.contents())) << name;

        run(routed, send.data(), send.data());
        EXPECT_TRUE(equal_bytes(expected, {send.data(), expected.size()})) << "in place, " << name;
        EXPECT_TRUE(send.intact()) << "in place, " << name;
    }

    const baton_operation operation_;
    const baton_type type_;
    const baton_op op_;
    const std::size_t count_;
    const std::uint64_t seed_;
    const std::size_t blocks_;
    const Buffers inputs_;
    const std::vector<std::byte> whole_;
};

TEST_P(Routes, ReductionsOfEveryTypeGiveTheSameBits) {
    std::uint64_t seed = seed_;
    for (const Links &links : ordered_links(size(), random_)) {
        for (const baton_operation operation : {BATON_REDUCE_SCATTER, BATON_ALLREDUCE}) {
            for (int type = 0; type < BATON_TYPE_COUNT; ++type) {
                for (int op = 0; op < BATON_OP_COUNT; ++op) {
                    const auto as_type = static_cast<baton_type>(type);
                    const auto as_op = static_cast<baton_op>(op);
                    if (!core::op_defined(as_type, as_op)) continue;
                    if (are_many(size()) && op != BATON_AVG && seed++ % 3 != 0) continue;
                    Reduction(size(), operation, as_type, as_op, 1201, ++seed).check(node_, links);
                }
            }
        }
    }
}

TEST_P(Routes, ReductionsOfEverySize) {
    std::uint64_t seed = seed_;
    for (const Links &links : ordered_links(size(), random_)) {
        for (const baton_operation operation : {BATON_REDUCE_SCATTER, BATON_ALLREDUCE}) {
            for (const baton_type type : {BATON_FLOAT32, BATON_BFLOAT16, BATON_INT8, BATON_FLOAT64}) {
                for (const std::size_t count : {0, 1, 2, 17, 1024, 4099, 20011}) {
                    if (are_many(size()) && count > 5000 && type != BATON_BFLOAT16) continue;
                    Reduction(size(), operation, type, BATON_SUM, count, ++seed).check(node_, links);
                }
            }
        }
    }
}

/// With segments as large as on GPUs, what segments of a chain are cut into depends on the length.
TEST(RoutesInLargeSegments, ReductionsGiveTheSameBits) {
    constexpr int size = 4;
    HostNode node(size, 1 << 20);
    std::uint64_t seed = test_seed();
    for (const Links &links : {ring_of({0, 1, 2, 3}), islands_of({0, 0, 1, 1})}) {
        for (const baton_operation operation : {BATON_REDUCE_SCATTER, BATON_ALLREDUCE})
            Reduction(size, operation, BATON_BFLOAT16, BATON_SUM, 1500001, ++seed).check(node, links);
    }
}

/// One rank goes no further than its arrival. Then it gives up, or it waits until the timeout.
class RoutesThatBreak : public testing::TestWithParam<std::tuple<baton_operation, bool, bool>> {};

TEST_P(RoutesThatBreak, EndOnEveryRank) {
    const baton_operation operation = std::get<0>(GetParam());
    const bool ring = std::get<1>(GetParam()), aborts = std::get<2>(GetParam());
    constexpr int size = 4, odd = 2;
    constexpr std::size_t count = 50000;
    HostNode node(size, 4096, aborts ? 30 : 0.3);
    const Links links = ring ? ring_of({0, 1, 2, 3}) : islands_of({0, 0, 1, 1});
    // Others may still write to a rank that has given up.
    Buffers sends(size, std::vector<std::byte>(count * size)), recvs = sends;
    node.with_ranks(links, [&](const HostNode::Rank &rank) {
        const auto me = static_cast<std::size_t>(rank.view.rank);
        std::vector<std::byte> &send = sends[me], &recv = recvs[me];
        if (rank.view.rank != odd) {
            EXPECT_FALSE(rank.run(operation, algorithm_for(operation, links), send.data(), recv.data(), count));
            EXPECT_NE(core::load_relaxed(rank.view.own().abort(0)), 0U) << "rank " << rank.view.rank;
            return;
        }
        core::Request request;
        request.operation = operation;
        request.count = count;
        core::HostReach reach;
        reach.same_process = true;
        const core::HostScratch scratch(size);
        core::HostEngine engine(rank.view, reach, scratch);
        EXPECT_TRUE(engine.begin(HostNode::Rank::arrival(request, send.data(), recv.data())));
        EXPECT_TRUE(engine.await_all());
        if (aborts) core::give_up(rank.view, BATON_ERR_ABORTED, {});
        EXPECT_FALSE(engine.wait_all(1));
    });
    int recorded = 0;
    for (int rank = 0; rank < size; ++rank) {
        const core::Control &control = node.control(rank);
        if (control.recorded == 0) continue;  // told by another one
        ++recorded;
        EXPECT_EQ(control.record.code, static_cast<std::uint64_t>(aborts ? BATON_ERR_ABORTED : BATON_ERR_TIMEOUT));
    }
    EXPECT_GT(recorded, 0);
}

std::string name_of(const testing::TestParamInfo<int> &info) { return std::to_string(info.param) + "Ranks"; }
INSTANTIATE_TEST_SUITE_P(Host, Routes, testing::Range(2, 9), name_of);
INSTANTIATE_TEST_SUITE_P(Host, RoutesThatBreak,
                         testing::Combine(testing::Values(BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLREDUCE),
                                          testing::Bool(), testing::Bool()));

}  // namespace
}  // namespace baton::test
