#include "support/buffer.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "support/arena.hpp"

#if BATON_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace baton::test {
namespace {

constexpr std::byte guard_byte{0xA5};
constexpr std::byte poison_byte{0xDB};

#if BATON_WITH_CUDA
void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(error)));
}

/// A stream that neither waits for the tests' streams nor for kernels that wait for other ranks.
cudaStream_t copy_stream() {
    thread_local cudaStream_t stream = [] {
        cudaStream_t created = nullptr;
        check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        return created;
    }();
    return stream;
}
#endif

std::byte *allocate(baton_comm_t comm, std::size_t bytes, Memory memory, bool device) {
    void *pointer = nullptr;
    if (device && Arena::get() != nullptr) {
        pointer = Arena::get()->take(bytes);
    } else if (memory == Memory::baton) {
        if (const baton_result result = baton_malloc(comm, bytes, &pointer); result != BATON_SUCCESS)
            throw std::runtime_error("baton_malloc: " + describe(result));
    } else if (device) {
#if BATON_WITH_CUDA
        check(cudaMalloc(&pointer, bytes), "cudaMalloc");
#endif
    } else {
        pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        if (pointer == nullptr) throw std::bad_alloc();
    }
    return static_cast<std::byte *>(pointer);
}

}  // namespace

bool on_gpu(baton_comm_t comm) {
    baton_info info{};
    info.struct_size = sizeof(info);
    // A broken communicator answers nothing any more; then main's choice for this rank counts.
    if (baton_comm_info(comm, &info) != BATON_SUCCESS) return environment().device >= 0;
    return info.on_gpu != 0;
}

void copy_memory(void *destination, const void *source, std::size_t bytes, bool device_memory) {
    if (bytes == 0) return;
    if (!device_memory) {
        std::memcpy(destination, source, bytes);
        return;
    }
#if BATON_WITH_CUDA
    check(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, copy_stream()), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(copy_stream()), "cudaStreamSynchronize");
#endif
}

Buffer::Buffer(baton_comm_t comm, std::size_t bytes, Memory memory, std::size_t offset)
    : comm_(comm), bytes_(bytes), offset_(offset), memory_(memory), on_gpu_(test::on_gpu(comm)) {
    start_ = allocate(comm, bytes + 2 * guard + offset, memory, on_gpu_);
    write_guards();
    poison();
}

Buffer::Buffer(Buffer &&other) noexcept
    : comm_(other.comm_),
      bytes_(other.bytes_),
      offset_(other.offset_),
      memory_(other.memory_),
      on_gpu_(other.on_gpu_),
      start_(std::exchange(other.start_, nullptr)) {}

Buffer::~Buffer() {
    if (start_ == nullptr) return;
    if (on_gpu_ && Arena::get() != nullptr) {
        Arena::get()->give_back(start_);
    } else if (memory_ == Memory::baton) {
        EXPECT_OK(baton_free(comm_, start_));
    } else if (on_gpu_) {
#if BATON_WITH_CUDA
        EXPECT_EQ(cudaSuccess, cudaFree(start_));
#endif
    } else {
        std::free(start_);
    }
}

void Buffer::write_guards() {
    const Bytes pattern(front() > guard ? front() : guard, guard_byte);
    copy_memory(start_, pattern.data(), front(), on_gpu_);
    copy_memory(at(bytes_), pattern.data(), guard, on_gpu_);
}

void Buffer::poison() {
    if (on_gpu_)
        upload(Bytes(bytes_, poison_byte));
    else
        std::memset(data(), std::to_integer<int>(poison_byte), bytes_);
}

void Buffer::upload(std::span<const std::byte> source, std::size_t at_byte) {
    if (at_byte + source.size() > bytes_) throw std::out_of_range("Buffer::upload");
    copy_memory(at(at_byte), source.data(), source.size(), on_gpu_);
}

Bytes Buffer::download(std::size_t at_byte, std::size_t bytes) const {
    Bytes result(bytes);
    copy_memory(result.data(), at(at_byte), bytes, on_gpu_);
    return result;
}

bool Buffer::guards_intact() const {
    Bytes guards(front() + guard);
    copy_memory(guards.data(), start_, front(), on_gpu_);
    copy_memory(guards.data() + front(), at(bytes_), guard, on_gpu_);
    for (std::byte value : guards)
        if (value != guard_byte) return false;
    return true;
}

std::string difference(std::span<const std::byte> expected, std::span<const std::byte> actual, baton_type type) {
    if (expected.size() != actual.size()) return fmt::format("{} bytes, not {}", actual.size(), expected.size());
    if (expected.empty() || std::memcmp(expected.data(), actual.data(), expected.size()) == 0) return {};
    const std::size_t width = baton_type_size(type) == 0 ? 1 : baton_type_size(type);
    std::size_t first = expected.size(), last = 0, wrong = 0;
    for (std::size_t i = 0; i + width <= expected.size(); i += width) {
        if (std::memcmp(expected.data() + i, actual.data() + i, width) == 0) continue;
        if (wrong++ == 0) first = i;
        last = i;
    }
    const auto hex = [width](const std::byte *p) {
        std::string text = "0x";
        for (std::size_t i = width; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(p[i]));
        return text;
    };
    return fmt::format("{} of {} {} elements differ, from {} to {}; element {} is {}, expected {}", wrong,
                       expected.size() / width, baton_type_name(type), first / width, last / width, first / width,
                       hex(actual.data() + first), hex(expected.data() + first));
}

::testing::AssertionResult same_bytes(std::span<const std::byte> expected, std::span<const std::byte> actual,
                                      baton_type type) {
    const std::string text = difference(expected, actual, type);
    if (text.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "rank " << world_rank() << ": " << text;
}

}  // namespace baton::test
