// Baton's peers in benchmarks: they do the operations that they are compared by. MPI is the real one; NCCL is the
// stand-in beside this file, since the real one needs GPUs.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton_library.hpp"
#include "operation.hpp"
#include "peers/mpi_peer.hpp"
#include "peers/nccl_peer.hpp"
#include "support/set_variable.hpp"

namespace baton::bench {
namespace {

using testing::HasSubstr;

constexpr std::size_t count = 1237;

/// Communicators and allocations of the stand-in that have not been given back.
int held_by_nccl() {
    void *library = dlopen(BATON_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<int (*)()>(dlsym(library, "fakeNcclHeld"))();
}

class Peers : public testing::Test {
protected:
    BufferBytes bytes() const {
        const std::size_t all = count * 8 * static_cast<std::size_t>(world_.size());
        return {all, all, 0};
    }
    std::unique_ptr<Peer> nccl(PeerKind mode, const char *library = BATON_FAKE_NCCL) const {
        return make_nccl_peer(std::make_shared<const nccl::Api>(library), mode, communicator_, verifier_, bytes());
    }
    std::unique_ptr<Peer> mpi(std::size_t largest = std::size_t{1} << 30) const {
        return make_mpi_peer(communicator_, bytes(), largest);
    }

    /// Number of wrong elements on all ranks after some calls of the shape.
    std::uint64_t wrong(Peer &peer, const Shape &shape) const {
        const auto operation = make_operation(shape, communicator_, peer.verifier(), peer);
        std::uint64_t wrong = 0;
        for (const std::uint64_t round : {1U, 2U}) {
            operation->prepare(round);
            world_.barrier();
            operation->issue();
            operation->issue();
            wrong += operation->verify(2).wrong;
            world_.barrier();
        }
        return world_.sum(wrong);
    }

    /// Every operation, type and reduction that the peer has gives a right result; returns how many it has.
    int expect_right(Peer &peer) const {
        int number = 0;
        for (const KindTraits &kind : all_kinds()) {
            for (const baton_type type : {BATON_INT8, BATON_INT16, BATON_INT32, BATON_UINT64, BATON_BFLOAT16,
                                          BATON_FLOAT32, BATON_FLOAT64, BATON_FLOAT8_E4M3}) {
                for (const baton_op op : {BATON_SUM, BATON_PROD, BATON_MIN, BATON_MAX}) {
                    const Shape shape{kind.kind, type, op, kind.kind == Kind::barrier ? 0 : count, InPlaceForm::no};
                    if (!peer.refusal(shape, false).empty() || saturates(peer, shape) || !fake_can(peer, shape)) {
                        continue;
                    }
                    ++number;
                    EXPECT_EQ(wrong(peer, shape), 0U)
                        << kind.name << " " << baton_type_name(type) << " " << baton_op_name(op);
                }
            }
        }
        return number;
    }

    /// Open MPI's vectorised sums of narrow integers saturate, where C's and Baton's wrap.
    static bool saturates(const Peer &, const Shape &shape) {
        return has_reduction(shape.kind) && shape.op == BATON_SUM && baton_type_size(shape.type) < 4;
    }
    static bool fake_can(const Peer &peer, const Shape &shape) {
        return peer.kind() == PeerKind::mpi || !has_reduction(shape.kind) || shape.type != BATON_BFLOAT16;
    }

    const World world_;
    const Communicator communicator_{world_, MemorySpace::host};
    const Verifier verifier_{communicator_};
};

TEST_F(Peers, MpiDoesWhatItIsComparedBy) {
    const auto peer = mpi();
    // Moves of eight types, four names of a reduction for each; sums, minima and maxima of what MPI has; barriers.
    EXPECT_GT(expect_right(*peer), 5 * 8 * 4 + 2 * 12);
}

TEST_F(Peers, NcclDoesWhatItIsComparedByInEveryMode) {
    for (const PeerKind mode :
         {PeerKind::nccl, PeerKind::nccl_registered, PeerKind::nccl_symmetric, PeerKind::nccl_zero_cta}) {
        const auto peer = nccl(mode);
        EXPECT_EQ(peer->kind(), mode);
        EXPECT_GT(expect_right(*peer), 5 * 8 * 4 + 2 * 9);
    }
}

TEST_F(Peers, NcclWithoutAlltoallExchangesMessages) {
    const auto peer = nccl(PeerKind::nccl, BATON_FAKE_OLD_NCCL);
    for (const baton_type type : {BATON_INT8, BATON_FLOAT32, BATON_INT16}) {
        EXPECT_EQ(wrong(*peer, {Kind::alltoall, type, BATON_SUM, count, InPlaceForm::no}), 0U) << baton_type_name(type);
    }
}

TEST_F(Peers, DamageIsSeenInEveryResult) {
    const auto peer = nccl(PeerKind::nccl);
    const test::SetVariable damage("FAKE_NCCL_DAMAGE", "1");
    for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::allreduce, Kind::alltoall, Kind::broadcast}) {
        for (const baton_type type : {BATON_INT32, BATON_FLOAT32, BATON_FLOAT64}) {
            // One element of each rank and round: two calls leave it damaged once, since the second writes it anew.
            EXPECT_EQ(wrong(*peer, {kind, type, BATON_SUM, count, InPlaceForm::no}),
                      2U * static_cast<unsigned>(world_.size()))
                << kind_name(kind) << " " << baton_type_name(type);
        }
    }
}

TEST_F(Peers, NcclRefusesWhatItHasNot) {
    const auto peer = nccl(PeerKind::nccl);
    EXPECT_THAT(peer->refusal({Kind::put, BATON_FLOAT32, BATON_SUM, 1, InPlaceForm::no}, false), HasSubstr("no put"));
    EXPECT_THAT(peer->refusal({Kind::barrier, BATON_UINT8, BATON_SUM, 0, InPlaceForm::no}, false),
                HasSubstr("no barrier"));
    EXPECT_THAT(peer->refusal({Kind::allreduce, BATON_INT16, BATON_SUM, 1, InPlaceForm::no}, false),
                HasSubstr("int16"));
    EXPECT_THAT(peer->refusal({Kind::allreduce, BATON_FLOAT32, BATON_PROD, 1, InPlaceForm::no}, false),
                HasSubstr("order"));
    EXPECT_EQ(peer->refusal({Kind::allgather, BATON_INT16, BATON_SUM, 1, InPlaceForm::no}, true), "");
}

TEST_F(Peers, MpiRefusesWhatItHasNot) {
    const auto peer = mpi(4096);
    const auto reduction = [](baton_type type, baton_op op) {
        return Shape{Kind::allreduce, type, op, 8, InPlaceForm::no};
    };
    EXPECT_EQ(peer->refusal(reduction(BATON_FLOAT32, BATON_SUM), false), "");
    EXPECT_THAT(peer->refusal(reduction(BATON_FLOAT32, BATON_SUM), true), HasSubstr("captured"));
    EXPECT_THAT(peer->refusal(reduction(BATON_BFLOAT16, BATON_SUM), false), HasSubstr("bfloat16"));
    EXPECT_THAT(peer->refusal(reduction(BATON_FLOAT32, BATON_AVG), false), HasSubstr("avg"));
    EXPECT_THAT(peer->refusal({Kind::sendrecv, BATON_FLOAT32, BATON_SUM, 1025, InPlaceForm::no}, false),
                HasSubstr("--mpi-max"));
}

TEST_F(Peers, AModeThatOneRankCannotHaveIsAbsentOnAll) {
    const test::SetVariable refuse("FAKE_NCCL_REFUSE", std::to_string(world_.size() - 1));
    try {
        nccl(PeerKind::nccl);
        FAIL() << "the last rank has no communicator";
    } catch (const Error &error) {
        if (world_.rank() == 0) {
            EXPECT_THAT(error.what(), HasSubstr("ncclCommInitRank: fake error: details of the fake"));
        }
    }
}

TEST_F(Peers, SymmetricMemoryThatIsNotThereIsAReason) {
    const test::SetVariable none("FAKE_NCCL_NO_WINDOW", "1");
    try {
        nccl(PeerKind::nccl_symmetric);
        FAIL() << "there is no window";
    } catch (const Error &error) {
        if (world_.rank() == 0) {
            EXPECT_THAT(error.what(), HasSubstr("no symmetric window"));
        }
    }
}

TEST_F(Peers, AModeThatIsRefusedHoldsNothing) {
    const std::string last = std::to_string(world_.size() - 1);
    for (const char *refusal : {"FAKE_NCCL_REFUSE", "FAKE_NCCL_REFUSE_WINDOW"}) {
        const test::SetVariable refuse(refusal, last);
        EXPECT_THROW(nccl(PeerKind::nccl_symmetric), Error);
        EXPECT_EQ(held_by_nccl(), 0) << refusal;
    }
    const test::SetVariable none("FAKE_NCCL_NO_WINDOW", "1");
    EXPECT_THROW(nccl(PeerKind::nccl_zero_cta), Error);
    EXPECT_EQ(held_by_nccl(), 0);
    nccl(PeerKind::nccl_registered);
    EXPECT_EQ(held_by_nccl(), 0);
}

TEST_F(Peers, AbsentOnTheHostWithTheReason) {
    const bench::Peers peers =
        make_peers({{PeerKind::nccl, PeerKind::mpi}, BATON_FAKE_NCCL, 1 << 20}, communicator_, verifier_, bytes());
    ASSERT_EQ(peers.present.size(), 1U);
    EXPECT_EQ(peers.present[0]->kind(), PeerKind::mpi);
    ASSERT_EQ(peers.absent.size(), 1U);
    EXPECT_THAT(peers.absent[0].reason, HasSubstr("NCCL needs GPUs"));
}

}  // namespace
}  // namespace baton::bench
