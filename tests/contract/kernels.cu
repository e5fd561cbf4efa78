#include "kernels.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core::contract {

static_assert(Engine<KernelEngine> && HasPairs<KernelEngine> && HasParts<KernelEngine> && HasSources<KernelEngine> &&
              HasStaging<KernelEngine> && HasPackets<KernelEngine> && HasLines<KernelEngine>);

namespace {

template <class P>
__global__ void __launch_bounds__(block_threads)
    program_kernel(const __grid_constant__ CommView view, const __grid_constant__ Call call) {
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    P::run(engine, call, call.observed[blockIdx.x]);
}

}  // namespace

const void *kernel_of(Program program) {
    return dispatch_program(program, [&]<class P>() { return kernel_address(&program_kernel<P>); });
}

Offers kernel_offers() { return offers_of<KernelEngine>(); }

}  // namespace baton::core::contract
