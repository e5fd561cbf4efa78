#include "memory/staging_pool.hpp"

#include <algorithm>
#include <bit>

#include "util/divide.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t alignment = 256;        // as cudaMalloc's
constexpr std::uint64_t least_chunk = 1 << 16;  // for small pieces
constexpr std::uint64_t most_ahead = 64 << 20;  // largest chunk for pieces that are smaller

/// Rounds up to 4, 5, 6 or 7 times a power of two.
std::uint64_t in_few_sizes(std::uint64_t bytes) {
    const std::uint64_t step = std::max<std::uint64_t>(std::bit_floor(bytes) / 4, 1);
    return round_up(bytes, step);
}

}  // namespace

StagingPool::Piece StagingPool::take(std::uint64_t bytes) {
    const std::uint64_t rounded = round_up(bytes, alignment);
    Chunk &chunk = chunk_for(rounded);
    const std::uint64_t offset = chunk.used;
    chunk.used += rounded;
    return {static_cast<std::byte *>(chunk.allocation.pointer) + offset, chunk.allocation.published, offset};
}

void StagingPool::give_back_all() {
    for (Chunk &chunk : chunks_) chunk.used = 0;
}

/// Returns the chunk in which the least room is left over, so that large pieces find some.
StagingPool::Chunk &StagingPool::chunk_for(std::uint64_t bytes) {
    Chunk *best = nullptr;
    for (Chunk &chunk : chunks_) {
        const std::uint64_t room = chunk.bytes - chunk.used;
        if (room >= bytes && (best == nullptr || room < best->bytes - best->used)) best = &chunk;
    }
    return best != nullptr ? *best : add_chunk(bytes);
}

StagingPool::Chunk StagingPool::allocate(std::uint64_t bytes) {
    Chunk chunk;
    chunk.bytes = bytes;
    if (audience_ == Audience::peers) {
        chunk.allocation = registry_.allocate_published(bytes);
    } else {
        chunk.allocation.pointer = registry_.allocate_scratch(bytes);
    }
    return chunk;
}

StagingPool::Chunk &StagingPool::add_chunk(std::uint64_t bytes) {
    const std::uint64_t ahead = std::max(most_ahead, std::bit_ceil(bytes));
    const std::uint64_t wanted = std::max({in_few_sizes(bytes), least_chunk, std::min(all_bytes_, ahead)});
    Chunk chunk;
    try {
        chunk = allocate(wanted);
    } catch (const Failure &failure) {
        if (failure.code() != BATON_ERR_MEMORY || wanted == bytes) throw;
        chunk = allocate(bytes);  // there may be memory for what is needed
    }
    all_bytes_ += chunk.bytes;
    return chunks_.emplace_back(chunk);
}

}  // namespace baton::core
