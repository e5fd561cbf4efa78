#include "memory/doorbell.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "util/failure.hpp"
#include "util/random.hpp"

namespace baton::core {
namespace {

struct Payload {
    std::uint64_t number = 0;
    std::int32_t owner = 0;
    std::uint32_t carries_fd = 0;
};

struct Address {
    sockaddr_un name = {};
    socklen_t length = 0;

    explicit Address(std::string_view text) {
        name.sun_family = AF_UNIX;
        // The leading zero byte means the abstract namespace, which needs no cleaning up. The length ends the name.
        std::memcpy(name.sun_path + 1, text.data(), text.size());
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    }
    const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&name); }
};

UniqueFd make_socket() {
    UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) fail(BATON_ERR_SYSTEM, "socket(AF_UNIX): {}", errno_text(errno));
    return fd;
}

union FdControl {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Doorbell::Doorbell() : name_(random_name("baton-")), inbox_(make_socket()), outbox_(make_socket()) {
    const int on = 1;
    if (::setsockopt(inbox_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
        fail(BATON_ERR_SYSTEM, "setsockopt(SO_PASSCRED): {}", errno_text(errno));
    }
    const Address address(name_);
    if (::bind(inbox_.get(), address.get(), address.length) != 0) {
        fail(BATON_ERR_SYSTEM, "bind of an abstract unix socket: {}", errno_text(errno));
    }
}

Doorbell::Rung Doorbell::ring(std::string_view peer, int owner, std::uint64_t number, int fd,
                              const std::function<bool()> &keep_trying) {
    // Connected (until the next ring), because only then does poll() know about the peer's full queue.
    const Address address(peer);
    if (::connect(outbox_.get(), address.get(), address.length) != 0) {
        if (errno == ECONNREFUSED) return Rung::gone;
        fail(BATON_ERR_SYSTEM, "connect to a peer's unix socket: {}", errno_text(errno));
    }
    Payload payload{number, owner, fd >= 0 ? 1U : 0U};
    iovec data{&payload, sizeof(payload)};
    FdControl control = {};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        std::memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    }
    while (::sendmsg(outbox_.get(), &message, MSG_NOSIGNAL) < 0) {
        switch (errno) {
            case ECONNREFUSED:
            case ECONNRESET:
            case ENOTCONN:
                return Rung::gone;
            case EINTR:
                break;
            case EAGAIN: {  // the peer's queue is full; its service thread is emptying it
                pollfd writable{outbox_.get(), POLLOUT, 0};
                ::poll(&writable, 1, 10);
                break;
            }
            case ENOBUFS:
            case ETOOMANYREFS:
                ::sched_yield();
                break;  // too many descriptors are under way, until some are taken
            default:
                fail(BATON_ERR_SYSTEM, "sendmsg to a peer's unix socket: {}", errno_text(errno));
        }
        if (!keep_trying()) return Rung::given_up;
    }
    return Rung::sent;
}

bool Doorbell::take(Message *result) {
    for (;;) {
        *result = Message{};
        Payload payload;
        iovec data{&payload, sizeof(payload)};
        // Room for more descriptors than a peer sends: a stranger's are taken as well, and closed.
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(16 * sizeof(int))];
        msghdr message = {};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        const ssize_t received = ::recvmsg(inbox_.get(), &message, MSG_CMSG_CLOEXEC);
        if (received < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        for (cmsghdr *part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
            if (part->cmsg_level != SOL_SOCKET) continue;
            if (part->cmsg_type == SCM_CREDENTIALS) {
                ucred sender = {};
                std::memcpy(&sender, CMSG_DATA(part), sizeof(sender));
                result->pid = sender.pid;
            } else if (part->cmsg_type == SCM_RIGHTS) {
                const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (std::size_t i = 0; i < count; ++i) {
                    int fd = -1;
                    std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
                    result->fd.reset(fd);  // closes the one before
                }
            }
        }
        if (received != static_cast<ssize_t>(sizeof(payload))) continue;
        result->owner = payload.owner;
        result->number = payload.number;
        result->fd_lost = payload.carries_fd != 0 && !result->fd;
        return true;
    }
}

}  // namespace baton::core
