#include "collectives/gpu_executor.hpp"
#include "collectives/gpu_setup.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

[[noreturn]] void no_cuda() {
    fail(BATON_ERR_UNSUPPORTED, "this libbaton was built without CUDA: host transport only");
}

}  // namespace

std::unique_ptr<Executor> make_gpu_executor(const CommView &, int, const Capabilities &, const PeerMemory &,
                                            Rendezvous *, IdleWords *, std::function<void()>) {
    no_cuda();
}
std::uint64_t probe_peers(const CommView &, int, const std::function<void()> &) { no_cuda(); }
void preload_kernels() { no_cuda(); }
Control *allocate_control() { no_cuda(); }
void release_control(Control *) {}
DeviceIdentity device_identity(int) { no_cuda(); }
int first_out_of_reach(int, const std::vector<std::string> &) { no_cuda(); }
void clear_device(int, void *, std::size_t) { no_cuda(); }

}  // namespace baton::core
