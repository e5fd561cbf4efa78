#pragma once

#include <functional>

#include "util/failure.hpp"

namespace baton::core {

/// What the service thread tells about its peers. It calls both.
struct PeerCallbacks {
    /// Called once for each peer whose process has ended without leave(); the failure's words name the peer. If some
    /// rank has posted an error, the peer has ended because of that: then tick is called instead, at once, to find it.
    /// If peer_dead throws, it is called again.
    std::function<void(const Failure &dead)> peer_dead;
    /// Called every 100 ms: a place to look at the communicator's state without a thread of one's own.
    std::function<void()> tick;
};

}  // namespace baton::core
