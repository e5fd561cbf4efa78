#include "collectives/allgather/line.hpp"
#include "collectives/allreduce/line.hpp"
#include "collectives/allreduce/two_shot_line.hpp"
#include "collectives/alltoall/line.hpp"
#include "collectives/broadcast/line.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"
#include "collectives/reduce_scatter/line.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::core {
namespace {

struct AllgatherLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allgather_line(engine, args); }
};
struct AlltoallLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { alltoall_line(engine, args); }
};
struct BroadcastLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { broadcast_line(engine, args); }
};
template <class T>
struct ReduceScatterLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        reduce_scatter_line<T>(engine, args);
    }
};
template <class T>
struct AllreduceLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allreduce_line<T>(engine, args); }
};
template <class T>
struct AllreduceTwoShotLine {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        allreduce_two_shot_line<T>(engine, args);
    }
};

}  // namespace

KernelChoice line_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    switch (operation) {
        case BATON_ALLGATHER:
            return kernel_of<AllgatherLine>();
        case BATON_ALLTOALL:
            return kernel_of<AlltoallLine>();
        case BATON_BROADCAST:
            return kernel_of<BroadcastLine>();
        case BATON_REDUCE_SCATTER:
            return dispatch_type(type, [&]<class T>() { return kernel_of<ReduceScatterLine<T>>(); });
        case BATON_ALLREDUCE:
            return dispatch_type(type, [&]<class T>() {
                return algorithm == Algorithm::line ? kernel_of<AllreduceLine<T>>()
                                                    : kernel_of<AllreduceTwoShotLine<T>>();
            });
        default:
            return {};
    }
}

}  // namespace baton::core
