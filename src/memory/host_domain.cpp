#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>

#include "memory/gpu_pointer.hpp"
#include "memory/memory_domain.hpp"
#include "memory/readable.hpp"
#include "util/available_memory.hpp"
#include "util/containing.hpp"
#include "util/divide.hpp"
#include "util/failure.hpp"
#include "util/file_growth.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {
namespace {

struct HostAllocation {
    std::uint64_t size = 0;
    std::uint64_t id = 0;
    UniqueFd fd;
    int importers = 0;  // ranks of this process that have imported it at its own address
};

/// A mapping of a peer's memory.
struct HostImport {
    std::uint64_t size = 0;
    bool handed_out = false;  // the user has its address
};

/// All allocate()d host memory of this process, whichever communicator it was allocated for, by base address.
struct HostAllocations {
    std::mutex mutex;
    std::map<std::uint64_t, HostAllocation> by_base;
    /// Released, but still imported: stays mapped until the last importer is done, as it does between processes.
    std::map<std::uint64_t, HostAllocation> released;
    std::map<std::uint64_t, HostImport> imported;
    std::uint64_t last_id = 0;

    /// Whether memory that is not the user's is mapped there: a peer's that was not handed out, or released memory. A
    /// pointer to there is to memory that the user has freed: the peer's lies in its place, or it is mapped for its
    /// importers still. REQUIRES: mutex held.
    bool hidden(std::uint64_t address) const {
        const auto import = containing(imported, address);
        return (import != imported.end() && !import->second.handed_out) ||
               containing(released, address) != released.end();
    }
};

/// An entry that waits for its address. It is made first, so that memory cannot run out between mapping and noting.
template <class Value>
typename std::map<std::uint64_t, Value>::node_type unplaced(Value value) {
    std::map<std::uint64_t, Value> one;
    one.emplace(0, std::move(value));
    return one.extract(one.begin());
}

HostAllocations &host_allocations() {
    // Never destroyed: static destructors of the application may still free memory.
    static auto *const allocations = new HostAllocations;
    return *allocations;
}

std::uint64_t page_size() {
    static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

UniqueFd create_memfd(std::uint64_t size) {
    // Shared memory is not subject to overcommit rules: asking for too much of it does not fail, it calls the OOM
    // killer.
    const std::uint64_t available = available_memory();
    if (size > available) {
        fail(BATON_ERR_MEMORY, "cannot allocate {} bytes of host memory: {} are available", size, available);
    }
    UniqueFd fd(::memfd_create("baton", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) fail(BATON_ERR_SYSTEM, "memfd_create: {}", errno_text(errno));
    const FileGrowthGuard no_signal;
    // Pages now, so that too little memory is an error here and not a SIGBUS at the first touch.
    const bool sized = ::ftruncate(fd.get(), static_cast<off_t>(size)) == 0;
    const int error = sized ? allocate_pages(fd.get(), 0, size) : errno;
    if (error != 0) {
        fail(BATON_ERR_MEMORY, "cannot allocate {} bytes of host memory: {}{}", size, errno_text(error),
             error == EFBIG ? " (ulimit -f)" : "");
    }
    // Lets peers rely on the size. A kernel without seals for shared memory loses only that.
    ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

/// Most ranks that map the pages of all peers' memory at once, so that no use of it waits for that. More ranks, and
/// ranks that share processors, map pages as they are used. More ranks have more memory each, and use less of any
/// peer's: with 64 on 2 cores creation takes 3 to 7 s instead of 14 to 19, and destruction 1 s instead of 7. Where
/// ranks share processors, a page is there sooner than a rank that waits for its turn, and the mappings of one come at
/// the cost of all.
constexpr int ranks_that_map_all = 8;

/// Larger memory is not mapped at once either: a GiB takes 0.13 to 0.5 s (2 cores), in which the owner waits and the
/// peer's service thread looks at nothing else.
constexpr std::uint64_t mapped_at_once = 1 << 30;

enum class Pages {
    all_at_once,
    as_they_are_used
};

void *map_shared(int fd, std::uint64_t size, Pages pages) {
    const int flags = pages == Pages::all_at_once ? MAP_SHARED | MAP_POPULATE : MAP_SHARED;
    void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (address == MAP_FAILED)
        fail(BATON_ERR_MEMORY, "cannot map {} bytes of host memory: {}", size, errno_text(errno));
    return address;
}

class HostDomain final : public MemoryDomain {
public:
    HostDomain(bool same_process, Pages pages_of_peers)
        : same_process_(same_process), pages_of_peers_(pages_of_peers) {}

    bool on_gpu() const override { return false; }

    PointerInfo classify(const void *pointer) const override {
        PointerInfo info;
        if (pointer == nullptr) return info;
        {
            HostAllocations &all = host_allocations();
            const std::lock_guard lock(all.mutex);
            const std::uint64_t address = reinterpret_cast<std::uintptr_t>(pointer);
            if (const auto found = containing(all.by_base, address); found != all.by_base.end()) {
                info.kind = PointerInfo::Kind::host;
                info.base = found->first;
                info.size = found->second.size;
                info.buffer_id = found->second.id;
                info.posix_fd = true;
                return info;
            }
            if (all.hidden(address)) return info;
        }
        if (classify_on_gpu(pointer, &info)) return info;
        if (readable(pointer)) info.kind = PointerInfo::Kind::host;
        return info;
    }

    void *allocate(std::size_t bytes) override {
        if (bytes > SIZE_MAX / 2) fail(BATON_ERR_MEMORY, "cannot allocate {} bytes of host memory", bytes);
        const std::uint64_t size = round_up(std::max<std::uint64_t>(bytes, 1), page_size());
        UniqueFd fd = create_memfd(size);
        HostAllocations &all = host_allocations();
        auto node = unplaced(HostAllocation{.size = size, .id = 0, .fd = std::move(fd)});
        void *const address = map_shared(node.mapped().fd.get(), size, Pages::as_they_are_used);
        // Maps all pages at once too. 64 MiB take 20 ms; with MAP_POPULATE they take 27, because that looks around each
        // page for others that have been used. For a peer's memory, which has been used, MAP_POPULATE takes 8 and this
        // 15 (Linux 6.18). Before Linux 5.14 pages come as they are used.
        ::madvise(address, size, MADV_POPULATE_WRITE);
        node.key() = reinterpret_cast<std::uintptr_t>(address);
        const std::lock_guard lock(all.mutex);
        node.mapped().id = ++all.last_id;
        all.by_base.insert(std::move(node));
        return address;
    }

    void release(void *pointer) override {
        HostAllocations &all = host_allocations();
        std::uint64_t size = 0;
        {
            const std::lock_guard lock(all.mutex);
            const auto found = all.by_base.find(reinterpret_cast<std::uintptr_t>(pointer));
            if (found == all.by_base.end()) fail(BATON_ERR_ARGUMENT, "{} is not memory of the host domain", pointer);
            // Forgotten before it is unmapped: the address may be given to another thread right after.
            auto node = all.by_base.extract(found);
            size = node.mapped().size;
            if (node.mapped().importers > 0) {
                all.released.insert(std::move(node));
                return;
            }
        }
        ::munmap(pointer, size);
    }

    Export export_region(const PointerInfo &info) override {
        Export result;
        if (info.kind == PointerInfo::Kind::device || info.kind == PointerInfo::Kind::managed) {
            result.reason = "GPU memory is not exported by a communicator on the host";
            return result;
        }
        HostAllocations &all = host_allocations();
        const std::lock_guard lock(all.mutex);
        const auto found = all.by_base.find(info.base);
        if (info.base == 0 || found == all.by_base.end() || found->second.id != info.buffer_id) {
            result.reason = "ordinary host memory is not shared between processes";
            return result;
        }
        result.post.base = info.base;
        result.post.size = found->second.size;
        if (same_process_) {
            result.post.kind = HandleKind::same_address;
            return result;
        }
        result.fd.reset(::fcntl(found->second.fd.get(), F_DUPFD_CLOEXEC, 0));
        if (!result.fd) {
            result.reason = fmt::format("the file descriptor of host memory: {}", errno_text(errno));
            result.code = BATON_ERR_SYSTEM;
            return result;
        }
        result.post.kind = HandleKind::memfd;
        return result;
    }

    void *import_region(int owner, const RegionPost &post, UniqueFd fd) override {
        if (post.kind == HandleKind::same_address) return hold(post);
        if (post.kind != HandleKind::memfd) {
            fail(BATON_ERR_UNSUPPORTED, "rank {} exported memory that a communicator on the host cannot map", owner);
        }
        struct stat status = {};
        if (::fstat(fd.get(), &status) != 0) fail(BATON_ERR_SYSTEM, "fstat: {}", errno_text(errno));
        if (static_cast<std::uint64_t>(status.st_size) < post.size) {
            fail(BATON_ERR_SYSTEM, "rank {} exported {} bytes, but its descriptor has {}", owner, post.size,
                 status.st_size);
        }
        HostAllocations &all = host_allocations();
        auto node = unplaced(HostImport{.size = post.size});
        const Pages pages = post.size <= mapped_at_once ? pages_of_peers_ : Pages::as_they_are_used;
        void *const address = map_shared(fd.get(), post.size, pages);
        node.key() = reinterpret_cast<std::uintptr_t>(address);
        const std::lock_guard lock(all.mutex);
        all.imported.insert(std::move(node));
        return address;
    }

    void unimport_region(const RegionPost &post, void *address) override {
        if (post.kind == HandleKind::memfd) forget_import(address);
        if (post.kind == HandleKind::memfd || let_go(post)) ::munmap(address, post.size);
    }

    bool can_give_back_pages() const override { return !same_process_; }
    /// Maps zeros over the import. Such mappings side by side are one to the kernel, which has no room for many. Made
    /// elsewhere first: had it failed in its place, older kernels would have unmapped what was there.
    bool give_back_pages(const RegionPost &post, void *address) override {
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void *const zeros = ::mmap(nullptr, post.size, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (zeros == MAP_FAILED) return false;
        if (::mremap(zeros, post.size, post.size, MREMAP_MAYMOVE | MREMAP_FIXED, address) != MAP_FAILED) return true;
        ::munmap(zeros, post.size);
        return false;
    }

    void hand_out(const void *address) override { set_handed_out(address, true); }
    void take_back(const void *address) override { set_handed_out(address, false); }

    void *allocate_shared_with_kernels(std::size_t bytes) override { return allocate(bytes); }
    void release_shared_with_kernels(void *memory) override { release(memory); }

private:
    static void *hold(const RegionPost &post) {
        HostAllocations &all = host_allocations();
        const std::lock_guard lock(all.mutex);
        const auto found = all.by_base.find(post.base);
        if (found != all.by_base.end()) ++found->second.importers;
        return reinterpret_cast<void *>(post.base);
    }

    static void set_handed_out(const void *address, bool handed_out) {
        HostAllocations &all = host_allocations();
        const std::lock_guard lock(all.mutex);
        const auto found = all.imported.find(reinterpret_cast<std::uintptr_t>(address));
        if (found != all.imported.end()) found->second.handed_out = handed_out;
    }

    /// Called before the import is unmapped: the address may be given to another thread right after.
    static void forget_import(const void *address) {
        HostAllocations &all = host_allocations();
        const std::lock_guard lock(all.mutex);
        all.imported.erase(reinterpret_cast<std::uintptr_t>(address));
    }

    /// True if that was the last use of released memory.
    static bool let_go(const RegionPost &post) {
        HostAllocations &all = host_allocations();
        const std::lock_guard lock(all.mutex);
        if (const auto alive = all.by_base.find(post.base); alive != all.by_base.end()) {
            --alive->second.importers;
            return false;
        }
        const auto found = all.released.find(post.base);
        if (found == all.released.end() || --found->second.importers > 0) return false;
        all.released.erase(found);
        return true;
    }

    const bool same_process_;
    const Pages pages_of_peers_;
};

}  // namespace

std::unique_ptr<MemoryDomain> make_host_domain(bool same_process, int ranks, bool oversubscribed) {
    const bool all = ranks <= ranks_that_map_all && !oversubscribed;
    return std::make_unique<HostDomain>(same_process, all ? Pages::all_at_once : Pages::as_they_are_used);
}

}  // namespace baton::core
