#include "environment.hpp"
#include "gpu.hpp"

namespace baton::bench::gpu {

namespace {

[[noreturn]] void missing() { throw Error("this build has no CUDA; configure with nvcc to use GPUs"); }

}  // namespace

int count() { return 0; }
void select(int) { missing(); }
void *create_stream() { missing(); }
void destroy_stream(void *) {}
void synchronize(void *) { missing(); }
void *allocate(std::size_t) { missing(); }
void release(void *) {}
void set_bytes(void *, int, std::size_t, void *) { missing(); }
void copy_out(void *, const void *, std::size_t, void *) { missing(); }
void launch_empty(void *) { missing(); }
void push(const std::vector<void *> &, const void *, std::size_t, void *) { missing(); }
void ping_pong(void *, void *, std::uint64_t, std::uint64_t, bool, void *) { missing(); }
std::string describe_device() { missing(); }
std::string versions() { return "built without CUDA"; }
std::unique_ptr<Graph> capture(void *, const std::function<void()> &) { missing(); }

}  // namespace baton::bench::gpu
