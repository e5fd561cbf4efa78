#pragma once

#include <functional>
#include <memory>

#include "collectives/capabilities.hpp"
#include "collectives/executor.hpp"
#include "memory/peer_memory.hpp"
#include "memory/rendezvous.hpp"
#include "sync/comm_view.hpp"
#include "sync/idle_words.hpp"

namespace baton::core {

/// Operations on device memory: kernels and copy engines on the caller's streams, in issue order whatever the streams.
/// `rendezvous` may be null (one rank), and so may `idle_words` (unless zero-SM mode is asked for, with several ranks).
/// `throw_if_broken` throws what broke the communicator, if anything did, and so ends calls that wait for hosts.
std::unique_ptr<Executor> make_gpu_executor(const CommView &view, int device, const Capabilities &capabilities,
                                            const PeerMemory &peers, Rendezvous *rendezvous, IdleWords *idle_words,
                                            std::function<void()> throw_if_broken);

}  // namespace baton::core
