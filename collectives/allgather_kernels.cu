#include "collectives/allgather/packet.hpp"
#include "collectives/allgather/push.hpp"
#include "collectives/barrier/arrive.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"

namespace baton::core {
namespace {

struct Barrier {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { barrier_arrive(engine, args); }
};
struct AllgatherPacket {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allgather_packet(engine, args); }
};
struct AllgatherPush {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { allgather_push(engine, args); }
};

}  // namespace

KernelChoice barrier_kernel() { return small_kernel_of<Barrier>(); }

KernelChoice allgather_kernel(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::packet:
            return small_kernel_of<AllgatherPacket>();
        case Algorithm::push:
            return kernel_of<AllgatherPush>();
        default:
            return {};
    }
}

}  // namespace baton::core
