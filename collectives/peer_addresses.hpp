#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "collectives/args.hpp"
#include "collectives/p2p/message.hpp"
#include "collectives/plan.hpp"
#include "memory/peer_memory.hpp"
#include "memory/rendezvous.hpp"
#include "sync/comm_view.hpp"

namespace baton::core {

/// A peer's buffers as this process reaches them; null where the call's plan does not name one.
struct PeerBuffers {
    std::byte *send = nullptr;
    std::byte *recv = nullptr;
};

/// Whether other copies use this GPU's memory while copy engines read it: those of peers, or a kernel's own.
enum class Traffic {
    alone,
    beside_others
};

/// What copy engines need when their work is enqueued, and kernels get with the arrivals: where the peers' buffers are,
/// from the hosts' rendezvous. Where an address is not known, in time or at all, a kernel takes over. Not thread-safe.
class PeerAddresses {
public:
    /// `rendezvous` may be null (one rank); its waits end when the communicator breaks, and `throw_if_broken` throws by
    /// what. `copies`: where copy engines are to be used.
    PeerAddresses(const CommView &view, const PeerMemory &peers, Rendezvous *rendezvous, Copies copies,
                  std::function<void()> throw_if_broken)
        : view_(view),
          peers_(peers),
          rendezvous_(rendezvous),
          copies_(copies),
          throw_if_broken_(std::move(throw_if_broken)) {}

    /// Of a collective call, which all ranks issue with the same plan. False: not known; throws in zero-SM mode, where
    /// nothing can take over: what has broken the communicator, or TIMEOUT, or MISMATCH.
    bool learn(const Plan &plan, const CollectiveArgs &args, bool capturing, std::vector<PeerBuffers> &peers);

    /// Before the others of a launch's messages, which all together are waited for as long as one; `capturing`: the
    /// stream records a graph. False: no address will be known.
    bool open_for_messages(bool capturing);
    /// Of a recv that a copy engine may carry.
    void tell_sender(const Message &recv);
    /// Of a send that a copy engine may carry: once for each. Null: not known. `worth_waiting`: for a receiver that is
    /// late.
    std::byte *destination_of(const Message &send, Traffic traffic, bool worth_waiting);

private:
    void expect_alike(const Arrival &mine, int peer, const Arrival &theirs, std::uint64_t number) const;
    Copies copies_in(Traffic traffic) const {
        return traffic == Traffic::beside_others ? copies_ : Copies::where_possible;
    }
    bool find(int peer, const BufferRef &buffer, Copies which, std::byte **address) const;

    const CommView &view_;
    const PeerMemory &peers_;
    Rendezvous *const rendezvous_;
    const Copies copies_;
    const std::function<void()> throw_if_broken_;
    std::chrono::steady_clock::time_point patient_until_;  // of the sends since open_for_messages()
};

}  // namespace baton::core
