#include "memory/doorbell.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>

namespace baton::core::testing {
namespace {

bool always() { return true; }

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

TEST(Doorbell, NamesAreDistinct) {
    const Doorbell a;
    const Doorbell b;
    EXPECT_NE(a.name(), b.name());
    EXPECT_GE(a.name().size(), 32U);
}

TEST(Doorbell, CarriesNumberDescriptorAndCredentials) {
    Doorbell to;
    Doorbell from;
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    ASSERT_EQ(from.ring(to.name(), 7, 42, pipe_ends[1], always), Doorbell::Rung::sent);
    ASSERT_EQ(from.ring(to.name(), 7, 43, -1, always), Doorbell::Rung::sent);
    ::close(pipe_ends[1]);

    pollfd ready{to.descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 0), 1);
    Doorbell::Message message;
    ASSERT_TRUE(to.take(&message));
    EXPECT_EQ(message.owner, 7);
    EXPECT_EQ(message.number, 42U);
    EXPECT_EQ(message.pid, ::getpid());
    EXPECT_FALSE(message.fd_lost);
    ASSERT_TRUE(message.fd);
    EXPECT_NE(::fcntl(message.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    ASSERT_EQ(::write(message.fd.get(), "x", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(pipe_ends[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
    ASSERT_TRUE(to.take(&message));
    EXPECT_EQ(message.number, 43U);
    EXPECT_FALSE(message.fd);
    EXPECT_FALSE(message.fd_lost);
    EXPECT_FALSE(to.take(&message));
    ::close(pipe_ends[0]);
}

TEST(Doorbell, GoneWhenNobodyOwnsTheName) {
    Doorbell from;
    std::string name;
    {
        const Doorbell to;
        name = to.name();
        EXPECT_EQ(from.ring(name, 0, 1, -1, always), Doorbell::Rung::sent);
    }
    EXPECT_EQ(from.ring(name, 0, 2, -1, always), Doorbell::Rung::gone);
}

TEST(Doorbell, AFullQueueIsWaitedForAndNothingIsLost) {
    constexpr std::uint64_t messages = 2000;  // more than a queue holds by far
    Doorbell to;
    Doorbell from;
    std::thread sender([&] {
        for (std::uint64_t i = 1; i <= messages; ++i) {
            EXPECT_EQ(from.ring(to.name(), 0, i, -1, always), Doorbell::Rung::sent);
        }
    });
    Doorbell::Message message;
    for (std::uint64_t i = 1; i <= messages; ++i) {
        while (!to.take(&message)) {
            pollfd ready{to.descriptor(), POLLIN, 0};
            ::poll(&ready, 1, 100);
        }
        EXPECT_EQ(message.number, i);
    }
    sender.join();
}

TEST(Doorbell, AFullQueueCanBeGivenUp) {
    Doorbell to;
    Doorbell from;
    int allowed = 3;
    Doorbell::Rung rung = Doorbell::Rung::sent;
    for (std::uint64_t i = 0; i < 100000 && rung == Doorbell::Rung::sent; ++i) {
        rung = from.ring(to.name(), 0, i, -1, [&] { return --allowed > 0; });
    }
    EXPECT_EQ(rung, Doorbell::Rung::given_up);
    EXPECT_EQ(allowed, 0);
}

TEST(Doorbell, StrangersMessagesLeaveNothingBehind) {
    Doorbell to;
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    to.name().copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + to.name().size());
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
    const std::size_t before = open_files();

    // The wrong size, with more descriptors than anybody asked for.
    constexpr int count = 5;
    int fds[count] = {0, 0, 0, 0, 0};
    char text[] = "hello";
    iovec data{text, sizeof(text)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
    msghdr message = {};
    message.msg_name = &address;
    message.msg_namelen = length;
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = {CMSG_LEN(sizeof(fds)), SOL_SOCKET, SCM_RIGHTS};
    std::copy(fds, fds + count, reinterpret_cast<int *>(CMSG_DATA(rights)));
    ASSERT_EQ(::sendmsg(socket.get(), &message, 0), static_cast<ssize_t>(sizeof(text)));

    Doorbell::Message taken;
    EXPECT_FALSE(to.take(&taken));
    EXPECT_EQ(open_files(), before);
}

TEST(Doorbell, AnotherProcessIsToldByItsNumber) {
    Doorbell to;
    const pid_t child = ::fork();
    if (child == 0) {
        Doorbell from;
        ::_exit(from.ring(to.name(), 1, 5, -1, always) == Doorbell::Rung::sent ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 0);
    Doorbell::Message message;
    ASSERT_TRUE(to.take(&message));
    EXPECT_EQ(message.pid, child);
}

TEST(Doorbell, SaysWhenADescriptorCouldNotBeTaken) {
    Doorbell to;
    Doorbell from;
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_EQ(from.ring(to.name(), 0, 1, 0, always), Doorbell::Rung::sent);
    const UniqueFd lowest(::dup(0));
    const rlimit none_left{static_cast<rlim_t>(lowest.get()) + 1, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
    Doorbell::Message message;
    const bool taken = to.take(&message);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(taken);
    EXPECT_TRUE(message.fd_lost);
    EXPECT_FALSE(message.fd);
}

}  // namespace
}  // namespace baton::core::testing
