#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "cuda/check.hpp"
#include "cuda/current_gpu.hpp"
#include "cuda/guard.hpp"
#include "memory/memory_domain.hpp"
#include "util/containing.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

struct Mapped {
    std::uint64_t size = 0;
    std::uint64_t id = 0;   // of imported memory
    bool imported = false;  // a peer's
};

/// All memory of mapped domains in this process, whichever communicator it belongs to, by base address: it is
/// registered for all devices.
class MappedMemory {
public:
    void add(const void *base, std::uint64_t size, bool imported) {
        const std::lock_guard lock(mutex_);
        by_base_[address_of(base)] = {size, first_id + ++last_id_, imported};
    }
    void remove(const void *base) {
        const std::lock_guard lock(mutex_);
        by_base_.erase(address_of(base));
    }
    /// Returns the memory that holds the address, with its base.
    std::optional<std::pair<std::uint64_t, Mapped>> find(const void *pointer) const {
        const std::lock_guard lock(mutex_);
        const auto found = containing(by_base_, address_of(pointer));
        if (found == by_base_.end()) return std::nullopt;
        return *found;
    }

private:
    /// Apart from the host domain's numbers, which count from 1 what this process has allocated.
    static constexpr std::uint64_t first_id = std::uint64_t{1} << 63;
    static std::uint64_t address_of(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Mapped> by_base_;
    std::uint64_t last_id_ = 0;
};

MappedMemory &mapped_memory() {
    static auto *const memory = new MappedMemory;  // never destroyed: applications free from static destructors
    return *memory;
}

/// The host domain's memory, registered with CUDA: pages of the owner's NUMA node, which every rank maps by descriptor.
/// All ranks' kernels load and store it directly; docs/memory_model.md argues why that keeps every promise that device
/// memory keeps.
class MappedDomain final : public MemoryDomain {
public:
    MappedDomain(int device, std::string why)
        : device_(device), why_(std::move(why)), gpu_(make_cuda_domain()), host_(make_host_domain(false)) {}

    bool on_gpu() const override { return true; }

    PointerInfo classify(const void *pointer) const override {
        PointerInfo info;
        const auto found = mapped_memory().find(pointer);
        if (!found) {
            info = gpu_->classify(pointer);
            info.legacy_ipc = info.posix_fd = false;
            return info;
        }
        const auto &[base, mapped] = *found;
        if (mapped.imported) {
            info.base = base;
            info.size = mapped.size;
            info.buffer_id = mapped.id;
        } else {
            info = host_->classify(pointer);
        }
        info.kind = PointerInfo::Kind::pinned;
        return info;
    }

    void *allocate(std::size_t bytes) override {
        void *const memory = host_->allocate(bytes);
        try {
            add(memory, host_->classify(memory).size, false);
        } catch (...) {
            host_->release(memory);
            throw;
        }
        return memory;
    }
    /// Device memory, because cudaHostRegister waits for kernels, also at the peers, and those may wait for this rank.
    /// It serves just as well: peers need not map it.
    void *allocate_own(std::size_t bytes) override { return gpu_->allocate(bytes); }
    void release(void *memory) override {
        if (!mapped_memory().find(memory)) return gpu_->release(memory);
        remove(memory);
        host_->release(memory);
    }

    Export export_region(const PointerInfo &info) override {
        if (info.kind == PointerInfo::Kind::pinned && info.posix_fd) return host_->export_region(info);
        Export result;
        result.reason = "other ranks do not reach it: " + why_;
        return result;
    }

    void *import_region(int owner, const RegionPost &post, UniqueFd fd) override {
        void *const memory = host_->import_region(owner, post, std::move(fd));
        try {
            add(memory, post.size, true);
        } catch (...) {
            host_->unimport_region(post, memory);
            throw;
        }
        return memory;
    }
    void unimport_region(const RegionPost &post, void *memory) override {
        remove(memory);
        host_->unimport_region(post, memory);
    }

    void *allocate_shared_with_kernels(std::size_t bytes) override { return gpu_->allocate_shared_with_kernels(bytes); }
    void release_shared_with_kernels(void *memory) override { gpu_->release_shared_with_kernels(memory); }

private:
    void add(void *memory, std::uint64_t bytes, bool imported) {
        const OnDevice here(device_);
        check_cuda(cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
                   "cudaHostRegister of {} bytes", bytes);
        void *on_gpu = nullptr;
        const cudaError_t result = cudaHostGetDevicePointer(&on_gpu, memory, 0);
        if (result != cudaSuccess || on_gpu != memory) cudaHostUnregister(memory);
        check_cuda(result, "cudaHostGetDevicePointer");
        if (on_gpu != memory) {
            fail(BATON_ERR_UNSUPPORTED,
                 "device {} does not see registered host memory at the host's addresses, so data cannot go through it",
                 device_);
        }
        try {
            mapped_memory().add(memory, bytes, imported);
        } catch (...) {  // the caller unmaps it
            cudaHostUnregister(memory);
            throw;
        }
    }
    void remove(void *memory) {
        mapped_memory().remove(memory);
        const OnDevice here(device_);
        const cudaError_t result = cudaHostUnregister(memory);
        if (result == cudaSuccess) return;
        cudaGetLastError();
        log(LogLevel::warn, -1, "cudaHostUnregister of {}: {}", memory, cudaGetErrorString(result));
    }

    const int device_;
    const std::string why_;
    const std::unique_ptr<MemoryDomain> gpu_;
    const std::unique_ptr<MemoryDomain> host_;
};

}  // namespace

std::unique_ptr<MemoryDomain> make_mapped_domain(std::string why) {
    return std::make_unique<MappedDomain>(current_gpu(), std::move(why));
}

}  // namespace baton::core
