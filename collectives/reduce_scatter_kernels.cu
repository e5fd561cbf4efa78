#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"
#include "collectives/reduce_scatter/packet.hpp"
#include "collectives/reduce_scatter/pull.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::core {
namespace {

template <class T>
struct ReduceScatterPacket {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        reduce_scatter_packet<T>(engine, args);
    }
};
template <class T>
struct ReduceScatterPull {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        reduce_scatter_pull<T>(engine, args);
    }
};

}  // namespace

KernelChoice reduce_scatter_kernel(Algorithm algorithm, baton_type type) {
    return dispatch_type(type, [&]<class T>() -> KernelChoice {
        switch (algorithm) {
            case Algorithm::packet:
                return small_kernel_of<ReduceScatterPacket<T>>();
            case Algorithm::pull:
                return kernel_of<ReduceScatterPull<T>>();
            default:
                return {};
        }
    });
}

}  // namespace baton::core
