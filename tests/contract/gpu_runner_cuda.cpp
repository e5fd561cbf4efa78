#include "cuda/check.hpp"
#include "kernels.hpp"
#include "runner.hpp"
#include "transport/copy_engine/engine.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::core::contract {

template <>
inline constexpr bool acts_at_once<CopyEngine> = false;

static_assert(Engine<CopyEngine> && HasStaging<CopyEngine> && HasWait<CopyEngine>);
static_assert(!HasSources<CopyEngine> && !HasPackets<CopyEngine> && !HasLines<CopyEngine>,
              "the contract says what copy engines do not offer");

namespace {

/// So few that eight ranks' blocks are resident together on one GPU.
constexpr int most_channels = 3;

class GpuRunner : public Runner {
public:
    explicit GpuRunner(const CommView &view) : view_(view) {
        check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
        // Loads the kernels: one that is loaded at its first launch waits for running ones, which may wait for it.
        std::vector<const void *> kernels = transport_kernels();
        for (const Program program : all_programs) kernels.push_back(kernel_of(program));
        for (const void *kernel : kernels) {
            cudaFuncAttributes attributes;
            check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
        }
    }
    ~GpuRunner() override { cudaStreamDestroy(stream_); }
    GpuRunner(const GpuRunner &) = delete;
    GpuRunner &operator=(const GpuRunner &) = delete;

    void run(Program program, const std::vector<Call> &calls, const std::vector<Addresses> &recv_of) override {
        for (std::size_t k = 0; k < calls.size(); ++k) {
            if (calls[k].takes_part != 0) enqueue(program, calls[k], recv_of[k]);
        }
        check_cuda(cudaStreamSynchronize(stream_), "running a program");
    }

    void upload(void *to, const void *from, std::size_t bytes) override {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "upload");
        check_cuda(cudaStreamSynchronize(stream_), "upload");
    }
    void download(void *to, const void *from, std::size_t bytes) override {
        check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "download");
        check_cuda(cudaStreamSynchronize(stream_), "download");
    }

protected:
    virtual void enqueue(Program program, const Call &call, const Addresses &recv_of) = 0;

    const CommView &view_;
    cudaStream_t stream_ = nullptr;
};

class KernelRunner final : public GpuRunner {
public:
    using GpuRunner::GpuRunner;
    Offers offers() const override { return kernel_offers(); }
    int engines(const Call &call) const override { return call.channels; }

private:
    void enqueue(Program program, const Call &call, const Addresses & /*recv_of*/) override {
        void *arguments[] = {const_cast<CommView *>(&view_), const_cast<Call *>(&call)};
        launch(kernel_of(program), call.channels, block_threads, arguments, SyncDomain::remote, stream_,
               "launching a program");
    }
};

class CopyEngineRunner final : public GpuRunner {
public:
    using GpuRunner::GpuRunner;
    Offers offers() const override { return offers_of<CopyEngine>(); }
    int engines(const Call & /*call*/) const override { return 1; }

private:
    void enqueue(Program program, const Call &call, const Addresses &recv_of) override {
        CopyEngine engine(view_, lane_, call.channels, static_cast<baton_type>(call.type), stream_);
        for (int peer = 0; peer < view_.size; ++peer)
            engine.set_peer(peer, nullptr, recv_of[static_cast<std::size_t>(peer)]);
        dispatch_program(program, [&]<class P>() { P::run(engine, call, call.observed[0]); });
    }

    CopyEngineLane lane_;
};

std::unique_ptr<Runner> make_kernel_runner(const CommView &view, const HostReach & /*reach*/) {
    return std::make_unique<KernelRunner>(view);
}
std::unique_ptr<Runner> make_copy_engine_runner(const CommView &view, const HostReach & /*reach*/) {
    return std::make_unique<CopyEngineRunner>(view);
}
std::unique_ptr<Runner> make_mixed_runner(const CommView &view, const HostReach &reach) {
    return view.rank % 2 == 0 ? make_kernel_runner(view, reach) : make_copy_engine_runner(view, reach);
}

/// Whether lines arrive whole: over NVLink, which is what carries native atomics between GPUs, and on Hopper, where it
/// has been seen (sync/data_line.hpp).
bool lines_arrive_whole() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess) return false;
    for (int device = 0; device < devices; ++device) {
        int generation = 0;
        cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device);
        if (generation != 9) return false;
        for (int other = 0; other < devices; ++other) {
            int atomics = 0;
            if (other == device) continue;
            cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, device, other);
            if (atomics == 0) return false;
        }
    }
    return true;
}

Offers kernel_offers_on(bool lines) {
    Offers offers = kernel_offers();
    offers.lines = offers.lines && lines;
    return offers;
}

}  // namespace

Transport kernel_transport() {
    return {"kernel", true, most_channels, kernel_offers_on(lines_arrive_whole()), make_kernel_runner};
}
Transport mapped_transport() {
    return {"mapped", true, most_channels, kernel_offers_on(false), make_kernel_runner, true};
}
Transport copy_engine_transport() {
    return {"copy_engine", true, most_channels, offers_of<CopyEngine>(), make_copy_engine_runner};
}
Transport mixed_transport() {
    return {"mixed", true, most_channels, kernel_offers() & offers_of<CopyEngine>(), make_mixed_runner};
}

}  // namespace baton::core::contract
