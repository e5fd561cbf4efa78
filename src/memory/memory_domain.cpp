#include "memory/memory_domain.hpp"

namespace baton::core {

std::uint64_t usable_bytes(const MemoryDomain &domain, const PointerInfo &info, const void *pointer,
                           std::uint64_t wanted) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    std::uint64_t end = info.base + info.size;
    while (info.chunk && end - address < wanted) {
        const PointerInfo next = domain.classify(reinterpret_cast<const void *>(end));
        if (!next.chunk || next.base != end || next.device != info.device) break;
        end += next.size;
    }
    return end - address;
}

}  // namespace baton::core
