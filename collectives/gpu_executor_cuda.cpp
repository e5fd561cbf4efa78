#include "collectives/gpu_executor.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "collectives/algorithms.hpp"
#include "collectives/gpu_messages.hpp"
#include "collectives/gpu_order.hpp"
#include "collectives/gpu_pushes.hpp"
#include "collectives/kernels.hpp"
#include "collectives/launch_domain.hpp"
#include "collectives/peer_addresses.hpp"
#include "collectives/route.hpp"
#include "collectives/selection.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "cuda/guard.hpp"
#include "transport/copy_engine/engine.hpp"
#include "transport/copy_engine/stream_words.hpp"
#include "transport/kernel/launch.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

cudaStream_t as_stream(void *stream) { return static_cast<cudaStream_t>(stream); }

/// Users who ask for copy engines get them wherever possible.
Copies copies_for(const Capabilities &capabilities) {
    const bool unasked = capabilities.transport == BATON_TRANSPORT_AUTO && !capabilities.copy_engine_limit;
    return unasked ? Copies::where_fast : Copies::where_possible;
}

/// Whether this rank's own input of its block begins elsewhere than the result, modulo 16; the peers' inputs are
/// assumed to lie like it. To the peers it makes no difference which of the two kernels runs.
bool is_unaligned(const CollectiveArgs &args, int rank) {
    const auto input = reinterpret_cast<std::uintptr_t>(args.send) + static_cast<std::uintptr_t>(rank) * args.bytes;
    return !is_whole_words(input ^ reinterpret_cast<std::uintptr_t>(args.recv));
}

class GpuExecutor final : public Executor {
public:
    GpuExecutor(const CommView &view, int device, const Capabilities &capabilities, const PeerMemory &peers,
                Rendezvous *rendezvous, IdleWords *idle_words, std::function<void()> throw_if_broken);
    ~GpuExecutor() override;

    void require_stream(void *stream) override {
        const DeviceGuard device(device_);
        require_callers_default(as_stream(stream), device);
        GpuOrder::require_stream(as_stream(stream));
    }
    bool captures(void *stream) override {
        const DeviceGuard device(device_);
        return is_capturing(as_stream(stream));
    }
    void collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) override;
    void messages(std::vector<MessageCall> calls, void *stream) override;
    void transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                  void *stream) override;
    void signal(int window, int target, void *stream) override;
    void wait_signal(int window, int source, std::uint64_t signals, void *stream) override;
    void local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) override;
    void drain() override;
    bool idle() override { return has_finished(&GpuOrder::idle); }
    void mark() noexcept override { cuda_->order.mark(); }
    bool mark_is_done() override { return has_finished(&GpuOrder::mark_is_done); }
    // Kernels read Control::abort and the clock; stream waits do not.
    void interrupt() noexcept override {
        if (idle_words_ != nullptr) idle_words_->release();
    }
    std::optional<OverdueWait> overdue() override;

private:
    /// What a failure may leave behind. `at_once` enqueues one thing or nothing, and tells the peers nothing else.
    /// `in_steps` may leave parts, but not in a capture: there nothing runs, and the peers have been told nothing.
    /// `beside_hosts_words`: the hosts have told each other, in a capture too.
    enum class Enqueues {
        at_once,
        in_steps,
        beside_hosts_words
    };

    /// Each context has default streams of its own: calls on those of the device's primary context would not be in
    /// order with the caller's work.
    static void require_callers_default(cudaStream_t stream, const DeviceGuard &device) {
        const bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
        if (!is_default || !device.caller_has_context_of_its_own()) return;
        fail(BATON_ERR_UNSUPPORTED,
             "stream is a default stream, of a CUDA context that the program has made (cuCtxCreate), where Baton uses "
             "the device's primary one: give the call a stream that the program has created");
    }

    /// Device, capture mode and issue order around the enqueueing of one operation.
    template <class F>
    void ordered(void *stream, Enqueues how, const F &enqueue) {
        const DeviceGuard device(device_);
        // A single launch or copy makes only calls that are allowed beside any capture.
        std::optional<RelaxedCaptureGuard> relaxed;
        if (how != Enqueues::at_once) relaxed.emplace();
        require_callers_default(as_stream(stream), device);
        const GpuOrder::Into into = cuda_->order.before(as_stream(stream));
        bool left_something = how != Enqueues::at_once;
        try {
            enqueue(as_stream(stream));
            left_something = true;
            cuda_->order.after(as_stream(stream), into);
        } catch (const std::exception &failure) {
            if (!left_something || (into == GpuOrder::Into::graph && how != Enqueues::beside_hosts_words)) throw;
            record_end(as_stream(stream), into);
            throw PartlyEnqueued(as_failure(failure));
        }
    }
    /// Makes drain() wait for what has been enqueued, where CUDA still allows it; also for copies that nothing of the
    /// operation follows yet.
    void record_end(cudaStream_t stream, GpuOrder::Into into) {
        const auto attempt = [&](const auto &part) {
            try {
                part();
            } catch (const std::exception &failure) {
                log(LogLevel::warn, view_.rank, "{}", failure.what());
            }
        };
        for (const Stream *const beside : {&cuda_->lane.pushes, &cuda_->lane.words}) {
            if (into == GpuOrder::Into::stream) attempt([&] { cuda_->lane.let_follow(stream, beside->get()); });
        }
        attempt([&] { cuda_->order.after(stream, into); });
    }
    template <class Question>
    bool has_finished(Question question);
    void run_kernel(const Request &request, const Plan &plan, const CollectiveArgs &args, cudaStream_t stream);
    bool run_copy_engine(const Request &request, const Plan &plan, const CollectiveArgs &args, cudaStream_t stream);
    void push_with_stream_words(const Request &request, const CollectiveArgs &args,
                                const std::vector<PeerBuffers> &peers, cudaStream_t stream);

    const CommView &view_;
    const int device_;
    const Route route_;
    const bool has_line_rings_;
    PeerAddresses addresses_;
    IdleWords *const idle_words_;
    /// What is made and released by CUDA, on the communicator's device.
    struct Owned {
        std::optional<StreamWords> stream_words;
        GpuOrder order;
        CopyEngineLane lane;
    };
    std::optional<Owned> cuda_{std::in_place};
    GpuMessages messages_;
    GpuPushes pushes_;
};

GpuExecutor::GpuExecutor(const CommView &view, int device, const Capabilities &capabilities, const PeerMemory &peers,
                         Rendezvous *rendezvous, IdleWords *idle_words, std::function<void()> throw_if_broken)
    : view_(view),
      device_(device),
      route_(make_route(capabilities.links, view.rank, view.size)),
      has_line_rings_(has_line_rings(capabilities)),
      addresses_(view, peers, rendezvous, copies_for(capabilities), std::move(throw_if_broken)),
      idle_words_(idle_words),
      messages_(view, capabilities.channels, addresses_, cuda_->lane),
      pushes_(view, cuda_->lane) {
    if (idle_words_ != nullptr) cuda_->stream_words.emplace(*idle_words_);
}

// The questions of drain(), idle() and mark_is_done() come from threads with any current device, also from threads that
// capture, where a query would end the capture.
void GpuExecutor::drain() {
    try {
        const OnDevice here(device_);
        cuda_->order.drain();
    } catch (const std::exception &failure) {
        log(LogLevel::warn, view_.rank, "{}", failure.what());
    }
}

/// Whether something has finished; false where CUDA cannot tell.
template <class Question>
bool GpuExecutor::has_finished(Question question) {
    try {
        const OnDevice here(device_);
        return (cuda_->order.*question)();
    } catch (const std::exception &) {
        return false;
    }
}

GpuExecutor::~GpuExecutor() {
    drain();
    try {
        const OnDevice here(device_);
        cuda_.reset();
    } catch (const std::exception &failure) {
        log(LogLevel::warn, view_.rank, "device {} was not left in order: {}", device_, failure.what());
    }
}

void GpuExecutor::run_kernel(const Request &request, const Plan &plan, const CollectiveArgs &args,
                             cudaStream_t stream) {
    const bool combines_unaligned = request.operation == BATON_REDUCE_SCATTER && plan.algorithm == Algorithm::pull &&
                                    is_unaligned(args, view_.rank);
    const KernelChoice choice = combines_unaligned ? reduce_scatter_unaligned_kernel(request.type)
                                                   : kernel_for(request.operation, plan.algorithm, request.type);
    if (choice.kernel == nullptr) {
        fail(BATON_ERR_INTERNAL, "{}: no kernel runs the algorithm {}", baton_operation_name(request.operation),
             algorithm_name(plan.algorithm));
    }
    RoutedArgs routed{args, route_, has_line_rings_};  // a kernel without a route takes the first part
    void *arguments[] = {const_cast<CommView *>(&view_), &routed};
    launch(choice.kernel, plan.channels * blocks_per_channel(plan.algorithm), choice.threads, arguments,
           domain_of(plan.algorithm), stream, "launching a collective");
}

void GpuExecutor::collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) {
    if (plan.mover != Mover::copy_engine) {
        return ordered(stream, Enqueues::at_once, [&](cudaStream_t on) { run_kernel(request, plan, args, on); });
    }
    CollectiveArgs shared = args;
    shared.beside_copy_engines = true;
    ordered(stream, plan.stream_words ? Enqueues::beside_hosts_words : Enqueues::in_steps, [&](cudaStream_t on) {
        if (!run_copy_engine(request, plan, shared, on)) run_kernel(request, plan, shared, on);
    });
}

/// Returns false where a kernel has to run the plan. In a capture a kernel always does, except in zero-SM mode, which
/// enqueues on the caller's stream alone: the push stream would be captured too, and eager calls could not use it until
/// the capture has ended.
bool GpuExecutor::run_copy_engine(const Request &request, const Plan &plan, const CollectiveArgs &args,
                                  cudaStream_t stream) {
    const bool capturing = is_capturing(stream);
    CopyEngine engine(view_, cuda_->lane, plan.channels, request.type, stream);
    if (needs_reach(plan.algorithm)) {
        std::vector<PeerBuffers> peers;
        if (!addresses_.learn(plan, args, capturing, peers)) {
            if (plan.stream_words) fail(BATON_ERR_INTERNAL, "a peer's buffer is not mapped here in zero-SM mode");
            return false;
        }
        if (combines_pushed(request.operation, plan.algorithm)) {
            pushes_.reduce(request, plan, args, peers, stream,
                           [&](const CollectiveArgs &to_combine) { run_kernel(request, plan, to_combine, stream); });
            return true;
        }
        if (plan.stream_words) {
            push_with_stream_words(request, args, peers, stream);
            return true;
        }
        for (int peer = 0; peer < view_.size; ++peer) {
            const PeerBuffers &buffers = peers[static_cast<std::size_t>(peer)];
            engine.set_peer(peer, buffers.send, buffers.recv);
        }
    } else if (capturing) {
        return false;
    }
    run_collective<Mover::copy_engine>(engine, request.operation, plan.algorithm, request.type, {args, route_});
    return true;
}

void GpuExecutor::push_with_stream_words(const Request &request, const CollectiveArgs &args,
                                         const std::vector<PeerBuffers> &peers, cudaStream_t stream) {
    const bool alltoall = request.operation == BATON_ALLTOALL;
    const std::uint64_t place = static_cast<std::uint64_t>(view_.rank) * args.bytes;
    const auto block_for = [&](int peer) {
        return args.send + (alltoall ? static_cast<std::uint64_t>(peer) * args.bytes : 0);
    };
    CopyBatch batch;
    batch.add(args.recv + place, block_for(view_.rank), args.bytes);
    for (int step = 1; step < view_.size; ++step) {
        const int peer = (view_.rank + step) % view_.size;
        batch.add(peers[static_cast<std::size_t>(peer)].recv + place, block_for(peer), args.bytes);
    }
    cuda_->stream_words->enqueue_phase(IdleWords::ready, stream);
    batch.flush(stream);
    cuda_->stream_words->enqueue_phase(IdleWords::complete, stream);
}

void GpuExecutor::messages(std::vector<MessageCall> calls, void *stream) {
    const bool by_copy_engine = std::any_of(
        calls.begin(), calls.end(), [](const MessageCall &call) { return call.plan.mover == Mover::copy_engine; });
    ordered(stream, by_copy_engine ? Enqueues::in_steps : Enqueues::at_once,
            [&](cudaStream_t on) { messages_.run(std::move(calls), on); });
}

void GpuExecutor::transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                           void *stream) {
    if (bytes == 0) return;
    ordered(stream, Enqueues::at_once, [&](cudaStream_t on) {
        if (plan.mover == Mover::copy_engine) {
            check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice, on),
                       "copying to or from a window");
        } else {
            launch_copy(destination, source, bytes, plan.channels, SyncDomain::of_stream, on);
        }
    });
}

void GpuExecutor::local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) {
    if (bytes == 0) return;
    ordered(stream, Enqueues::at_once, [&](cudaStream_t on) {
        check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, on), "copying a staged buffer");
    });
}

void GpuExecutor::signal(int window, int target, void *stream) {
    ordered(stream, Enqueues::at_once, [&](cudaStream_t on) { launch_signal(view_, window, target, on); });
}

void GpuExecutor::wait_signal(int window, int source, std::uint64_t signals, void *stream) {
    ordered(stream, Enqueues::at_once,
            [&](cudaStream_t on) { launch_wait_signal(view_, window, source, signals, on); });
}

std::optional<Executor::OverdueWait> GpuExecutor::overdue() {
    if (idle_words_ == nullptr) return std::nullopt;
    const std::optional<IdleWords::Overdue> wait =
        idle_words_->overdue(std::chrono::steady_clock::now(), std::chrono::nanoseconds(view_.timeout_ns));
    if (!wait) return std::nullopt;
    return OverdueWait{wait->peer, wait->phase == IdleWords::ready ? WaitFor::arrival : WaitFor::done};
}

}  // namespace

std::unique_ptr<Executor> make_gpu_executor(const CommView &view, int device, const Capabilities &capabilities,
                                            const PeerMemory &peers, Rendezvous *rendezvous, IdleWords *idle_words,
                                            std::function<void()> throw_if_broken) {
    const RelaxedCaptureGuard relaxed;
    return std::make_unique<GpuExecutor>(view, device, capabilities, peers, rendezvous, idle_words,
                                         std::move(throw_if_broken));
}

}  // namespace baton::core
