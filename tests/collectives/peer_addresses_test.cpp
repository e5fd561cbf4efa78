#include "collectives/peer_addresses.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "memory/memory_domain.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t hour_ns = 3600'000'000'000;

/// What a zero-SM allgather of rank 0 ends with when rank 1 does not come; `other` is what rank 1 does instead.
Failure zero_sm_failure(std::uint64_t timeout_ns,
                        const std::function<void(Control &of_rank_0, Rendezvous &rendezvous)> &other) {
    const auto ends = ThreadBootstrap::make(2);
    Control control{};
    const auto be = [&](int rank, const auto &body) {
        Bootstrap &bootstrap = *ends[static_cast<std::size_t>(rank)];
        const std::unique_ptr<MemoryDomain> domain = make_host_domain(true);
        PeerMemory peers(bootstrap, *domain, {});
        Rendezvous rendezvous(bootstrap, [&] { return is_broken(control); });
        body(peers, rendezvous);
        bootstrap.barrier();
    };
    std::thread rank_1([&] { be(1, [&](auto &, Rendezvous &rendezvous) { other(control, rendezvous); }); });
    Failure failure(BATON_SUCCESS, "no failure");
    be(0, [&](const PeerMemory &peers, Rendezvous &rendezvous) {
        CommView view;
        view.size = 2;
        view.timeout_ns = timeout_ns;
        PeerAddresses addresses(view, peers, &rendezvous, [&] {
            if (load_relaxed(&control.abort) != 0) fail(BATON_ERR_ABORTED, "rank 1 called baton_comm_abort()");
        });
        try {
            CollectiveArgs args;
            args.arrival.signature = Signature::make(BATON_ALLGATHER, BATON_INT8, 0, 16);
            std::vector<PeerBuffers> buffers;
            addresses.learn({.stream_words = true}, args, false, buffers);
        } catch (const Failure &thrown) {
            failure = thrown;
        }
    });
    rank_1.join();
    return failure;
}

TEST(PeerAddresses, AZeroSmCallEndsWithWhatBreaksTheCommunicator) {
    const Failure failure = zero_sm_failure(hour_ns, [](Control &control, auto &) {
        store_relaxed(&control.abort, AbortWord::make(BATON_ERR_ABORTED, 1, 1));
    });
    EXPECT_EQ(failure.code(), BATON_ERR_ABORTED) << failure.what();
}

TEST(PeerAddresses, AZeroSmCallThatNobodyElseMakesIsATimeoutThatNamesTheRank) {
    const Failure failure = zero_sm_failure(1'000'000, [](auto &, auto &) {});
    EXPECT_EQ(failure.code(), BATON_ERR_TIMEOUT);
    EXPECT_NE(std::string(failure.what()).find("rank 1"), std::string::npos) << failure.what();
}

TEST(PeerAddresses, ZeroSmCallsThatDifferAreNamed) {
    const Failure failure = zero_sm_failure(hour_ns, [](auto &, Rendezvous &rendezvous) {
        Arrival other;
        other.signature = Signature::make(BATON_ALLTOALL, BATON_FLOAT32, 0, 8);
        Rendezvous::Entry words;
        for (int index = 0; index < Arrival::words; ++index) words[static_cast<std::size_t>(index)] = other.word(index);
        rendezvous.post(words);
    });
    EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
    EXPECT_STREQ(failure.what(),
                 "ranks 0 and 1 disagree: rank 0 called allgather(count 16, int8), rank 1 called alltoall(count 8, "
                 "float32) (zero-SM call 1)");
}

}  // namespace
}  // namespace baton::core
