#include "collectives/alltoall/packet.hpp"
#include "collectives/alltoall/push.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"

namespace baton::core {
namespace {

struct AlltoallPacket {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { alltoall_packet(engine, args); }
};
struct AlltoallPush {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { alltoall_push(engine, args); }
};

}  // namespace

KernelChoice alltoall_kernel(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::packet:
            return small_kernel_of<AlltoallPacket>();
        case Algorithm::push:
            return kernel_of<AlltoallPush>();
        default:
            return {};
    }
}

}  // namespace baton::core
