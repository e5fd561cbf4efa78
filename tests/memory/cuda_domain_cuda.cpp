// The CUDA domain between forked processes, on any number of GPUs, which ranks take in turn. The test process itself
// never touches CUDA, because a context does not survive fork().
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/driver.hpp"
#include "cuda/guard.hpp"
#include "memory/gpu_pointer.hpp"
#include "memory/peer_memory.hpp"
#include "memory/region_registry.hpp"
#include "ranks.hpp"
#include "support/driver_function.hpp"
#include "support/needs_gpu.hpp"
#include "support/thrown_by.hpp"
#include "util/failure.hpp"

namespace baton::core::testing {
namespace {

using Kind = PointerInfo::Kind;
constexpr auto patience = std::chrono::milliseconds(30000);
constexpr std::size_t bytes = std::size_t{3} << 20;

bool gpu_is_there() {
    static const bool there = [] {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(current_gpu() >= 0 ? 0 : 1);
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }();
    return there;
}

class CudaDomain : public ::testing::Test {
protected:
    void SetUp() override {
        if (!gpu_is_there()) SKIP_WITHOUT_GPU("no GPU");
    }

    static void run(int size, const std::function<void(Bootstrap &)> &body) {
        const auto ended = run_processes(size, [&](Bootstrap &bootstrap) {
            int devices = 0;
            check_cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
            check_cuda(cudaSetDevice(bootstrap.rank() % devices), "cudaSetDevice");
            body(bootstrap);
        });
        for (std::size_t r = 0; r < ended.size(); ++r) {
            EXPECT_EQ(ended[r].exit_code, 0) << "rank " << r << ", signal " << ended[r].signal;
        }
    }
};

void fill(void *memory, int value) {
    check_cuda(cudaMemset(memory, value, bytes), "cudaMemset");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void expect_filled(const void *memory, int value) {
    std::vector<unsigned char> copy(bytes);
    check_cuda(cudaMemcpy(copy.data(), memory, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    const std::vector<unsigned char> expected(bytes, static_cast<unsigned char>(value));
    EXPECT_TRUE(copy == expected) << "first byte " << int{copy[0]} << " instead of " << value;
}

/// What a rank tells the others about one of its buffers.
struct Told {
    PublishedRegion place;
    std::uint64_t offset = 0;
};

struct Rank {
    explicit Rank(Bootstrap &the_bootstrap, std::unique_ptr<MemoryDomain> the_domain = make_cuda_domain())
        : bootstrap(the_bootstrap),
          domain(std::move(the_domain)),
          peers(bootstrap, *domain, {}),
          registry(*domain, peers, patience) {}

    /// All ranks write the right-hand neighbour's buffer and read the left-hand neighbour's: both directions at once.
    void exchange(void *mine, int round) {
        const auto place = registry.locate(domain->classify(mine), mine, bytes);
        EXPECT_TRUE(place.direct) << place.reason;
        const auto all = bootstrap.allgather(Told{place.place, place.offset});
        const int rank = bootstrap.rank();
        const int size = bootstrap.size();
        fill(address_at((rank + 1) % size, all), 10 * round + rank + 1);
        bootstrap.barrier();
        expect_filled(mine, 10 * round + (rank + size - 1) % size + 1);
        const int left = (rank + size - 1) % size;
        expect_filled(address_at(left, all), 10 * round + (left + size - 1) % size + 1);
        bootstrap.barrier();
    }

    char *address_at(int owner, const std::vector<Told> &all) {
        const Told &told = all[static_cast<std::size_t>(owner)];
        auto *start = static_cast<char *>(peers.address(owner, told.place));
        if (start == nullptr) fail(BATON_ERR_INTERNAL, "region of rank {} is not mapped", owner);
        RegionEntry line;
        const RegionEntry *lines = peers.table() + static_cast<std::size_t>(owner) * region_slots + told.place.slot;
        check_cuda(cudaMemcpy(&line, lines, sizeof(line), cudaMemcpyDeviceToHost), "cudaMemcpy of a table line");
        EXPECT_EQ(line.address, reinterpret_cast<std::uintptr_t>(start));
        EXPECT_EQ(line.generation, told.place.generation);
        return start + told.offset;
    }

    Bootstrap &bootstrap;
    std::unique_ptr<MemoryDomain> domain;
    PeerMemory peers;
    RegionRegistry registry;
};

TEST_F(CudaDomain, PlainMemoryReachesTheOtherProcesses) {
    run(3, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        void *memory = nullptr;
        check_cuda(cudaMalloc(&memory, bytes + 512), "cudaMalloc");
        EXPECT_TRUE(rank.domain->classify(memory).legacy_ipc);
        rank.exchange(static_cast<char *>(memory) + 512, 0);
        cudaFree(memory);
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, SmallAllocationsThatShareABlockAreToldApart) {
    run(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        const int other = 1 - bootstrap.rank();
        std::vector<void *> memory(8, nullptr);
        for (int i = 0; i < 8; ++i) {
            check_cuda(cudaMalloc(&memory[static_cast<std::size_t>(i)], 1024), "cudaMalloc");
            const int value = 100 * bootstrap.rank() + i;
            check_cuda(cudaMemcpy(memory[static_cast<std::size_t>(i)], &value, sizeof(value), cudaMemcpyHostToDevice),
                       "copy");
        }
        for (int i = 0; i < 8; ++i) {
            void *mine = memory[static_cast<std::size_t>(i)];
            const auto place = rank.registry.locate(rank.domain->classify(mine), mine, 1024);
            ASSERT_TRUE(place.direct) << place.reason;
            const auto all = bootstrap.allgather(Told{place.place, place.offset});
            int value = -1;
            check_cuda(cudaMemcpy(&value, rank.address_at(other, all), sizeof(value), cudaMemcpyDeviceToHost), "copy");
            EXPECT_EQ(value, 100 * other + i);
            bootstrap.barrier();
        }
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, MemoryFreedAndAllocatedAgainIsANewRegionWhileTheOldMappingIsHeld) {
    run(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        for (int round = 0; round < 6; ++round) {
            void *memory = nullptr;
            check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
            rank.exchange(memory, round);
            check_cuda(cudaFree(memory), "cudaFree");
            if (round == 3) rank.peers.reclaim();
            bootstrap.barrier();
        }
        rank.peers.leave();
        bootstrap.barrier();
    });
}

/// A neighbour keeps the driver's block alive, so the peer's old mapping shows what comes after the freed memory.
TEST_F(CudaDomain, AnotherSizeInThePlaceOfFreedMemoryOfASharedBlockIsReached) {
    run(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        const int other = 1 - bootstrap.rank();
        const auto publish = [&](void *mine, std::size_t size) {
            const auto place = rank.registry.locate(rank.domain->classify(mine), mine, size);
            EXPECT_TRUE(place.direct) << place.reason;
            return rank.address_at(other, bootstrap.allgather(Told{place.place, place.offset}));
        };
        void *memory = nullptr;
        void *between = nullptr;
        void *neighbour = nullptr;
        check_cuda(cudaMalloc(&memory, 100000), "cudaMalloc");
        check_cuda(cudaMalloc(&between, 100000), "cudaMalloc");
        check_cuda(cudaMalloc(&neighbour, 4096), "cudaMalloc");
        publish(memory, 100000);
        publish(neighbour, 4096);
        check_cuda(cudaFree(between), "cudaFree");
        int value = 0;
        for (const std::size_t size : {5000, 100000, 30000, 70000}) {
            check_cuda(cudaFree(memory), "cudaFree");
            check_cuda(cudaMalloc(&memory, size), "cudaMalloc");
            char *theirs = publish(memory, size);
            check_cuda(cudaMemset(theirs, ++value, size), "cudaMemset of the peer's memory");
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            bootstrap.barrier();
            std::vector<unsigned char> copy(size);
            check_cuda(cudaMemcpy(copy.data(), memory, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
            EXPECT_EQ(copy, std::vector<unsigned char>(size, static_cast<unsigned char>(value))) << size << " bytes";
            bootstrap.barrier();
            if (value == 2) rank.peers.reclaim();
        }
        // Larger than the peer's old mapping: copied, until that mapping is gone.
        check_cuda(cudaFree(memory), "cudaFree");
        check_cuda(cudaMalloc(&memory, 150000), "cudaMalloc");
        const auto place = rank.registry.locate(rank.domain->classify(memory), memory, 150000);
        EXPECT_TRUE(place.direct || place.reason.find("AlreadyMapped") != std::string::npos) << place.reason;
        bootstrap.barrier();
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, VmmMemoryTravelsByDescriptor) {
    run(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        CUmemAllocationProp properties = {};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = current_gpu();
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        constexpr std::size_t piece = std::size_t{4} << 20;
        CUmemAccessDesc access = {};
        access.location = properties.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        const auto create = test::driver_function<decltype(cuMemCreate)>("cuMemCreate");
        // Two allocations side by side in one reservation: the second one is a region of its own.
        CUdeviceptr address = 0;
        check_driver(driver().mem_address_reserve(&address, 2 * piece, 0, 0, 0), "reserve");
        for (int i = 0; i < 2; ++i) {
            CUmemGenericAllocationHandle handle = 0;
            check_driver(create(&handle, piece, &properties, 0), "create");
            check_driver(driver().mem_map(address + static_cast<std::size_t>(i) * piece, piece, 0, handle, 0), "map");
            driver().mem_release(handle);
        }
        check_driver(driver().mem_set_access(address, 2 * piece, &access, 1), "access");
        for (int i = 0; i < 2; ++i) {
            const CUdeviceptr start = address + static_cast<std::size_t>(i) * piece;
            const PointerInfo info = rank.domain->classify(reinterpret_cast<void *>(start + 4096));
            EXPECT_EQ(info.base, start);
            EXPECT_EQ(info.size, piece);
            EXPECT_TRUE(info.posix_fd);
            rank.exchange(reinterpret_cast<void *>(start + 4096), i);
        }
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, MemoryOfAnExportablePoolTravelsByDescriptor) {
    run(2, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        cudaMemPoolProps properties = {};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = current_gpu();
        cudaMemPool_t pool = nullptr;
        check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
        for (int round = 0; round < 3; ++round) {  // three allocations of one pool
            void *memory = nullptr;
            check_cuda(cudaMallocFromPoolAsync(&memory, bytes, pool, nullptr), "cudaMallocFromPoolAsync");
            check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
            EXPECT_NE(rank.domain->classify(memory).pool, nullptr);
            rank.exchange(memory, round);
        }
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, WhatCannotBeExportedSaysWhy) {
    run(1, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap);
        const auto reason = [&](void *memory, Kind kind) {
            const PointerInfo info = rank.domain->classify(memory);
            EXPECT_EQ(info.kind, kind);
            return rank.domain->export_region(info).reason;
        };
        void *memory = nullptr;
        check_cuda(cudaMallocAsync(&memory, bytes, nullptr), "cudaMallocAsync");
        EXPECT_NE(reason(memory, Kind::device).find("pool"), std::string::npos);
        check_cuda(cudaMallocManaged(&memory, bytes), "cudaMallocManaged");
        EXPECT_EQ(reason(memory, Kind::managed), "managed memory cannot be exported");
        check_cuda(cudaMallocHost(&memory, bytes), "cudaMallocHost");
        EXPECT_NE(reason(memory, Kind::host).find("host memory"), std::string::npos);
        check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
        check_cuda(cudaFree(memory), "cudaFree");
        EXPECT_EQ(rank.domain->classify(memory).kind, Kind::invalid);
        EXPECT_EQ(rank.domain->classify(nullptr).kind, Kind::invalid);
    });
}

TEST_F(CudaDomain, AllocatesZeroedMemoryOfWholeBlocks) {
    run(1, [](Bootstrap &) {
        const auto domain = make_cuda_domain();
        EXPECT_TRUE(domain->on_gpu());
        void *memory = domain->allocate(bytes - 1);
        const PointerInfo info = domain->classify(memory);
        EXPECT_EQ(info.base, reinterpret_cast<std::uintptr_t>(memory));
        EXPECT_EQ(info.size, std::size_t{4} << 20);
        expect_filled(memory, 0);
        domain->release(memory);
        EXPECT_THROW(domain->allocate(std::size_t{1} << 60), Failure);
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    });
}

TEST_F(CudaDomain, MappedHostMemoryReachesTheOtherProcesses) {
    run(3, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap, make_mapped_domain("a test says so"));
        EXPECT_TRUE(rank.domain->on_gpu());
        for (int round = 0; round < 2; ++round) {
            const RegionRegistry::Allocation mine = rank.registry.allocate_published(bytes);
            const PointerInfo info = rank.domain->classify(static_cast<char *>(mine.pointer) + bytes - 1);
            EXPECT_EQ(info.kind, Kind::pinned);
            EXPECT_EQ(info.base, reinterpret_cast<std::uintptr_t>(mine.pointer));
            EXPECT_GE(info.size, bytes);
            expect_filled(mine.pointer, 0);
            const auto all = bootstrap.allgather(mine.published);
            const int left = (bootstrap.rank() + 2) % 3;
            const auto &theirs = all[static_cast<std::size_t>(left)];
            void *const seen = rank.peers.address(left, theirs);
            EXPECT_EQ(rank.domain->classify(seen).kind, Kind::pinned);
            EXPECT_NE(rank.domain->classify(seen).buffer_id, info.buffer_id);
            rank.exchange(mine.pointer, round);
            rank.registry.release_published(mine.pointer);
            EXPECT_NE(rank.domain->classify(mine.pointer).kind, Kind::pinned);
            bootstrap.barrier();
            rank.peers.reclaim();
        }
        rank.peers.leave();
        bootstrap.barrier();
    });
}

TEST_F(CudaDomain, WhereMemoryIsMappedDeviceMemoryIsNotExported) {
    run(1, [](Bootstrap &bootstrap) {
        Rank rank(bootstrap, make_mapped_domain("a test says so"));
        void *memory = nullptr;
        check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
        const PointerInfo info = rank.domain->classify(memory);
        EXPECT_EQ(info.kind, Kind::device);
        const auto place = rank.registry.locate(info, memory, bytes);
        EXPECT_FALSE(place.direct);
        EXPECT_NE(place.reason.find("a test says so"), std::string::npos) << place.reason;
        check_cuda(cudaMallocHost(&memory, bytes), "cudaMallocHost");
        EXPECT_EQ(rank.domain->classify(memory).kind, Kind::host) << "pinned, but not by the domain";
        EXPECT_THROW(rank.domain->allocate(std::size_t{1} << 60), Failure);
    });
}

TEST_F(CudaDomain, AHostDomainKnowsDeviceMemoryFromAnyThread) {
    run(1, [](Bootstrap &) {
        void *memory = nullptr;
        check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc");
        const auto domain = make_host_domain(false);
        EXPECT_EQ(domain->classify(memory).kind, Kind::device);
        std::thread([&] { EXPECT_EQ(domain->classify(memory).kind, Kind::device); }).join();
        int stack = 0;
        EXPECT_EQ(domain->classify(&stack).kind, Kind::host);
    });
}

TEST(NoGpu, IsSaidClearly) {
    if (gpu_is_there()) GTEST_SKIP() << "a GPU is there";
    EXPECT_EQ(current_gpu(), -1);
    int stack = 0;
    PointerInfo info;
    EXPECT_FALSE(classify_on_gpu(&stack, &info));
    EXPECT_EQ(make_host_domain(false)->classify(&stack).kind, Kind::host);
    const Failure failure = test::thrown_by([] { make_cuda_domain(); });
    EXPECT_EQ(failure.code(), BATON_ERR_UNSUPPORTED);
    EXPECT_STRNE(failure.what(), "");
}

}  // namespace
}  // namespace baton::core::testing
