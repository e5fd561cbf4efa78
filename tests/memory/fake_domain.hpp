#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "memory/memory_domain.hpp"
#include "util/containing.hpp"
#include "util/failure.hpp"

namespace baton::core::testing {

/// Host memory with faults and with allocations that a test makes up.
class FakeDomain : public MemoryDomain {
public:
    explicit FakeDomain(bool same_process) : host_(make_host_domain(same_process)) {}

    /// Pretends that an allocation lies at [base, base + size), exported by its address. buffer_id 0 takes it away.
    void pretend(std::uint64_t base, std::uint64_t size, std::uint64_t buffer_id, const std::string &refusal = "") {
        const std::lock_guard lock(mutex_);
        pretended_.erase(base);
        if (buffer_id != 0) pretended_[base] = {size, buffer_id, refusal, false, -1};
    }
    /// Pretends one mapping in reserved address space of a device.
    void pretend_chunk(std::uint64_t base, std::uint64_t size, std::uint64_t buffer_id, int device = 0) {
        const std::lock_guard lock(mutex_);
        pretended_[base] = {size, buffer_id, "", true, device};
    }

    /// Called with the post before every import; what it throws is what the import throws.
    std::function<void(const RegionPost &)> before_import;
    std::atomic<std::size_t> most_bytes{SIZE_MAX};  // that an allocation may have
    std::atomic<int> allocated{0};                  // and not yet released
    std::atomic<int> imported{0};
    std::atomic<int> unimported{0};
    std::atomic<int> exported{0};
    mutable std::atomic<int> classified{0};

    bool on_gpu() const override { return false; }

    PointerInfo classify(const void *pointer) const override {
        ++classified;
        const auto address = reinterpret_cast<std::uintptr_t>(pointer);
        const std::lock_guard lock(mutex_);
        const auto found = containing(pretended_, address);
        if (found == pretended_.end()) return host_->classify(pointer);
        const auto &[base, memory] = *found;
        PointerInfo info;
        info.kind = PointerInfo::Kind::host;
        info.base = base;
        info.size = memory.size;
        info.buffer_id = memory.buffer_id;
        info.posix_fd = memory.refusal.empty();
        info.chunk = memory.chunk;
        info.device = memory.device;
        return info;
    }

    void *allocate(std::size_t bytes) override {
        if (bytes > most_bytes) fail(BATON_ERR_MEMORY, "{} bytes are more than there are", bytes);
        void *const memory = host_->allocate(bytes);
        ++allocated;
        return memory;
    }
    void release(void *pointer) override {
        host_->release(pointer);
        --allocated;
    }

    Export export_region(const PointerInfo &info) override {
        ++exported;
        const std::lock_guard lock(mutex_);
        const auto found = pretended_.find(info.base);
        if (found == pretended_.end()) return host_->export_region(info);
        Export result;
        result.reason = found->second.refusal;
        if (!result.reason.empty()) return result;
        result.post.kind = HandleKind::same_address;
        result.post.base = info.base;
        result.post.size = info.size;
        return result;
    }

    void *import_region(int owner, const RegionPost &post, UniqueFd fd) override {
        if (before_import) before_import(post);
        void *address = host_->import_region(owner, post, std::move(fd));
        ++imported;
        return address;
    }

    void unimport_region(const RegionPost &post, void *address) override {
        ++unimported;
        host_->unimport_region(post, address);
    }

    void *allocate_shared_with_kernels(std::size_t bytes) override {
        return host_->allocate_shared_with_kernels(bytes);
    }
    void release_shared_with_kernels(void *memory) override { host_->release_shared_with_kernels(memory); }

private:
    struct Memory {
        std::uint64_t size;
        std::uint64_t buffer_id;
        std::string refusal;
        bool chunk;
        int device;
    };
    std::unique_ptr<MemoryDomain> host_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Memory> pretended_;
};

/// Maps regions of every kind, at their owners' addresses.
class AnyKind final : public FakeDomain {
public:
    AnyKind() : FakeDomain(true) {}
    void *import_region(int, const RegionPost &post, UniqueFd) override { return reinterpret_cast<void *>(post.base); }
    void unimport_region(const RegionPost &, void *) override { ++unimported; }
};

}  // namespace baton::core::testing
