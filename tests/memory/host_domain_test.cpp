#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "cuda/current_gpu.hpp"
#include "memory/memory_domain.hpp"
#include "support/failing_new.hpp"
#include "support/process_maps.hpp"
#include "support/thrown_by.hpp"
#include "util/failure.hpp"
#include "util/unique_fd.hpp"

namespace baton::core::testing {
namespace {

using Kind = PointerInfo::Kind;

UniqueFd duplicate_of(const UniqueFd &fd) { return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)); }

TEST(HostDomain, AllocatesAlignedZeroedMemoryThatItKnows) {
    const auto domain = make_host_domain(false);
    EXPECT_FALSE(domain->on_gpu());
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1000001}}) {
        auto *memory = static_cast<unsigned char *>(domain->allocate(bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
        EXPECT_TRUE(std::all_of(memory, memory + bytes, [](unsigned char b) { return b == 0; }));
        for (const std::size_t offset : {std::size_t{0}, bytes / 2, bytes == 0 ? 0 : bytes - 1}) {
            const PointerInfo info = domain->classify(memory + offset);
            EXPECT_EQ(info.kind, Kind::host);
            EXPECT_EQ(info.base, reinterpret_cast<std::uintptr_t>(memory));
            EXPECT_GE(info.size, bytes);
            EXPECT_NE(info.buffer_id, 0U);
        }
        domain->release(memory);
    }
}

TEST(HostDomain, MoreThanThereIsIsAnError) {
    // Should the domain ever try, a limit on file sizes stops it before the machine runs out of memory.
    rlimit before = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit safe{std::min(before.rlim_max, rlim_t{1} << 30), before.rlim_max};
    const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &safe), 0);
    const auto domain = make_host_domain(false);
    for (const std::size_t bytes : {SIZE_MAX, std::size_t{1} << 61, std::size_t{1} << 50}) {
        const Failure failure = test::thrown_by([&] { domain->allocate(bytes); });
        EXPECT_EQ(failure.code(), BATON_ERR_MEMORY) << bytes << " bytes: " << failure.what();
        if (bytes != SIZE_MAX) {
            EXPECT_NE(std::string(failure.what()).find("are available"), std::string::npos) << failure.what();
        }
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, old_handler);
}

TEST(HostDomain, NothingStaysMappedWhereMemoryRunsOut) {
    const auto domain = make_host_domain(false);
    // Runs `map` with ever more allocations until it succeeds, and checks that its failures leave nothing mapped.
    const auto map_at_last = [&](const std::function<void *()> &map) -> void * {
        const std::size_t before = test::mapped_host_memory();
        for (long allocations = 0; allocations < 100; ++allocations) {
            test::allocations_left = allocations;
            try {
                void *const memory = map();
                test::allocations_left = -1;
                EXPECT_GT(allocations, 0);
                EXPECT_EQ(test::mapped_host_memory(), before + 1);
                return memory;
            } catch (const std::bad_alloc &) {
                test::allocations_left = -1;
                EXPECT_EQ(test::mapped_host_memory(), before) << "allocation " << allocations;
            }
        }
        return nullptr;
    };
    void *const memory = map_at_last([&] { return domain->allocate(4096); });
    ASSERT_NE(memory, nullptr);
    const Export exported = domain->export_region(domain->classify(memory));
    void *const imported =
        map_at_last([&] { return domain->import_region(1, exported.post, duplicate_of(exported.fd)); });
    ASSERT_NE(imported, nullptr);
    domain->unimport_region(exported.post, imported);
    domain->release(memory);
}

/// Also the addresses that the kernel would take for a null set of signals (readable.hpp).
TEST(HostDomain, LowAddressesAreInvalid) {
    const auto domain = make_host_domain(false);
    for (std::uintptr_t address = 1; address < 4096; address = address < 16 ? address + 1 : address * 2)
        EXPECT_EQ(domain->classify(reinterpret_cast<const void *>(address)).kind, Kind::invalid) << address;
}

TEST(HostDomain, ReleasedMemoryIsInvalidAndItsAddressGetsANewId) {
    const auto domain = make_host_domain(false);
    void *memory = domain->allocate(1 << 16);
    const PointerInfo before = domain->classify(memory);
    domain->release(memory);
    EXPECT_EQ(domain->classify(memory).kind, Kind::invalid);
    EXPECT_THROW(domain->release(memory), Failure);
    void *again = domain->allocate(1 << 16);
    EXPECT_NE(domain->classify(again).buffer_id, before.buffer_id);
    domain->release(again);
}

TEST(HostDomain, OtherMemoryIsHostWithoutBase) {
    const auto domain = make_host_domain(false);
    std::vector<int> heap(100);
    int stack = 0;
    for (const void *pointer : {static_cast<const void *>(heap.data()), static_cast<const void *>(&stack),
                                static_cast<const void *>("text")}) {
        const PointerInfo info = domain->classify(pointer);
        EXPECT_EQ(info.kind, Kind::host);
        EXPECT_EQ(info.base, 0U);
        EXPECT_EQ(info.size, 0U);
        const Export refused = domain->export_region(info);
        EXPECT_EQ(refused.post.kind, HandleKind::none);
        EXPECT_FALSE(refused.fd);
        EXPECT_EQ(refused.reason, "ordinary host memory is not shared between processes");
    }
}

TEST(HostDomain, UnmappedAndReservedAddressesAreInvalid) {
    const auto domain = make_host_domain(false);
    EXPECT_EQ(domain->classify(nullptr).kind, Kind::invalid);
    EXPECT_EQ(domain->classify(reinterpret_cast<void *>(0x10)).kind, Kind::invalid);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void *reserved = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(reserved, MAP_FAILED);
    EXPECT_EQ(domain->classify(static_cast<char *>(reserved) + 5).kind, Kind::invalid);
    ::mprotect(reserved, page, PROT_READ);
    EXPECT_EQ(domain->classify(static_cast<char *>(reserved) + page - 1).kind, Kind::host);
    ::munmap(reserved, page);
    EXPECT_EQ(domain->classify(reserved).kind, Kind::invalid);
}

void import_sees_the_same_memory(int ranks, bool oversubscribed = false) {
    const auto owner = make_host_domain(false, ranks, oversubscribed);
    const auto peer = make_host_domain(false, ranks, oversubscribed);
    auto *memory = static_cast<char *>(owner->allocate(10000));
    Export exported = owner->export_region(owner->classify(memory + 77));
    ASSERT_EQ(exported.post.kind, HandleKind::memfd);
    EXPECT_EQ(exported.post.base, reinterpret_cast<std::uintptr_t>(memory));
    ASSERT_TRUE(exported.fd);

    auto *seen = static_cast<char *>(peer->import_region(0, exported.post, std::move(exported.fd)));
    ASSERT_NE(seen, memory);
    std::strcpy(memory + 100, "written by the owner");
    EXPECT_STREQ(seen + 100, "written by the owner");
    EXPECT_EQ(peer->classify(seen + 100).kind, Kind::invalid) << "not the user's";
    peer->hand_out(seen);
    EXPECT_EQ(peer->classify(seen + 100).kind, Kind::host);
    EXPECT_EQ(peer->classify(seen + 100).base, 0U) << "not to be exported by the peer";
    peer->take_back(seen);
    EXPECT_EQ(peer->classify(seen + 100).kind, Kind::invalid) << "not the user's any more";
    owner->release(memory);  // the importer's mapping stays
    EXPECT_STREQ(seen + 100, "written by the owner");
    peer->unimport_region(exported.post, seen);
    EXPECT_EQ(peer->classify(seen).kind, Kind::invalid);
}

TEST(HostDomain, ImportSeesTheSameMemory) { import_sees_the_same_memory(2); }
TEST(HostDomain, ImportSeesTheSameMemoryOfManyRanks) { import_sees_the_same_memory(64); }
TEST(HostDomain, ImportSeesTheSameMemoryWhereRanksShareProcessors) { import_sees_the_same_memory(2, true); }

TEST(HostDomain, InOneProcessTheAddressItselfIsExported) {
    const auto domain = make_host_domain(true);
    auto *memory = static_cast<int *>(domain->allocate(100));
    const Export exported = domain->export_region(domain->classify(memory));
    EXPECT_EQ(exported.post.kind, HandleKind::same_address);
    EXPECT_FALSE(exported.fd);
    EXPECT_EQ(domain->import_region(0, exported.post, {}), memory);
    EXPECT_EQ(domain->import_region(0, exported.post, {}), memory);
    domain->unimport_region(exported.post, memory);
    EXPECT_EQ(domain->classify(memory).base, exported.post.base);
    // As between processes, imported memory stays readable after its owner has released it.
    *memory = 4711;
    domain->release(memory);
    EXPECT_EQ(domain->classify(memory).kind, Kind::invalid) << "not the user's any more";
    EXPECT_EQ(*memory, 4711);
    EXPECT_THROW(domain->release(memory), Failure);
    domain->unimport_region(exported.post, memory);
    EXPECT_EQ(domain->classify(memory).kind, Kind::invalid);
    unsigned char resident = 0;
    EXPECT_NE(::mincore(memory, 1, &resident), 0) << "still mapped";
}

TEST(HostDomain, WhatIsExportedKeepsItsSize) {
    const auto domain = make_host_domain(false);
    void *memory = domain->allocate(100);
    const Export exported = domain->export_region(domain->classify(memory));
    EXPECT_NE(::ftruncate(exported.fd.get(), 0), 0) << "a peer could take the pages from under its owner";
    domain->release(memory);
}

TEST(HostDomain, StaleInfoIsNotExported) {
    const auto domain = make_host_domain(false);
    void *memory = domain->allocate(100);
    const PointerInfo info = domain->classify(memory);
    domain->release(memory);
    EXPECT_EQ(domain->export_region(info).post.kind, HandleKind::none);
}

/// Above 1 GiB (mapped_at_once), so that mapping takes no longer however much a peer allocates.
TEST(HostDomain, PagesOfLargeMemoryOfAPeerAreMappedAsTheyAreUsed) {
    const auto domain = make_host_domain(false);
    RegionPost post;
    post.kind = HandleKind::memfd;
    post.size = std::uint64_t{2} << 30;
    const UniqueFd fd(::memfd_create("sparse", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(post.size)), 0);
    void *const memory = domain->import_region(1, post, duplicate_of(fd));
    struct stat status = {};
    ASSERT_EQ(::fstat(fd.get(), &status), 0);
    EXPECT_EQ(status.st_blocks, 0) << "pages are there";
    domain->unimport_region(post, memory);
}

TEST(HostDomain, ATruncatedOrMissingDescriptorIsRefused) {
    const auto domain = make_host_domain(false);
    void *memory = domain->allocate(8192);
    Export exported = domain->export_region(domain->classify(memory));
    RegionPost longer = exported.post;
    longer.size *= 2;
    EXPECT_THROW(domain->import_region(3, longer, std::move(exported.fd)), Failure);
    EXPECT_THROW(domain->import_region(3, exported.post, {}), Failure);
    RegionPost device = exported.post;
    device.kind = HandleKind::cuda_ipc;
    EXPECT_THROW(domain->import_region(3, device, {}), Failure);
    domain->release(memory);
}

TEST(HostDomain, ManyThreadsAllocateAndRelease) {
    const auto domain = make_host_domain(false);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&domain, t] {
            for (int i = 0; i < 100; ++i) {
                auto *memory = static_cast<int *>(domain->allocate(64));
                *memory = t;
                EXPECT_EQ(domain->classify(memory).base, reinterpret_cast<std::uintptr_t>(memory));
                EXPECT_EQ(*memory, t);
                domain->release(memory);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

#if !BATON_WITH_CUDA
TEST(NoCuda, IsUnsupportedInABuildWithoutCuda) {
    EXPECT_EQ(current_gpu(), -1);
    EXPECT_EQ(test::thrown_by([] { make_cuda_domain(); }).code(), BATON_ERR_UNSUPPORTED);
}
#endif

}  // namespace
}  // namespace baton::core::testing
