#include "transport/host/remote_memory.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/child_process.hpp"

namespace baton::core {
namespace {

/// The system moves what lies before the hole, and returns so many bytes: that is no success.
TEST(RemoteMemory, ACopyThatEndsEarlyFails) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void *const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    ASSERT_EQ(::munmap(static_cast<std::byte *>(pages) + page, page), 0);
    const HostRemote remote{static_cast<std::byte *>(pages), ::getpid()};
    std::vector<std::byte> buffer(2 * page);
    if (!host_read(buffer.data(), remote, page)) GTEST_SKIP() << "process_vm_readv: " << std::strerror(errno);
    EXPECT_TRUE(host_write(remote, buffer.data(), page));
    EXPECT_FALSE(host_read(buffer.data(), remote, 2 * page));
    EXPECT_FALSE(host_write(remote, buffer.data(), 2 * page));
    ::munmap(pages, page);
}

TEST(RemoteMemory, OfAProcessWhoseMainThreadHasLeftIsReached) {
    std::uint64_t word = 42;
    const pid_t child = test::start_child_without_main_thread();
    const char state = test::process_state(child);
    const HostRemote remote{reinterpret_cast<std::byte *>(&word), child};  // the child's copy of it
    std::uint64_t found = 0;
    const bool reached = host_read(reinterpret_cast<std::byte *>(&found), remote, sizeof(found));
    const int reason = errno;
    const std::uint64_t other = 43;
    const bool written = host_write(remote, reinterpret_cast<const std::byte *>(&other), sizeof(other)) &&
                         host_read(reinterpret_cast<std::byte *>(&word), remote, sizeof(word));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(state, 'Z');
    if (!reached && reason == EPERM) GTEST_SKIP() << "the system refuses process_vm_readv";
    EXPECT_TRUE(reached) << std::strerror(reason);
    EXPECT_EQ(found, 42U);
    EXPECT_TRUE(written);
    EXPECT_EQ(word, 43U);
    EXPECT_FALSE(host_read(reinterpret_cast<std::byte *>(&found), remote, sizeof(found)));
    EXPECT_EQ(copy_error(), BATON_ERR_PEER_DEAD);
}

}  // namespace
}  // namespace baton::core
