#include <cstdint>
#include <cstring>
#include <memory>

#include "cases.hpp"
#include "gpu_support.cuh"
#include "transport/element/dispatch.hpp"
#include "transport/host/move.hpp"
#include "transport/kernel/reduce_unaligned.cuh"

/// The device's copy_block(), and its reduce_block() and reduce_unaligned() against the host's, which the host tests
/// compare with references.
namespace baton::test {
namespace {

constexpr int threads = 256;
constexpr std::size_t arena_bytes = std::size_t{8} << 20;

__global__ void copy_kernel(void *destination, const void *source, std::size_t bytes) {
    core::on_device::copy_block(destination, source, bytes);
}

template <class T>
using ReduceKernel = void (*)(T *const *destinations, int destination_count, const T *const *sources, int source_count,
                              std::size_t count, int op);
template <class T>
__global__ void reduce_kernel(T *const *destinations, int destination_count, const T *const *sources, int source_count,
                              std::size_t count, int op) {
    core::on_device::reduce_block<T, true>(destinations, destination_count, sources, source_count, count, op);
}
template <class T>
__global__ void unaligned_kernel(T *const *destinations, int destination_count, const T *const *sources,
                                 int source_count, std::size_t count, int op) {
    core::on_device::reduce_unaligned<T>(destinations, destination_count, sources, source_count, count, op);
}

class MoveGpu : public OnGpu {
protected:
    void SetUp() override {
        OnGpu::SetUp();
        if (IsSkipped()) return;
        arena_ = std::make_unique<DeviceArray<unsigned char>>(arena_bytes);
        destinations_ = std::make_unique<DevicePointers<void *>>();
        sources_ = std::make_unique<DevicePointers<const void *>>();
    }

    void upload(const Bytes &memory) {
        ASSERT_LE(memory.size(), arena_bytes);
        check_cuda(cudaMemcpy(arena_->data(), memory.data(), memory.size(), cudaMemcpyHostToDevice), "upload");
    }
    bool arena_equals(const Bytes &expected) {
        Bytes memory(expected.size());
        check_cuda(cudaMemcpy(memory.data(), arena_->data(), memory.size(), cudaMemcpyDeviceToHost), "download");
        return memory == expected;
    }

    void check_copy(std::size_t bytes, Placement placement, bool onto_itself) {
        std::mt19937_64 random(bytes);
        const Layout layout(2, bytes, placement);
        Bytes memory(layout.size(), 0xA5);
        fill_random_bytes(memory.data() + layout.at(0), bytes, random);
        upload(memory);
        const std::size_t to = layout.at(onto_itself ? 0 : 1);
        copy_kernel<<<1, threads>>>(arena_->data() + to, arena_->data() + layout.at(0), bytes);
        finish_kernel("copy_kernel");
        std::memmove(memory.data() + to, memory.data() + layout.at(0), bytes);
        EXPECT_TRUE(arena_equals(memory)) << bytes << " bytes, " << describe(placement);
    }

    template <class T>
    void check_reduce(int op, int sources, int destinations, std::size_t count, Placement placement, bool in_place) {
        for (const ReduceKernel<T> kernel : {&reduce_kernel<T>, &unaligned_kernel<T>})
            check_kernel<T>(kernel, op, sources, destinations, count, placement, in_place);
    }

    template <class T>
    void check_kernel(ReduceKernel<T> kernel, int op, int sources, int destinations, std::size_t count,
                      Placement placement, bool in_place) {
        std::mt19937_64 random(count + 1);
        const Layout layout(sources + destinations, count * sizeof(T), placement);
        Bytes memory(layout.size(), 0xA5);
        for (int s = 0; s < sources; ++s) fill_random<T>(memory.data() + layout.at(s), count, random);
        upload(memory);
        std::vector<const T *> host_from;
        std::vector<const void *> device_from;
        for (int s = 0; s < sources; ++s) {
            host_from.push_back(reinterpret_cast<const T *>(memory.data() + layout.at(s)));
            device_from.push_back(arena_->data() + layout.at(s));
        }
        std::vector<T *> host_to;
        std::vector<void *> device_to;
        for (int d = 0; d < destinations; ++d) {
            const std::size_t at = layout.at(in_place && d == destinations - 1 ? 0 : sources + d);
            host_to.push_back(reinterpret_cast<T *>(memory.data() + at));
            device_to.push_back(arena_->data() + at);
        }
        core::on_host::reduce_block<T>(host_to[0], host_from.data(), sources, count, op);
        for (T *const other : host_to) std::memmove(other, host_to[0], count * sizeof(T));
        const bool unaligned = kernel == &unaligned_kernel<T>;
        kernel<<<1, threads>>>(reinterpret_cast<T *const *>(destinations_->set(device_to)), destinations,
                               reinterpret_cast<const T *const *>(sources_->set(device_from)), sources, count, op);
        finish_kernel(unaligned ? "unaligned_kernel" : "reduce_kernel");
        EXPECT_TRUE(arena_equals(memory))
            << (unaligned ? "unaligned, " : "") << "op " << op << ", " << sources << " sources, " << destinations
            << " destinations, " << count << " elements, " << describe(placement) << ", in place " << in_place;
    }

    template <class T>
    void check_type(int type) {
        for (int op = 0; op < BATON_OP_COUNT; ++op) {
            if (!core::op_defined(static_cast<baton_type>(type), static_cast<baton_op>(op))) continue;
            for (const int sources : {1, 2, 3, 4, 8, 9, 17}) {
                for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{19}, 16399 / sizeof(T)}) {
                    check_reduce<T>(op, sources, 1, count, {0, 0}, false);
                    check_reduce<T>(op, sources, 3, count, {sizeof(T), 0}, true);
                    check_reduce<T>(op, sources, 2, count, {0, sizeof(T)}, false);
                }
            }
        }
        check_reduce<T>(BATON_SUM, 4, 1, core::on_device::long_words * 16 / sizeof(T) + 3, {0, 0}, false);
        for (const int sources : {2, 3, 4, 5, 8, 9}) {
            // Each buffer begins somewhere else, modulo 16.
            check_reduce<T>(BATON_SUM, sources, 1, 40009 / sizeof(T), {0, sizeof(T)}, false);
            check_reduce<T>(BATON_MIN, sources, 1, 40009 / sizeof(T), {3 * sizeof(T), sizeof(T)}, true);
        }
        for (std::size_t offset = 1; offset <= 16; ++offset) {
            check_reduce<T>(BATON_SUM, 4, 2, 333, {offset, 0}, true);
            check_reduce<T>(BATON_SUM, 5, 2, 333, {offset, 1}, false);
            check_reduce<T>(BATON_MAX, 8, 2, 333, {0, offset}, true);
        }
    }

    std::unique_ptr<DeviceArray<unsigned char>> arena_;
    std::unique_ptr<DevicePointers<void *>> destinations_;
    std::unique_ptr<DevicePointers<const void *>> sources_;
};

TEST_F(MoveGpu, CopyMovesEveryByteAndNoOther) {
    for (const std::size_t bytes : {0, 1, 7, 8, 15, 16, 17, 31, 1000, 65536, 65537, 200003}) {
        check_copy(bytes, {0, 0}, false);
        check_copy(bytes, {1, 3}, false);
        check_copy(bytes, {5, 0}, true);
    }
    for (std::size_t offset = 1; offset <= 16; ++offset) {
        for (const std::size_t bytes : {1, 5, 33, 40009}) {
            check_copy(bytes, {offset, 0}, false);
            check_copy(bytes, {offset, 1}, false);
            check_copy(bytes, {0, offset}, false);
        }
    }
}

class ReduceGpu : public MoveGpu, public ::testing::WithParamInterface<int> {};

TEST_P(ReduceGpu, GivesTheBitsOfTheHost) {
    core::dispatch_type(static_cast<baton_type>(GetParam()), [&]<class T>() { check_type<T>(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Types, ReduceGpu, ::testing::Range(0, static_cast<int>(BATON_TYPE_COUNT)));

__device__ inline unsigned char pattern_byte(std::size_t i) {
    const std::size_t mixed = i * 0x9E3779B97F4A7C15ULL;
    return static_cast<unsigned char>(mixed >> 56);
}

__global__ void fill_pattern(unsigned char *at, std::size_t bytes) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes; i += stride)
        at[i] = pattern_byte(i);
}

/// Counts the bytes that are not `factor` times the pattern, and those behind the end that are not zero.
__global__ void count_wrong(const unsigned char *at, std::size_t bytes, std::size_t guard, int factor,
                            unsigned long long *wrong) {
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < bytes + guard; i += stride) {
        const auto expected = i < bytes ? static_cast<unsigned char>(pattern_byte(i) * factor) : 0;
        mine += at[i] != expected;
    }
    if (mine != 0) atomicAdd(wrong, mine);
}

TEST_F(MoveGpu, SizesAboveFourGibibytes) {
    constexpr std::size_t bytes = (std::size_t{4} << 30) + 4099;
    constexpr std::size_t guard = 64;
    std::size_t available = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "cudaMemGetInfo");
    if (available < 3 * bytes) GTEST_SKIP() << "needs 12 GiB of free device memory, here are " << (available >> 30);
    const DeviceArray<unsigned char> source(bytes);
    const DeviceArray<unsigned char> destination(bytes + guard);
    const DeviceArray<unsigned long long> wrong(1);
    fill_pattern<<<1024, 256>>>(source.data(), bytes);
    for (const int factor : {1, 2}) {
        check_cuda(cudaMemset(destination.data(), 0, bytes + guard), "cudaMemset");
        check_cuda(cudaMemset(wrong.data(), 0, sizeof(unsigned long long)), "cudaMemset");
        void *const *to = destinations_->set({destination.data()});
        if (factor == 1) {
            copy_kernel<<<1, 1024>>>(destination.data(), source.data(), bytes);
        } else {
            using Element = std::uint8_t;
            const void *const *from = sources_->set({source.data(), source.data()});
            reduce_kernel<Element><<<1, 512>>>(reinterpret_cast<Element *const *>(to), 1,
                                               reinterpret_cast<const Element *const *>(from), 2, bytes, BATON_SUM);
        }
        finish_kernel("copy or reduce of more than 4 GiB");
        count_wrong<<<1024, 256>>>(destination.data(), bytes, guard, factor, wrong.data());
        finish_kernel("count_wrong");
        EXPECT_EQ(wrong.values()[0], 0U) << (factor == 1 ? "copy_block" : "reduce_block");
    }
}

}  // namespace
}  // namespace baton::test
