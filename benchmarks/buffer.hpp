#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "environment.hpp"
#include "plain_memory.hpp"

namespace baton::bench {

/// How a buffer is allocated: plainly (cudaMalloc or malloc), by baton_malloc, or plainly and then baton_register()ed.
enum class Memory {
    malloc,
    baton,
    registered
};

const char *memory_name(Memory memory);

/// Memory of the communicator's kind, freed in the destructor; the communicator must still exist then, and no call may
/// be using it. Zero bytes are allocated as one, so that data() is never null.
class Buffer {
public:
    Buffer(const Communicator &communicator, std::size_t bytes, Memory memory);
    ~Buffer();
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    void *data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    std::byte *at(std::size_t offset) const { return static_cast<std::byte *>(data_) + offset; }

    /// Why baton_register() refused, in Baton's words; empty if it did not or was not asked. The buffer is usable.
    const std::string &refusal() const { return refusal_; }

private:
    const Communicator &communicator_;
    std::size_t bytes_;
    Memory memory_;
    std::optional<PlainMemory> plain_;  // empty if baton_malloc allocated
    void *data_ = nullptr;
    std::string refusal_;
};

}  // namespace baton::bench
