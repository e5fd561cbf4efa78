#include <algorithm>

#include "clauses.hpp"

namespace baton::core::contract {
namespace {

/// The channels' parts are [0, bytes) exactly once, in order, and start at multiples of the granule.
void expect_covered(const std::vector<Observed> &observed, const Call &call) {
    std::uint64_t next = 0;
    for (const Observed &one : observed) {
        if (one.part.bytes == 0) continue;
        EXPECT_EQ(one.part.begin, next) << call.bytes << " bytes, granule " << call.granule;
        EXPECT_EQ(one.part.begin % call.granule, 0U) << call.bytes << " bytes";
        next = one.part.begin + one.part.bytes;
    }
    EXPECT_EQ(next, call.bytes) << "granule " << call.granule << ", channels " << call.channels;
}

/// Channels are used unevenly, so each has to count its own operations.
void expect_epochs(Rank &rank, const std::vector<Call> &calls) {
    const std::vector<std::uint64_t> epochs = rank.epochs();
    for (std::size_t channel = 0; channel < epochs.size(); ++channel) {
        const auto used = std::count_if(calls.begin(), calls.end(), [&](const Call &call) {
            return static_cast<std::size_t>(call.channels) > channel;
        });
        EXPECT_EQ(epochs[channel], static_cast<std::uint64_t>(used)) << "channel " << channel;
    }
}

void shares(Rank &rank, int /*variant*/) {
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(200); ++k) {
        const std::uint64_t limit = std::uint64_t{1} << rank.common().below(42);
        Call call = rank.call(BATON_BARRIER, rank.common().below(limit + 1));
        call.granule = std::uint64_t{1} << rank.common().below(9);
        if (rank.common().chance(20)) call.granule *= 3;
        calls.push_back(call);
    }
    const Results results = rank.run(Program::meet, calls);
    expect_success(rank, results);
    for (std::size_t k = 0; k < calls.size(); ++k) expect_covered(results[k], calls[k]);
    expect_epochs(rank, calls);
}

/// One call of Exchange, with all of its buffers and what they must hold. Some are in place: `send` is a part of
/// `recv`, so that the rank copies it onto itself.
Call exchange_call(Rank &rank, std::size_t k, std::size_t bytes) {
    Memory &memory = rank.memory();
    test::Random &common = rank.common();
    const auto n = static_cast<std::size_t>(rank.size());
    const auto me = static_cast<std::size_t>(rank.rank());
    const std::uint64_t key = common.next();
    const bool aligned = common.chance(40);
    const bool in_place = common.chance(25);
    const Place recv = memory.take(n * bytes, aligned, named("recv", k));
    const Place send = in_place ? recv.part(me * bytes, bytes) : memory.take(bytes, aligned, named("send", k));
    const Place out = memory.take(bytes, aligned, named("out", k));
    Call call = rank.call(BATON_ALLGATHER, bytes, send, recv);
    const std::size_t variants = rank.common_offers().sources ? 3 : 2;
    call.variant = static_cast<int>(common.below(variants));
    call.granule = std::uint64_t{1} << common.below(7);
    call.out = memory.at(out);
    std::vector<Contents> all;
    for (std::size_t peer = 0; peer < n; ++peer) {
        all.push_back(random_bytes(key + peer, bytes));
        memory.expect(recv.part(peer * bytes, bytes), all.back());
    }
    memory.fill(send, all[me]);
    if (rank.offers().sources) memory.expect(out, sum_of(all));
    return call;
}

void run_exchange(Rank &rank, const std::vector<std::size_t> &sizes) {
    std::vector<Call> calls;
    for (const std::size_t bytes : sizes) calls.push_back(exchange_call(rank, calls.size(), bytes));
    const Results results = rank.run(Program::exchange, calls);
    expect_success(rank, results);
    for (std::size_t k = 0; k < calls.size(); ++k) expect_covered(results[k], calls[k]);
    expect_epochs(rank, calls);
    EXPECT_TRUE(rank.memory_as_expected()) << "rank " << rank.rank();
}

void addresses_and_epochs(Rank &rank, int /*variant*/) {
    std::vector<std::size_t> sizes;
    for (int k = 0; k < rank.rounds(400); ++k) sizes.push_back(draw_size(rank.common(), 3000));
    run_exchange(rank, sizes);
}

void copies_of_every_size(Rank &rank, int /*variant*/) {
    std::vector<std::size_t> sizes;
    for (int round = 0; round < std::max(2, rank.rounds(6)); ++round) {
        for (std::size_t bytes = 0; bytes <= 17; ++bytes) sizes.push_back(bytes);
        for (const std::size_t edge : {32, 64, 128, 256, 1024, 4096, 8192}) {
            for (const std::size_t bytes : {edge - 1, edge, edge + 1}) sizes.push_back(bytes);
        }
    }
    sizes.push_back(100003);
    sizes.push_back((std::size_t{1} << 20) / static_cast<std::size_t>(rank.size()) + 5);
    run_exchange(rank, sizes);
}

}  // namespace

std::vector<Clause> data_clauses() {
    return {
        {.name = "shares", .body = shares},
        {.name = "addresses_and_epochs", .body = addresses_and_epochs, .area_bytes = std::size_t{4} << 20},
        {.name = "copies_of_every_size", .body = copies_of_every_size, .area_bytes = std::size_t{8} << 20},
    };
}

}  // namespace baton::core::contract
