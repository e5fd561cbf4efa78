#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "bootstrap/bootstrap.hpp"
#include "comm/breakage.hpp"
#include "comm/issuer.hpp"
#include "comm/meetings.hpp"
#include "comm/parts.hpp"
#include "comm/planner.hpp"
#include "comm/windows.hpp"
#include "memory/reclaimer.hpp"
#include "util/phases.hpp"

namespace baton::core {

class Turn;

/// One rank's communicator, from creation to destruction. Calls come one at a time, each with the Turn. abort(), state
/// queries and the service thread's callbacks may come at any time.
class Communicator {
public:
    /// Collective. Throws on all ranks if it, or `prepare`, fails on one. `prepare` runs where the others learn of it.
    Communicator(
        std::unique_ptr<Bootstrap> bootstrap, const baton_config *config, const std::function<void()> &prepare = [] {});
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    int rank() const { return parts_.view.rank; }
    int size() const { return parts_.view.size; }
    bool on_gpu() const { return parts_.capabilities.on_gpu; }
    /// Throws BATON_ERR_ARGUMENT after Turn::shut_down().
    baton_info info() const;
    const Phases &creation() const { return creation_; }

    /// Takes a call's turn on a communicator that works. Throws like throw_if_broken().
    [[nodiscard]] Turn turn();
    /// Takes the turn also on a broken communicator: for calls that give something back, and for checks. Throws
    /// BATON_ERR_ARGUMENT after Turn::shut_down().
    [[nodiscard]] Turn turn_unless_destroyed();

    /// Throws what broke the communicator, if anything did, or BATON_ERR_ARGUMENT after Turn::shut_down(). Any thread.
    void throw_if_broken();
    void abort();
    /// Breaks the communicator, with the failure's code and words: for a rank that does not issue all that its peers
    /// wait for.
    void break_with(const std::exception &failure) noexcept { breakage_.break_with(as_failure(failure)); }

private:
    friend class Turn;
    void create(const baton_config &config);
    void shut_down();

    std::unique_ptr<Bootstrap> bootstrap_;
    Phases creation_;
    Breakage breakage_;
    Meetings meetings_;
    CommParts parts_;  // its service thread uses breakage_
    Reclaimer::Membership membership_;
    Planner planner_;
    Issuer issuer_;
    Windows windows_;
    std::mutex mutex_;  // the turn
};

/// A call's turn on a communicator, and the way to all that calls take turns for. While it lives no other call has one.
/// The communicator must outlive it.
class Turn {
public:
    const Communicator &comm() const { return comm_; }
    int rank() const { return comm_.rank(); }
    int size() const { return comm_.size(); }
    Buffers &buffers() const { return *comm_.parts_.buffers; }
    RegionRegistry &registry() const { return *comm_.parts_.registry; }
    const Planner &planner() const { return comm_.planner_; }
    Issuer &issuer() const { return comm_.issuer_; }
    Windows &windows() const { return comm_.windows_; }

    /// Collective unless broken; afterwards only destruction is allowed. Throws what broke the communicator while it
    /// waited for the other ranks; this rank's part is gone then as well.
    void shut_down() const { comm_.shut_down(); }

private:
    friend class Communicator;
    explicit Turn(Communicator &comm) : comm_(comm), lock_(comm.mutex_) {}

    Communicator &comm_;
    std::unique_lock<std::mutex> lock_;
};

}  // namespace baton::core
