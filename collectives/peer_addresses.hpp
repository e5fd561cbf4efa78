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

/// Where the peers' buffers are, from the hosts' rendezvous: kernels learn it from the arrivals, but copy engines need
/// it when their work is enqueued. Where an address is not known, in time or at all, a kernel takes over. Not
/// thread-safe.
class PeerAddresses {
public:
    /// `rendezvous` may be null (one rank). Its waits end when the communicator breaks; `throw_if_broken` then throws
    /// what broke it. `copies`: where copy engines are to be used.
    PeerAddresses(const CommView &view, const PeerMemory &peers, Rendezvous *rendezvous, Copies copies,
                  std::function<void()> throw_if_broken)
        : view_(view),
          peers_(peers),
          rendezvous_(rendezvous),
          copies_(copies),
          throw_if_broken_(std::move(throw_if_broken)) {}

    /// The buffers of a collective call, which all ranks issue with the same plan. False if they are not known. In
    /// zero-SM mode, where nothing can take over, a rank that does not come or does something else makes it throw: what
    /// has broken the communicator, TIMEOUT, or MISMATCH.
    bool learn(const Plan &plan, const CollectiveArgs &args, bool capturing, std::vector<PeerBuffers> &peers);

    /// To be called before the other two for a launch's messages, all of which together are waited for as long as for
    /// one. `capturing`: the stream records a graph. False: no address will be known.
    bool open_for_messages(bool capturing);
    /// Tells the sender where the buffer of a recv is that a copy engine may carry.
    void tell_sender(const Message &recv);
    /// The receiver's buffer for a send that a copy engine may carry; null if not known. To be called once for each
    /// such send. `worth_waiting`: if false, the send only counts, and null is returned.
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
    std::chrono::steady_clock::time_point patient_until_;  // for the sends since open_for_messages()
};

}  // namespace baton::core
