#pragma once

#include <memory>
#include <string>
#include <vector>

#include "library.hpp"
#include "verifier.hpp"

namespace baton::bench {

/// The ways in which another library does what Baton does.
enum class PeerKind {
    nccl,             // plain cudaMalloc memory, as Baton is measured on
    nccl_registered,  // ncclMemAlloc memory, ncclCommRegister
    nccl_symmetric,   // ncclMemAlloc memory, symmetric windows
    nccl_zero_cta,    // the same on a communicator that asks for no CTAs
    mpi               // the MPI that started the ranks
};

/// As options and results name it ("nccl_registered"), and as a column's head ("nccl reg").
const char *peer_name(PeerKind kind);
const char *peer_label(PeerKind kind);

/// A library that Baton is compared with. Made by all ranks together; its memory is large enough for every table.
class Peer : public Library {
public:
    virtual PeerKind kind() const = 0;
    /// Why it has no result for such calls, the same on all ranks; empty if it has one.
    virtual std::string refusal(const Shape &shape, bool captured) const = 0;
    /// Where its buffers lie.
    virtual MemorySpace memory_space() const = 0;
    /// A verifier for its kind of memory.
    virtual const Verifier &verifier() const = 0;

    bool sums_in_any_order() const override { return true; }
};

/// Why a reduction cannot be compared with any library's, because its result depends on the order of the operations;
/// empty if it can.
inline std::string incomparable(const Shape &shape) {
    if (!has_reduction(shape.kind)) {
        return {};
    }
    if (shape.op == BATON_PROD) {
        return "products depend on the order";
    }
    const bool eight_bits = shape.type == BATON_FLOAT8_E4M3 || shape.type == BATON_FLOAT8_E5M2;
    return eight_bits && shape.op != BATON_MIN && shape.op != BATON_MAX ? "fp8 sums depend too much on the order" : "";
}

struct PeerOptions {
    std::vector<PeerKind> kinds;
    std::string nccl_library;  // a path or soname; empty: BATON_NCCL_LIBRARY, then libnccl.so.2
    std::size_t mpi_max = 0;   // in the size column
};

struct Peers {
    struct Absence {
        PeerKind kind;
        std::string reason;
    };

    std::vector<std::unique_ptr<Peer>> present;
    std::vector<Absence> absent;  // complete on rank 0
    std::string nccl_version;     // "2.28.9 (libnccl.so.2)", empty without NCCL
    std::string mpi_memory;       // what kind of buffers MPI gets, empty without MPI
};

/// The peers asked for, with buffers of `bytes`, and why some are missing. Collective. `verifier` is for the
/// communicator's memory and must outlive the peers.
Peers make_peers(const PeerOptions &options, const Communicator &communicator, const Verifier &verifier,
                 const BufferBytes &bytes);

}  // namespace baton::bench
