#include "emulation/owners.hpp"

#include <vector>

#include "emulation/block.hpp"
#include "emulation/sanitizer.hpp"

namespace baton::emulation {
namespace {

struct Part {
    const std::byte *begin;
    const std::byte *end;
    int rank;
};
std::vector<Part> parts;
// All of the parts, for owner_of(): every store of a kernel calls it, and ThreadSanitizer is not to see it.
const Part *first_part = nullptr, *end_of_parts = nullptr;

void use_parts() {
    first_part = parts.data();
    end_of_parts = first_part + parts.size();
}

}  // namespace

Owned::Owned(int rank, const std::byte *memory, std::size_t bytes) : memory_(memory) {
    parts.push_back({memory, memory + bytes, rank});
    use_parts();
}
Owned::~Owned() {
    std::erase_if(parts, [this](const Part &part) { return part.begin == memory_; });
    use_parts();
}

BATON_UNSEEN int owner_of(const void *at) {
    for (const Part *part = first_part; part != end_of_parts; ++part) {
        if (part->begin <= at && at < part->end) return part->rank;
    }
    return nobody;
}

}  // namespace baton::emulation
