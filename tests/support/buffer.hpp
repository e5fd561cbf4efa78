#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "support/environment.hpp"

namespace baton::test {

using Bytes = std::vector<std::byte>;

/// Where a buffer's memory comes from.
enum class Memory {
    plain,  ///< malloc, or cudaMalloc when the communicator is on GPUs
    baton   ///< baton_malloc
};

/// `bytes` of memory of the communicator's kind between two guards, poisoned. data() lies `offset` bytes past an
/// address that is aligned to 256. Copies to and from it go over a stream of their own and have ended when they return;
/// the caller synchronises its own streams first. The communicator must outlive a buffer of Memory::baton.
class Buffer {
public:
    Buffer(baton_comm_t comm, std::size_t bytes, Memory memory = Memory::plain, std::size_t offset = 0);
    ~Buffer();
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    Buffer(Buffer &&other) noexcept;
    Buffer &operator=(Buffer &&) = delete;

    void *data() const { return start_ + front(); }
    std::byte *at(std::size_t byte) const { return start_ + front() + byte; }
    std::size_t size() const { return bytes_; }

    void poison();
    void upload(std::span<const std::byte> source, std::size_t at_byte = 0);
    Bytes download() const { return download(0, bytes_); }
    Bytes download(std::size_t at_byte, std::size_t bytes) const;
    /// True while nobody has written just before or just behind the buffer.
    bool guards_intact() const;

private:
    static constexpr std::size_t guard = 256;
    std::size_t front() const { return guard + offset_; }
    void write_guards();

    baton_comm_t comm_;
    std::size_t bytes_;
    std::size_t offset_;
    Memory memory_;
    bool on_gpu_;
    std::byte *start_ = nullptr;
};

bool on_gpu(baton_comm_t comm);

/// Copies between host memory and memory of any kind, done when it returns, without touching other streams.
void copy_memory(void *destination, const void *source, std::size_t bytes, bool device_memory);

/// Empty when equal, else the first difference in words: index, both values, how many differ.
std::string difference(std::span<const std::byte> expected, std::span<const std::byte> actual, baton_type type);

/// EXPECT_TRUE(same_bytes(...)) with a readable message.
::testing::AssertionResult same_bytes(std::span<const std::byte> expected, std::span<const std::byte> actual,
                                      baton_type type = BATON_UINT8);

}  // namespace baton::test
