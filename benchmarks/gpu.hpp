#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace baton::bench::gpu {

// The part of CUDA that benchmarks need, without its headers: in gpu_cuda.cpp, or in a build without CUDA in
// gpu_none.cpp, where count() is 0 and what needs a GPU throws. Functions throw Error with CUDA's message. Streams are
// cudaStream_t.

/// How many GPUs this process can use; 0 also on a machine without a driver.
int count();
void select(int device);

void *create_stream();
void destroy_stream(void *stream);
void synchronize(void *stream);

void *allocate(std::size_t bytes);
void release(void *pointer);
void set_bytes(void *pointer, int value, std::size_t bytes, void *stream);
/// Device to host, complete on return; after the work on `stream`.
void copy_out(void *host, const void *device, std::size_t bytes, void *stream);

/// An empty kernel: the least that a launch costs.
void launch_empty(void *stream);
/// Enqueues copies by copy engines of `bytes` from `source` to each destination, which may be another rank's memory:
/// one call makes them all.
void push(const std::vector<void *> &destinations, const void *source, std::size_t bytes, void *stream);
/// Sends a flag back and forth between two ranks' kernels (bare_kernels.hpp). `mine` holds flag + trips afterwards, or
/// less after flag_timeout_seconds.
inline constexpr double flag_timeout_seconds = 20;
void ping_pong(void *mine, void *theirs, std::uint64_t flag, std::uint64_t trips, bool starts, void *stream);

/// "NVIDIA H200, GPU-uuid, PCI 0000:1b:00.0" of the current device.
std::string describe_device();
/// "CUDA runtime 13.0, driver 13.0"; or what is missing.
std::string versions();

/// What was issued on a stream while a function ran, to be launched any number of times.
class Graph {
public:
    virtual ~Graph() = default;
    virtual void launch(void *stream) = 0;
};
std::unique_ptr<Graph> capture(void *stream, const std::function<void()> &issue);

}  // namespace baton::bench::gpu
