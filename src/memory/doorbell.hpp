#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "util/unique_fd.hpp"

namespace baton::core {

/// A rank's datagram socket in the abstract namespace. Peers ring it to say that a post is on the board, and send the
/// post's file descriptor along. The kernel attaches the sender's process to every message, so that the receiver can
/// tell a peer from a stranger who found the name. Rings may be lost or late: the board is the truth, except that a
/// descriptor comes no other way.
class Doorbell {
public:
    Doorbell(); /* takes a new random name */

    const std::string &name() const { return name_; }
    int descriptor() const { return inbox_.get(); } /* readable while messages wait */

    enum class Rung {
        sent,
        gone,
        given_up
    };

    /// Sends to the doorbell called `peer`, with `fd` unless it is -1; `fd` stays the caller's. While the peer's queue
    /// is full, waits as long as `keep_trying` says. gone: nobody owns that name any more. REQUIRES: one ring() at a
    /// time.
    Rung ring(std::string_view peer, int owner, std::uint64_t number, int fd, const std::function<bool()> &keep_trying);

    struct Message {
        int owner = -1;
        std::uint64_t number = 0;  // of the post
        bool fd_lost = false;      // one was sent, but this process could not take it (too many open files)
        UniqueFd fd;
        pid_t pid = 0;  // of the sender, vouched for by the kernel
    };

    /// Takes the next message; false if none waits. Drops what does not have a doorbell's form.
    bool take(Message *message);

private:
    std::string name_;
    UniqueFd inbox_;
    UniqueFd outbox_;
};

}  // namespace baton::core
