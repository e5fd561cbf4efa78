#include "comm/buffers.hpp"

#include "util/failure.hpp"

namespace baton::core {
namespace {

/// Pages are mapped as a whole, and none is smaller than this.
bool on_one_page(const void *first, const void *last) {
    constexpr std::uintptr_t page = 4096;
    return reinterpret_cast<std::uintptr_t>(first) / page == reinterpret_cast<std::uintptr_t>(last) / page;
}

}  // namespace

std::uint64_t bytes_of(std::uint64_t count, baton_type type, int blocks, const char *name) {
    const std::uint64_t each = baton_type_size(type) * static_cast<std::uint64_t>(blocks);
    constexpr std::uint64_t most = std::uint64_t{1} << 63;
    if (count > (most - 1) / each) {
        fail(BATON_ERR_ARGUMENT, "{} is {}: times {} bytes of {}{} it overflows", name, count, baton_type_size(type),
             baton_type_name(type), blocks > 1 ? fmt::format(" times {} ranks", blocks) : "");
    }
    return count * each;
}

PointerInfo Buffers::check(const void *pointer, std::uint64_t bytes, const char *name) const {
    if (bytes == 0) return {};
    if (pointer == BATON_IN_PLACE) {
        fail(BATON_ERR_ARGUMENT, "{} is BATON_IN_PLACE, which means something only as sendbuf of collectives", name);
    }
    if (pointer == nullptr) fail(BATON_ERR_ARGUMENT, "{} is NULL, but {} bytes are to be moved", name, bytes);
    if (bytes > UINT64_MAX - reinterpret_cast<std::uintptr_t>(pointer))
        fail(BATON_ERR_ARGUMENT, "{} is {} with {} bytes, which leaves the address space", name, pointer, bytes);
    const PointerInfo info = domain_.classify(pointer);
    const bool on_gpu = domain_.on_gpu();
    switch (info.kind) {
        case PointerInfo::Kind::invalid:
            fail(BATON_ERR_ARGUMENT, "{} is {}, which is not allocated memory (never allocated, or freed)", name,
                 pointer);
        case PointerInfo::Kind::host:
            if (on_gpu)
                fail(BATON_ERR_ARGUMENT, "{} is {}, a host pointer; this communicator is on GPUs", name, pointer);
            break;
        case PointerInfo::Kind::pinned:
            break;
        case PointerInfo::Kind::device:
        case PointerInfo::Kind::managed:
            if (!on_gpu)
                fail(BATON_ERR_ARGUMENT, "{} is {}, a device pointer; this communicator is on the host", name, pointer);
            if (info.kind == PointerInfo::Kind::device && info.device != device_) {
                fail(BATON_ERR_ARGUMENT, "{} is {}, which lies on device {}; this rank's communicator is on device {}",
                     name, pointer, info.device, device_);
            }
            break;
    }
    check_end(info, pointer, bytes, name);
    return info;
}

/// Throws BATON_ERR_ARGUMENT if [pointer, pointer + bytes) ends beyond the memory that it begins in.
void Buffers::check_end(const PointerInfo &info, const void *pointer, std::uint64_t bytes, const char *name) const {
    if (info.size == 0) {
        const std::byte *const last = static_cast<const std::byte *>(pointer) + bytes - 1;
        if (on_one_page(pointer, last)) return;
        const PointerInfo at_end = domain_.classify(last);
        if (at_end.kind == PointerInfo::Kind::invalid)
            fail(BATON_ERR_ARGUMENT, "{} is {} with {} bytes, whose end is not allocated memory", name, pointer, bytes);
        if (at_end.size != 0) {
            fail(BATON_ERR_ARGUMENT, "{} is {} with {} bytes, which runs into another allocation at {:#x}", name,
                 pointer, bytes, at_end.base);
        }
        return;
    }
    const std::optional<std::uint64_t> asked = registry_.asked_bytes(info);
    const std::uint64_t from_base = reinterpret_cast<std::uintptr_t>(pointer) - info.base;
    const std::uint64_t end = asked ? *asked : from_base + usable_bytes(domain_, info, pointer, bytes);
    if (from_base + bytes <= end) return;
    fail(BATON_ERR_ARGUMENT, "{} is {} with {} bytes, which leaves {} by {} bytes", name, pointer, bytes,
         info.chunk ? "what is mapped there" : fmt::format("its allocation of {} bytes", asked.value_or(info.size)),
         from_base + bytes - end);
}

Buffers::Reached Buffers::Use::reach(const void *pointer, const PointerInfo &checked, std::uint64_t bytes,
                                     bool stages) {
    auto *address = static_cast<std::byte *>(const_cast<void *>(pointer));
    if (bytes == 0) return {{}, address};
    const PointerInfo info = checked.kind != PointerInfo::Kind::invalid ? checked : buffers_.domain_.classify(pointer);
    if (buffers_.goes_by_address(info)) return {BufferRef::at_address(pointer), address};
    const RegionRegistry::Location location = buffers_.registry_.locate(info, pointer, bytes);
    const BufferRef name = buffers_.name_of(location, pointer);
    if (name.names_a_buffer() || !stages) return {name, address};
    const StagingPool::Piece piece = buffers_.for_peers_.take(bytes);
    return {BufferRef::in_region(piece.published, piece.offset), piece.pointer};
}

BufferRef Buffers::mapped(const void *pointer, const PointerInfo &checked, std::uint64_t bytes) const {
    const BufferRef name = at_hand(pointer, checked, bytes);
    return name.is_in_region() ? name : BufferRef{};
}

BufferRef Buffers::at_hand(const void *pointer, const PointerInfo &checked, std::uint64_t bytes) const {
    if (bytes == 0 || checked.kind == PointerInfo::Kind::invalid) return {};
    if (goes_by_address(checked)) return BufferRef::at_address(pointer);
    const auto known = registry_.peek(checked, pointer, bytes);
    return known ? name_of(*known, pointer) : BufferRef{};
}

BufferRef Buffers::name_of(const RegionRegistry::Location &location, const void *pointer) const {
    if (location.direct) return BufferRef::in_region(location.place, location.offset);
    // On the host the buffer still has an address. Staging would not help: a peer that could not map the buffer could
    // not map that either.
    return domain_.on_gpu() ? BufferRef{} : BufferRef::at_address(pointer);
}

std::string Buffers::describe(const void *pointer, std::uint64_t bytes, bool stages) const {
    if (pointer == nullptr || bytes == 0) return "not given";
    const PointerInfo info = domain_.classify(pointer);
    if (info.kind == PointerInfo::Kind::invalid) return "not allocated memory";
    if (goes_by_address(info)) return "reached by its address (single copy)";
    const auto known = registry_.peek(info, pointer, bytes);
    if (!known) return "zero copy once registered (at first use)";
    if (known->direct)
        return fmt::format("zero copy (region {}, generation {})", known->place.slot, known->place.generation);
    if (!domain_.on_gpu()) return "reached by its address (single copy): " + known->reason;
    return (stages ? "staged through Baton's memory: " : "not reached by peers: ") + known->reason;
}

}  // namespace baton::core
