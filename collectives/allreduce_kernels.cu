#include "collectives/allreduce/one_shot.hpp"
#include "collectives/allreduce/two_phase.hpp"
#include "collectives/allreduce/two_shot.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::core {
namespace {

template <class T>
struct AllreduceOneShot {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        allreduce_one_shot<T>(engine, args);
    }
};
template <class T>
struct AllreduceTwoShot {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        allreduce_two_shot<T>(engine, args);
    }
};
template <class T>
struct AllreduceTwoPhase {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) {
        allreduce_two_phase<T>(engine, args);
    }
};

}  // namespace

KernelChoice allreduce_kernel(Algorithm algorithm, baton_type type) {
    return dispatch_type(type, [&]<class T>() -> KernelChoice {
        switch (algorithm) {
            case Algorithm::packet:
                return small_kernel_of<AllreduceOneShot<T>>();
            case Algorithm::two_shot:
                return kernel_of<AllreduceTwoShot<T>>();
            case Algorithm::two_phase:
                return kernel_of<AllreduceTwoPhase<T>>();
            default:
                return {};
        }
    });
}

}  // namespace baton::core
