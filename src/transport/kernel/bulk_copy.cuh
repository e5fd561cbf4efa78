#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/kernel/launch.hpp"

/// Copies by the tensor memory accelerator (sm_90): one thread moves tiles from global memory through shared memory to
/// global memory, here or at a peer. Measured on 8 H200, all ranks pushing to all others, against stores of registers:
/// 339 GB/s instead of 317 to 331 at 16 MiB a peer, 267 to 279 instead of 250 to 270 at 1 MiB (docs/performance.md).
namespace baton::core {

/// Less than this a block copies with its threads: the pipeline takes longer to fill and to drain.
inline constexpr std::uint64_t bulk_least_bytes = 4 * bulk_tile_bytes;

/// Lies in static shared memory, one per block.
struct BulkShared {
    alignas(8) std::uint64_t loaded[bulk_stages];  // mbarriers: the stage's tile has come
    std::byte *to[bulk_stages];
    std::uint32_t bytes[bulk_stages];
};

/// The pipeline of one block. All methods are called by one and the same thread.
///
/// Half of the stages load while the others are being stored: a stage is loaded again when no more than half of the
/// stages, the younger ones, may still be read by stores. add() returns with the newest tiles under way; flush() stores
/// them and returns when all stores are complete, so that a release by this thread, or by another behind a block
/// barrier, covers them.
class BulkCopier {
public:
    __device__ BulkCopier(BulkShared &shared, std::byte *tiles) : shared_(shared), tiles_(tiles) {}

    /// Once in a kernel, before the first add().
    __device__ void start() {
        for (int stage = 0; stage < bulk_stages; ++stage) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&shared_.loaded[stage])));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    /// Pointers and size are multiples of 16, better of 128. The source is older than this kernel: what threads or
    /// peers have written since is not ordered before the loads, which go through the asynchronous proxy.
    __device__ void add(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        for (std::uint64_t at = 0; at < bytes; at += bulk_tile_bytes) {
            if (issued_ - stored_ == ahead) store_next();
            const std::uint64_t rest = bytes - at;
            load(destination + at, source + at,
                 rest < bulk_tile_bytes ? static_cast<std::uint32_t>(rest) : bulk_tile_bytes);
        }
    }

    __device__ static bool suits(const std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        const auto address = reinterpret_cast<std::uintptr_t>(destination) | reinterpret_cast<std::uintptr_t>(source);
        return bytes >= bulk_least_bytes && (address | bytes) % 16 == 0;
    }

    __device__ void flush() {
        while (stored_ < issued_) store_next();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }

    /// Before the block ends: tiles that a failure has left under way land in its shared memory, and are dropped.
    __device__ void leave() {
        for (; stored_ < issued_; ++stored_) wait_for_tile();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }

private:
    static constexpr std::uint32_t ahead = bulk_stages / 2;

    __device__ static std::uint32_t shared_address(const void *pointer) {
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
    }

    __device__ void load(std::byte *destination, const std::byte *source, std::uint32_t bytes) {
        const std::uint32_t stage = issued_++ % bulk_stages;
        shared_.to[stage] = destination;
        shared_.bytes[stage] = bytes;
        // At least bulk_stages - ahead stores have come after the one that used this stage last.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(bulk_stages - ahead) : "memory");
        const std::uint32_t barrier = shared_address(&shared_.loaded[stage]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(tiles_ + stage * bulk_tile_bytes)),
                     "l"(source), "r"(bytes), "r"(barrier)
                     : "memory");
    }

    /// For the oldest tile that is not stored.
    __device__ void wait_for_tile() {
        const std::uint32_t barrier = shared_address(&shared_.loaded[stored_ % bulk_stages]);
        const std::uint32_t parity = stored_ / bulk_stages & 1;
        std::uint32_t there = 0;
        while (there == 0) {
            asm volatile(
                "{\n\t"
                ".reg .pred done;\n\t"
                "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
                "selp.u32 %0, 1, 0, done;\n\t"
                "}"
                : "=r"(there)
                : "r"(barrier), "r"(parity)
                : "memory");
        }
    }

    __device__ void store_next() {
        wait_for_tile();
        const std::uint32_t stage = stored_ % bulk_stages;
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(shared_.to[stage]),
                     "r"(shared_address(tiles_ + stage * bulk_tile_bytes)), "r"(shared_.bytes[stage])
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        ++stored_;
    }

    BulkShared &shared_;
    std::byte *const tiles_;
    std::uint32_t issued_ = 0;
    std::uint32_t stored_ = 0;
};

}  // namespace baton::core
