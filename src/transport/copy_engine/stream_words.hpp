#pragma once

#include <cuda_runtime_api.h>

#include "sync/comm_view.hpp"

namespace baton::core {

/// The zero-SM mode's synchronisation: stream memory operations on words that return to idle.
///
/// A stream operation's value is fixed when it is enqueued, so a counter cannot work in a captured graph. The words
/// hold 0 or 1: for a phase, a rank writes 1 into its word at every peer, waits until its own word from every peer is
/// 1, and writes those back to 0. An operation has two phases on two sets of words, ready (0) and complete (1). A peer
/// writes ready again only after it has seen my complete, which I write after resetting ready; it writes complete again
/// only after my next ready, which I write after resetting complete: so no 1 is lost and none is seen twice, at
/// enqueueing and at replay alike. Order: one rank's batch runs in order; writes carry a memory barrier, so copies
/// enqueued before a phase are visible to who has waited in it.
void enqueue_phase(const CommView &view, int phase, cudaStream_t stream);

/// Sets every word that this rank waits on, on a stream of its own: ends the waits of a broken communicator.
void release_phases(const CommView &view, cudaStream_t stream);

}  // namespace baton::core
