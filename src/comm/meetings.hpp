#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bootstrap/agree.hpp"
#include "bootstrap/bootstrap.hpp"
#include "comm/breakage.hpp"
#include "memory/peer_memory.hpp"

namespace baton::core {

/// How long ranks wait for each other in creation: at least 60 s, because they drift apart while they set up their
/// GPUs, and a timeout may be meant for short operations.
inline std::chrono::nanoseconds creation_patience(std::chrono::nanoseconds timeout) {
    return std::max<std::chrono::nanoseconds>(timeout, std::chrono::seconds(60));
}

/// Where all ranks of a communicator meet in its collective calls (creation, windows, destruction), over the bootstrap.
/// Operations meet in memory instead. Such a call succeeds on all ranks or fails on all, and a wait ends when the
/// communicator breaks or its timeout is over. Not thread-safe: the caller has the communicator's turn.
class Meetings {
public:
    enum class Call : std::int32_t {
        comm_create,
        window_create,
        window_destroy,
        comm_destroy
    };

    /// From now on watches the bootstrap's waits, and ends them. The call is comm_create until enter().
    Meetings(Bootstrap &bootstrap, Breakage &breakage);
    Meetings(const Meetings &) = delete;
    Meetings &operator=(const Meetings &) = delete;

    /// From now on `board` shows who has come; null: no longer. All ranks call it between the same two meetings.
    void use_board(PeerMemory *board) { board_ = board; }
    /// Sets the call that this rank is in. Ranks in different calls learn that when they meet.
    void enter(Call call) { call_ = call; }

    /// Collective: runs `body` and throws Agreed on every rank if it threw on any. Returns the arguments of all ranks.
    /// A rank in another call breaks the communicator with MISMATCH. If it throws anything but Agreed, this rank alone
    /// goes no further: the caller must break the communicator (in creation: give up), since the others would take this
    /// rank's next meeting for the one that they are in.
    std::vector<std::uint64_t> together(const std::function<void()> &body, std::uint64_t argument = 0);
    /// Collective: returns the text of the first rank that has one; empty if none has.
    std::string first_said(const std::string &mine);
    /// Breaks the communicator with MISMATCH.
    [[noreturn]] void disagree(const std::string &text);

private:
    void watch(std::chrono::nanoseconds waited);

    Bootstrap &bootstrap_;
    Breakage &breakage_;
    PeerMemory *board_ = nullptr;
    Call call_ = Call::comm_create;
};

}  // namespace baton::core
