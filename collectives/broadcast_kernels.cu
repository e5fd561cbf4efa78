#include "collectives/broadcast/packet.hpp"
#include "collectives/broadcast/push.hpp"
#include "collectives/kernel_body.cuh"
#include "collectives/kernels.hpp"

namespace baton::core {
namespace {

struct PacketBody {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { broadcast_packet(engine, args); }
};
struct PushBody {
    static __device__ void run(KernelEngine &engine, const CollectiveArgs &args) { broadcast_push(engine, args); }
};

}  // namespace

KernelChoice broadcast_kernel(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::packet:
            return small_kernel_of<PacketBody>();
        case Algorithm::push:
            return kernel_of<PushBody>();
        default:
            return {};
    }
}

}  // namespace baton::core
