#include "collectives/allgather/staged.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/alltoall/staged.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"
#include "collectives/reduce_scatter/staged.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::core {
namespace {

struct AllgatherStaged {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allgather_staged(engine, args); }
};
struct AlltoallStaged {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { alltoall_staged(engine, args); }
};
struct BroadcastStaged {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { broadcast_staged(engine, args); }
};
template <class T>
struct ReduceScatterBody {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        reduce_scatter_staged<T>(engine, args);
    }
};
template <class T>
struct AllreduceBody {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allreduce_staged<T>(engine, args); }
};

}  // namespace

KernelChoice staged_kernel(baton_operation operation, baton_type type) {
    switch (operation) {
        case BATON_ALLGATHER:
            return kernel_of<AllgatherStaged>();
        case BATON_ALLTOALL:
            return kernel_of<AlltoallStaged>();
        case BATON_BROADCAST:
            return kernel_of<BroadcastStaged>();
        case BATON_REDUCE_SCATTER:
            return dispatch_type(type, [&]<class T>() { return kernel_of<ReduceScatterBody<T>>(); });
        case BATON_ALLREDUCE:
            return dispatch_type(type, [&]<class T>() { return kernel_of<AllreduceBody<T>>(); });
        default:
            return {};
    }
}

}  // namespace baton::core
