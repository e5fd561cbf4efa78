#include "collectives/peer_addresses.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

#include "bootstrap/thread_bootstrap.hpp"
#include "collectives/p2p/message.hpp"
#include "memory/fake_domain.hpp"
#include "memory/memory_domain.hpp"
#include "support/thrown_by.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t hour_ns = 3600'000'000'000;

/// How a zero-SM allgather of rank 0 fails when rank 1 does not come; `other` is what rank 1 does instead.
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
    Failure failure(BATON_SUCCESS, "");
    be(0, [&](const PeerMemory &peers, Rendezvous &rendezvous) {
        CommView view;
        view.size = 2;
        view.timeout_ns = timeout_ns;
        PeerAddresses addresses(view, peers, &rendezvous, Copies::where_possible, [&] {
            if (load_relaxed(&control.abort) != 0) fail(BATON_ERR_ABORTED, "rank 1 called baton_comm_abort()");
        });
        CollectiveArgs args;
        args.arrival.signature = Signature::make(BATON_ALLGATHER, BATON_INT8, 0, 16);
        std::vector<PeerBuffers> buffers;
        failure = test::thrown_by([&] { addresses.learn({.stream_words = true}, args, false, buffers); });
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

constexpr std::uint64_t send_at = 256, recv_at = 1024;

/// A rank whose buffers lie in one region, which its peers have mapped.
struct Named {
    explicit Named(Bootstrap &bootstrap)
        : domain(make_host_domain(true)), peers(bootstrap, *domain, {}), rendezvous(bootstrap) {
        view.rank = bootstrap.rank();
        view.size = 2;
        view.timeout_ns = hour_ns;
        memory = static_cast<std::byte *>(domain->allocate(4096));
        const auto place = peers.publish(domain->export_region(domain->classify(memory)), std::chrono::seconds(30));
        arrival.signature = Signature::make(BATON_SEND, BATON_INT8, 0, 16);
        arrival.send = BufferRef::in_region(place, send_at);
        arrival.recv = BufferRef::in_region(place, recv_at);
        memories = bootstrap.allgather(memory);
    }
    ~Named() {
        peers.leave();
        peers.stop();
        peers.unmap_peers();
        domain->release(memory);
    }

    const std::unique_ptr<MemoryDomain> domain;
    PeerMemory peers;
    Rendezvous rendezvous;
    CommView view;
    PeerAddresses addresses{view, peers, &rendezvous, Copies::where_possible, [] {}};
    Arrival arrival;
    std::byte *memory = nullptr;
    std::vector<std::byte *> memories;  // by rank
};

void on_two(const std::function<void(Bootstrap &)> &body) {
    const auto ends = ThreadBootstrap::make(2);
    std::thread rank_1([&] { body(*ends[1]); });
    body(*ends[0]);
    rank_1.join();
}

void with_two(const std::function<void(Bootstrap &, Named &)> &body) {
    on_two([&](Bootstrap &bootstrap) {
        Named rank(bootstrap);
        body(bootstrap, rank);
        bootstrap.barrier();
    });
}

TEST(PeerAddresses, OfACollectiveAreWhereThePeersSay) {
    with_two([](Bootstrap &, Named &rank) {
        CollectiveArgs args;
        args.arrival = rank.arrival;
        args.bytes = 16;
        std::vector<PeerBuffers> buffers;
        ASSERT_TRUE(rank.addresses.learn({.stream_words = true}, args, false, buffers));
        const auto peer = static_cast<std::size_t>(1 - rank.view.rank);
        EXPECT_EQ(buffers[peer].send, rank.memories[peer] + send_at);
        EXPECT_EQ(buffers[peer].recv, rank.memories[peer] + recv_at);
    });
}

/// A replay would meet the other rank's next call, whose addresses it does not have.
TEST(PeerAddresses, AZeroSmCallThatOneRankCapturesIsAMismatch) {
    with_two([](Bootstrap &, Named &rank) {
        CollectiveArgs args;
        args.arrival = rank.arrival;
        args.arrival.signature = Signature::make(BATON_ALLGATHER, BATON_INT8, 0, 16);
        std::vector<PeerBuffers> buffers;
        EXPECT_TRUE(rank.addresses.learn({.stream_words = true}, args, true, buffers)) << "captured by both";
        const Failure failure =
            test::thrown_by([&] { rank.addresses.learn({.stream_words = true}, args, rank.view.rank == 1, buffers); });
        EXPECT_EQ(failure.code(), BATON_ERR_MISMATCH);
        EXPECT_STREQ(failure.what(), rank.view.rank == 0
                                         ? "ranks 0 and 1 disagree: rank 0 called allgather(count 16, int8), rank 1 "
                                           "captured allgather(count 16, int8) (zero-SM call 2)"
                                         : "ranks 1 and 0 disagree: rank 1 captured allgather(count 16, int8), rank 0 "
                                           "called allgather(count 16, int8) (zero-SM call 2)");
    });
}

/// A rank with two regions of cudaMalloc: `odd` slows its peers' copy engines, `even` does not. Nobody looks at the
/// memory.
struct OddAndEven {
    explicit OddAndEven(Bootstrap &bootstrap) : peers(bootstrap, domain, {}), rendezvous(bootstrap) {
        view.rank = bootstrap.rank();
        view.size = 2;
        view.timeout_ns = hour_ns;
        even = reference_into(std::uint64_t{1} << 30, 64 << 20);
        odd = reference_into(std::uint64_t{2} << 30, (64 << 20) + 8);
    }
    ~OddAndEven() {
        peers.leave();
        peers.stop();
        peers.unmap_peers();
    }

    BufferRef reference_into(std::uint64_t base, std::uint64_t size) {
        Export exported;
        exported.post.kind = HandleKind::cuda_ipc;
        exported.post.base = base;
        exported.post.size = size;
        return BufferRef::in_region(peers.publish(exported, std::chrono::seconds(30)), 0);
    }
    PeerAddresses addresses(Copies copies) {
        return {view, peers, &rendezvous, copies, [] {}};
    }

    testing::AnyKind domain;
    PeerMemory peers;
    Rendezvous rendezvous;
    CommView view;
    BufferRef even, odd;
};

/// Copy engines write into what a peer receives in, and only read what it sends. A broadcast in place has no other
/// copies beside them.
TEST(PeerAddresses, OfMemoryThatSlowsCopyEnginesAreKnownWhereNothingIsReceivedThere) {
    on_two([](Bootstrap &bootstrap) {
        OddAndEven rank(bootstrap);
        for (const Copies copies : {Copies::where_possible, Copies::where_fast}) {
            PeerAddresses addresses = rank.addresses(copies);
            for (int call = 0; call < 8; ++call) {
                const bool broadcast = call / 4 == 1, in_place = call / 2 % 2 == 1, receives_in_odd = call % 2 == 1;
                std::byte buffer[2];
                CollectiveArgs args;
                args.bytes = 16;
                args.send = buffer;
                args.recv = buffer + (in_place ? 0 : 1);
                args.arrival.signature =
                    Signature::make(broadcast ? BATON_BROADCAST : BATON_ALLGATHER, BATON_INT8, 0, 16);
                args.arrival.send = rank.odd;
                args.arrival.recv = receives_in_odd ? rank.odd : rank.even;
                std::vector<PeerBuffers> buffers;
                // As in zero-SM mode, so that no rank gives up waiting.
                EXPECT_EQ(addresses.learn({.stream_words = true}, args, false, buffers),
                          copies == Copies::where_possible || (broadcast && in_place) || !receives_in_odd)
                    << "call " << call;
            }
        }
        bootstrap.barrier();
    });
}

TEST(PeerAddresses, OfASendIntoMemoryThatSlowsCopyEnginesAreKnownWhereItGoesAlone) {
    on_two([](Bootstrap &bootstrap) {
        OddAndEven rank(bootstrap);
        PeerAddresses addresses = rank.addresses(Copies::where_fast);
        Message message;
        message.peer = 1 - rank.view.rank;
        message.arrival.signature = Signature::make(BATON_SEND, BATON_INT8, 0, 16);
        message.arrival.recv = rank.odd;
        for (int i = 0; i < 2; ++i) addresses.tell_sender(message);
        bootstrap.barrier();
        EXPECT_EQ(addresses.destination_of(message, Traffic::beside_others, true), nullptr);
        EXPECT_NE(addresses.destination_of(message, Traffic::alone, true), nullptr);
        bootstrap.barrier();
    });
}

/// A call that waited for each of them would hold up its host, and what it has to receive.
TEST(PeerAddresses, OfManySendsWhoseReceiversAreLateAreWaitedForOnce) {
    with_two([](Bootstrap &, Named &rank) {
        Message message;
        message.peer = 1 - rank.view.rank;
        message.arrival = rank.arrival;
        const auto begin = std::chrono::steady_clock::now();
        ASSERT_TRUE(rank.addresses.open_for_messages(false));
        for (int send = 0; send < 2000; ++send) {
            ASSERT_EQ(rank.addresses.destination_of(message, Traffic::alone, true), nullptr);
        }
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
        EXPECT_GE(waited.count(), 200e-6);
        EXPECT_LT(waited.count(), 0.4) << "2000 of 200 us";
    });
}

/// Rank 0 sends. A recv of something else, or into memory that is gone, is left to the kernels to find.
TEST(PeerAddresses, OfASendAreWhereTheRecvSays) {
    with_two([](Bootstrap &bootstrap, Named &rank) {
        Message message;
        message.peer = 1 - rank.view.rank;
        message.arrival = rank.arrival;
        Message of_other_length = message, into_what_is_gone = message;
        of_other_length.arrival.signature.count += 1;
        into_what_is_gone.arrival.recv.generation += 1;
        if (rank.view.rank == 1) {
            for (const Message &recv : {message, of_other_length, into_what_is_gone, message})
                rank.addresses.tell_sender(recv);
        }
        bootstrap.barrier();
        if (rank.view.rank != 0) return;
        EXPECT_EQ(rank.addresses.destination_of(message, Traffic::alone, true), rank.memories[1] + recv_at);
        EXPECT_EQ(rank.addresses.destination_of(message, Traffic::alone, true), nullptr);
        EXPECT_EQ(rank.addresses.destination_of(message, Traffic::alone, true), nullptr);
        EXPECT_EQ(rank.addresses.destination_of(message, Traffic::alone, true), rank.memories[1] + recv_at);
    });
}

TEST(PeerAddresses, AreNotAskedForOnceARankHasCaptured) {
    for (const bool messages : {false, true}) {
        with_two([&](Bootstrap &bootstrap, Named &rank) {
            CollectiveArgs args;
            args.arrival = rank.arrival;
            std::vector<PeerBuffers> buffers;
            if (rank.view.rank == 0) {
                const bool known =
                    messages ? rank.addresses.open_for_messages(true) : rank.addresses.learn({}, args, true, buffers);
                EXPECT_FALSE(known);
            }
            bootstrap.barrier();
            EXPECT_FALSE(rank.addresses.open_for_messages(false));
            EXPECT_FALSE(rank.addresses.learn({}, args, false, buffers));
        });
    }
}

}  // namespace
}  // namespace baton::core
