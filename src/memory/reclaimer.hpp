#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "memory/pointer_info.hpp"

namespace baton::core {

/// What the communicators of a process tell each other about memory. Unmaps what peers have given up, when no
/// communicator of the process runs anything: closing an IPC mapping waits for every running kernel of the process,
/// also of other communicators, and such a kernel may wait, by way of its peers, for what the closing thread does next.
/// So it is done only while everybody is idle, and nothing is issued meanwhile.
///
/// Thread-safe. Nobody waits for an operation here. issue() may have to wait for an unmapping, but that waits for no
/// kernel of Baton's, as none is running then.
class Reclaimer {
public:
    /// Returns the one for all communicators of the process.
    static Reclaimer &of_process();

    /// What a communicator lets the others ask and do. idle() and unmap() are called between its own calls; forget() is
    /// called at any time, also by its own thread.
    struct Member {
        std::function<bool()> idle;                       // everything that it has issued is done
        std::function<void()> unmap;                      // PeerMemory::reclaim()
        std::function<void(const PointerInfo &)> forget;  // RegionRegistry::forget()
    };
    /// A communicator's place among those of the process. It may leave when nothing of its own is in flight any more.
    class Membership {
    public:
        Membership() = default;
        Membership(Membership &&other) noexcept : of_(std::exchange(other.of_, nullptr)), number_(other.number_) {}
        Membership &operator=(Membership &&other) noexcept {
            std::swap(of_, other.of_);
            std::swap(number_, other.number_);
            return *this;
        }
        ~Membership() { leave(); }
        /// Ends the membership: no function of the member runs after this.
        void leave();

    private:
        friend class Reclaimer;
        Membership(Reclaimer &of, std::uint64_t number) : of_(&of), number_(number) {}
        Reclaimer *of_ = nullptr;
        std::uint64_t number_ = 0;
    };
    [[nodiscard]] Membership join(Member member);

    /// Returns a lock to hold while a call issues operations.
    [[nodiscard]] std::shared_lock<std::shared_mutex> issue() { return std::shared_lock(issuing_); }

    /// Runs `unmap`, unless a member runs or issues something: then the caller has to try another time. Never waits for
    /// that. REQUIRES: the caller does not hold issue().
    void if_idle(const std::function<void()> &unmap);
    /// Runs unmap() of all members, under the same condition.
    void unmap_if_idle();

    /// Tells all members about memory that one has freed: the others may have used it, and their peers hold its pages.
    void forget(const PointerInfo &freed);

private:
    std::shared_mutex issuing_;  // shared: calls that issue; exclusive: unmapping
    std::mutex mutex_;           // guards what follows
    std::uint64_t last_number_ = 0;
    std::map<std::uint64_t, Member> members_;
};

}  // namespace baton::core
