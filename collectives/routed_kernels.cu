#include "collectives/allgather/ring.hpp"
#include "collectives/allgather/two_level.hpp"
#include "collectives/allreduce/chain.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"
#include "collectives/reduce_scatter/ring.hpp"
#include "collectives/reduce_scatter/two_level.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::core {
namespace {

struct AllgatherRingBody {
    static __device__ void run(KernelEngine &engine, const RoutedArgs &args) {
        AllgatherRing<KernelEngine>(engine, args).run();
    }
};
struct AllgatherTwoLevelBody {
    static __device__ void run(KernelEngine &engine, const RoutedArgs &args) {
        AllgatherTwoLevel<KernelEngine>(engine, args).run();
    }
};
template <class T>
struct ReduceScatterRingBody {
    static __device__ void run(KernelEngine &engine, const RoutedArgs &args) {
        ReduceScatterRing<T, KernelEngine>(engine, args).run();
    }
};
template <class T>
struct ReduceScatterTwoLevelBody {
    static __device__ void run(KernelEngine &engine, const RoutedArgs &args) {
        reduce_scatter_two_level<T>(engine, args);
    }
};
template <class T>
struct AllreduceBody {
    static __device__ void run(KernelEngine &engine, const RoutedArgs &args) {
        AllreduceChain<T, KernelEngine>(engine, args).run();
    }
};

}  // namespace

KernelChoice routed_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    const bool ring = algorithm == Algorithm::ring;
    switch (operation) {
        case BATON_ALLGATHER:
            return ring ? routed_kernel_of<AllgatherRingBody>() : routed_kernel_of<AllgatherTwoLevelBody>();
        case BATON_REDUCE_SCATTER:
            return dispatch_type(type, [&]<class T>() {
                return ring ? routed_kernel_of<ReduceScatterRingBody<T>>()
                            : routed_kernel_of<ReduceScatterTwoLevelBody<T>>();
            });
        case BATON_ALLREDUCE:
            return dispatch_type(type, [&]<class T>() { return routed_kernel_of<AllreduceBody<T>>(); });
        default:
            return {};
    }
}

}  // namespace baton::core
