#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/needs_gpu.hpp"

namespace baton::test {

inline void check_cuda(cudaError_t error, const char *what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Where there is no device, its tests skip with CUDA's reason, or fail if there must be a GPU.
class OnGpu : public ::testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        const cudaError_t error = cudaGetDeviceCount(&devices);
        if (error != cudaSuccess || devices == 0) {
            SKIP_WITHOUT_GPU("no GPU: " << (error != cudaSuccess ? cudaGetErrorString(error) : "0 devices"));
        }
    }
};

/// Device memory for elements of T; copies are synchronous.
template <class T>
class DeviceArray {
public:
    explicit DeviceArray(std::size_t count) : count_(count) {
        check_cuda(cudaMalloc(&data_, (count + 1) * sizeof(T)), "cudaMalloc");
    }
    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size()) { upload(values.data()); }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    T *data() const { return static_cast<T *>(data_); }
    std::size_t size() const { return count_; }
    void upload(const T *from) {
        check_cuda(cudaMemcpy(data_, from, count_ * sizeof(T), cudaMemcpyHostToDevice), "upload");
    }
    void download(T *to) const {
        check_cuda(cudaMemcpy(to, data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "download");
    }
    std::vector<T> values() const {
        std::vector<T> result(count_);
        download(result.data());
        return result;
    }

private:
    void *data_ = nullptr;
    std::size_t count_;
};

/// Waits for the last launch, and throws its errors and those of its run.
inline void finish_kernel(const char *name) {
    check_cuda(cudaGetLastError(), name);
    check_cuda(cudaDeviceSynchronize(), name);
}

/// Pointers into one device allocation, as an array in device memory.
template <class Pointer>
class DevicePointers {
public:
    DevicePointers() : array_(capacity) {}
    Pointer *set(const std::vector<Pointer> &pointers) {
        if (pointers.size() > capacity) throw std::logic_error("more pointers than the test has room for");
        check_cuda(
            cudaMemcpy(array_.data(), pointers.data(), pointers.size() * sizeof(Pointer), cudaMemcpyHostToDevice),
            "upload of pointers");
        return array_.data();
    }

private:
    static constexpr std::size_t capacity = 64;
    DeviceArray<Pointer> array_;
};

}  // namespace baton::test
