#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "bare_kernels.hpp"
#include "environment.hpp"
#include "gpu.hpp"
#include "util/cuda_version.hpp"

namespace baton::bench::gpu {

namespace {

void check_cuda(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        cudaGetLastError();  // clears it, else the next check that asks for the last error would find this one
        throw Error(fmt::format("{}: {}", what, cudaGetErrorString(error)));
    }
}

cudaStream_t as_stream(void *stream) { return static_cast<cudaStream_t>(stream); }

class CapturedGraph final : public Graph {
public:
    explicit CapturedGraph(cudaGraph_t graph) {
        const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
        cudaGraphDestroy(graph);
        check_cuda(error, "cudaGraphInstantiate");
    }
    ~CapturedGraph() override { cudaGraphExecDestroy(executable_); }
    CapturedGraph(const CapturedGraph &) = delete;
    CapturedGraph &operator=(const CapturedGraph &) = delete;

    void launch(void *stream) override {
        check_cuda(cudaGraphLaunch(executable_, as_stream(stream)), "cudaGraphLaunch");
    }

private:
    cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

int count() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

void select(int device) { check_cuda(cudaSetDevice(device), "cudaSetDevice"); }

void *create_stream() {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
}

void destroy_stream(void *stream) { cudaStreamDestroy(as_stream(stream)); }

void synchronize(void *stream) { check_cuda(cudaStreamSynchronize(as_stream(stream)), "cudaStreamSynchronize"); }

void *allocate(std::size_t bytes) {
    void *pointer = nullptr;
    check_cuda(cudaMalloc(&pointer, bytes), "cudaMalloc");
    return pointer;
}

void release(void *pointer) { cudaFree(pointer); }

void set_bytes(void *pointer, int value, std::size_t bytes, void *stream) {
    check_cuda(cudaMemsetAsync(pointer, value, bytes, as_stream(stream)), "cudaMemsetAsync");
}

void copy_out(void *host, const void *device, std::size_t bytes, void *stream) {
    check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, as_stream(stream)), "cudaMemcpyAsync");
    synchronize(stream);
}

void launch_empty(void *stream) { launch_empty_kernel(as_stream(stream)); }

void push(const std::vector<void *> &destinations, const void *source, std::size_t bytes, void *stream) {
    if (destinations.empty()) {
        return;
    }
    if (destinations.size() == 1) {
        return check_cuda(cudaMemcpyAsync(destinations[0], source, bytes, cudaMemcpyDeviceToDevice, as_stream(stream)),
                          "cudaMemcpyAsync");
    }
    std::vector<void *> targets = destinations;
    std::vector<std::size_t> sizes(targets.size(), bytes);
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0;
    std::vector<const void *> sources(targets.size(), source);
    check_cuda(cudaMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), sizes.size(), &attributes, &first, 1,
                                    as_stream(stream)),
               "cudaMemcpyBatchAsync");
}

void ping_pong(void *mine, void *theirs, std::uint64_t flag, std::uint64_t trips, bool starts, void *stream) {
    launch_ping_pong(static_cast<std::uint64_t *>(mine), static_cast<std::uint64_t *>(theirs), flag, trips, starts,
                     flag_timeout_seconds, as_stream(stream));
}

std::string describe_device() {
    int device = 0;
    cudaDeviceProp properties{};
    char pci[32] = "";
    check_cuda(cudaGetDevice(&device), "cudaGetDevice");
    check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    check_cuda(cudaDeviceGetPCIBusId(pci, sizeof(pci), device), "cudaDeviceGetPCIBusId");
    return fmt::format("{}, PCI {}", properties.name, pci);
}

std::string versions() {
    int runtime = 0;
    int driver = 0;
    check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return fmt::format("CUDA runtime {}, {}", core::cuda_version_text(runtime),
                       driver > 0 ? "driver " + core::cuda_version_text(driver) : std::string("no driver"));
}

std::unique_ptr<Graph> capture(void *stream, const std::function<void()> &issue) {
    // Thread-local, as applications capture: the other threads of the process may call CUDA as they like.
    check_cuda(cudaStreamBeginCapture(as_stream(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
        issue();
    } catch (...) {
        cudaStreamEndCapture(as_stream(stream), &graph);
        throw;
    }
    check_cuda(cudaStreamEndCapture(as_stream(stream), &graph), "cudaStreamEndCapture");
    return std::make_unique<CapturedGraph>(graph);
}

}  // namespace baton::bench::gpu
