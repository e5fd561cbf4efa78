#pragma once

#include <memory>

#include "peers/nccl_api.hpp"
#include "peers/peer.hpp"

namespace baton::bench {

/// Why a library of this version with these functions does not have a mode; empty if it does.
std::string nccl_lacks(PeerKind mode, int version, const nccl::Functions &functions);

/// NCCL in one of its modes, on a communicator of its own with one rank for each of Baton's. Collective. Throws Error
/// with the reason on all ranks if any of them fails.
std::unique_ptr<Peer> make_nccl_peer(std::shared_ptr<const nccl::Api> api, PeerKind mode,
                                     const Communicator &communicator, const Verifier &verifier,
                                     const BufferBytes &bytes);

}  // namespace baton::bench
