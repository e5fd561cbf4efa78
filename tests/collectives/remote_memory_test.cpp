#include "transport/host/remote_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace baton::core {
namespace {

/// The system moves what lies before the hole, and says so: that is no success.
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

}  // namespace
}  // namespace baton::core
