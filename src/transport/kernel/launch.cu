#include "transport/kernel/launch.hpp"

#include <string>

#include "sync/signals.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/grid.cuh"

namespace baton::core {

// From cuda/check.hpp, which brings fmt: nvcc takes too long to parse that.
[[noreturn]] void fail_cuda(cudaError_t error, const std::string &what);

namespace {

__global__ void __launch_bounds__(block_threads)
    sync_kernel(const __grid_constant__ CommView view, const __grid_constant__ Arrival mine,
                const __grid_constant__ SyncActions actions) {
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    if (actions.begin) {
        // No buffers to find: the hosts have looked up the addresses that the copies need.
        if (!engine.begin(mine) || !engine.await_all([](int) { return false; })) return;
    } else if (!engine.attach(mine)) {
        return;
    }
    if (actions.wait_credits != 0 && !engine.wait_credits(actions.wait_credits)) return;
    if (actions.signal != 0) engine.signal_all(actions.signal);
    if (actions.wait != 0) {
        const bool all = actions.wait_for == any_peer;
        if (!(all ? engine.wait_all(actions.wait) : engine.wait(actions.wait_for, actions.wait))) return;
    }
    if (actions.credit != 0) engine.credit_all(actions.credit);
    if (actions.finish) engine.finish();
}

__global__ void __launch_bounds__(block_threads)
    copy_kernel(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
    wait_for_kernel_before();
    const Range part = split(bytes, copy_granule, static_cast<int>(gridDim.x), static_cast<int>(blockIdx.x));
    copy_block(destination + part.begin, source + part.begin, part.bytes);
}

__global__ void signal_kernel(const __grid_constant__ CommView view, int window, int target) {
    wait_for_kernel_before();
    if (!told_to_give_up(view, abort_word(view, 0))) give_signal(view, window, target);
}

__global__ void wait_signal_kernel(const __grid_constant__ CommView view, int window, int source,
                                   std::uint64_t signals) {
    wait_for_kernel_before();
    take_signals(view, window, source, signals);
}

__global__ void probe_kernel(const __grid_constant__ CommView view, std::uint64_t value, bool verify,
                             std::uint64_t *unreached) {
    wait_for_kernel_before();
    const int peer = static_cast<int>(threadIdx.x);
    if (peer >= view.size) return;
    if (!verify) {
        store_release(view.arena(peer).credit(0, view.rank), value + static_cast<std::uint64_t>(view.rank));
        return;
    }
    const bool stored = load_acquire(view.own().credit(0, peer)) == value + static_cast<std::uint64_t>(peer);
    const bool read = load_acquire(view.arena(peer).credit(0, peer)) == value + static_cast<std::uint64_t>(peer);
    if (!stored || !read) atomicOr(reinterpret_cast<unsigned long long *>(unreached), 1ULL << peer);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    reduce_kernel(const __grid_constant__ CommView view, std::byte *destination,
                  const __grid_constant__ ReduceSources sources, std::uint64_t count, int op) {
    wait_for_kernel_before();
    // The sources may not have come: the result stays untouched.
    if (told_to_give_up(view, abort_word(view, 0))) return;
    const int ranks = view.size;
    const std::uint64_t bytes = count * sizeof(T);
    for (std::uint64_t begin = blockIdx.x * reduce_tile; begin < bytes; begin += gridDim.x * reduce_tile) {
        const T *inputs[max_ranks];
        for (int rank = 0; rank < ranks; ++rank) inputs[rank] = reinterpret_cast<const T *>(sources.at[rank] + begin);
        T *const destinations[1] = {reinterpret_cast<T *>(destination + begin)};
        const std::uint64_t left = bytes - begin;
        reduce_block<T>(destinations, 1, inputs, ranks, (left < reduce_tile ? left : reduce_tile) / sizeof(T), op);
    }
}

const void *reduce_kernel_of(baton_type type) {
    // [&] captures nothing; without it nvcc warns of T in the lambda's conversion to a function pointer.
    return dispatch_type(type, [&]<class T>() { return kernel_address(&reduce_kernel<T>); });
}

}  // namespace

void launch(const void *kernel, int blocks, int threads, void **arguments, SyncDomain domain, cudaStream_t stream,
            const char *name) {
    cudaLaunchAttribute attributes[2]{};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeMemSyncDomain;
    attributes[1].val.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = domain == SyncDomain::remote ? 2 : 1;
    const cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
    if (error == cudaSuccess) return;
    cudaGetLastError();
    fail_cuda(error, name);
}

void launch_sync(const CommView &view, const Arrival &mine, const SyncActions &actions, int channels,
                 cudaStream_t stream) {
    void *arguments[] = {const_cast<CommView *>(&view), const_cast<Arrival *>(&mine),
                         const_cast<SyncActions *>(&actions)};
    launch(kernel_address(&sync_kernel), channels, block_threads, arguments, SyncDomain::remote, stream,
           "launching a synchronisation kernel");
}

void launch_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, int blocks, SyncDomain domain,
                 cudaStream_t stream) {
    void *arguments[] = {&destination, &source, &bytes};
    launch(kernel_address(&copy_kernel), blocks, block_threads, arguments, domain, stream, "launching a copy kernel");
}

void launch_signal(const CommView &view, int window, int target, cudaStream_t stream) {
    void *arguments[] = {const_cast<CommView *>(&view), &window, &target};
    launch(kernel_address(&signal_kernel), 1, 1, arguments, SyncDomain::of_stream, stream, "launching a signal kernel");
}

void launch_wait_signal(const CommView &view, int window, int source, std::uint64_t signals, cudaStream_t stream) {
    void *arguments[] = {const_cast<CommView *>(&view), &window, &source, &signals};
    launch(kernel_address(&wait_signal_kernel), 1, 1, arguments, SyncDomain::of_stream, stream,
           "launching a wait kernel");
}

void launch_reduce(const CommView &view, std::byte *destination, const ReduceSources &sources, std::uint64_t count,
                   baton_type type, baton_op op, int blocks, cudaStream_t stream) {
    int op_value = op;
    void *arguments[] = {const_cast<CommView *>(&view), &destination, const_cast<ReduceSources *>(&sources), &count,
                         &op_value};
    launch(reduce_kernel_of(type), blocks, block_threads, arguments, SyncDomain::remote, stream,
           "launching a reduction kernel");
}

void launch_probe(const CommView &view, std::uint64_t value, bool verify, std::uint64_t *unreached,
                  cudaStream_t stream) {
    void *arguments[] = {const_cast<CommView *>(&view), &value, &verify, &unreached};
    launch(kernel_address(&probe_kernel), 1, max_ranks, arguments, SyncDomain::of_stream, stream,
           "launching the probe kernel");
}

std::vector<const void *> transport_kernels() {
    std::vector<const void *> kernels{kernel_address(&sync_kernel), kernel_address(&copy_kernel),
                                      kernel_address(&signal_kernel), kernel_address(&wait_signal_kernel),
                                      kernel_address(&probe_kernel)};
    for (int type = 0; type < BATON_TYPE_COUNT; ++type)
        kernels.push_back(reduce_kernel_of(static_cast<baton_type>(type)));
    return kernels;
}

}  // namespace baton::core
