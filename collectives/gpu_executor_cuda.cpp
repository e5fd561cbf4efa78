#include "collectives/gpu_executor.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "collectives/allgather/push.hpp"
#include "collectives/allreduce/two_phase.hpp"
#include "collectives/alltoall/push.hpp"
#include "collectives/gpu_order.hpp"
#include "collectives/kernels.hpp"
#include "collectives/reduce_scatter/staged.hpp"
#include "cuda/check.hpp"
#include "cuda/guard.hpp"
#include "transport/copy_engine/engine.hpp"
#include "transport/copy_engine/stream_words.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::core {
namespace {

// The two phases of a zero-SM operation (sync/idle_words.hpp).
constexpr int ready_phase = 0;
constexpr int complete_phase = 1;

cudaStream_t as_stream(void *stream) { return static_cast<cudaStream_t>(stream); }

/// A peer's buffers as this process reaches them; null where the call's plan does not name one.
struct PeerBuffers {
    std::byte *send = nullptr;
    std::byte *recv = nullptr;
};

KernelChoice kernel_for(const Request &request, const Plan &plan) {
    if (plan.algorithm == Algorithm::staged) return staged_kernel(request.operation, request.type);
    switch (request.operation) {
        case BATON_ALLGATHER:
            return allgather_kernel(plan.algorithm);
        case BATON_ALLTOALL:
            return alltoall_kernel(plan.algorithm);
        case BATON_BROADCAST:
            return broadcast_kernel(plan.algorithm);
        case BATON_REDUCE_SCATTER:
            return reduce_scatter_kernel(plan.algorithm, request.type);
        case BATON_ALLREDUCE:
            return allreduce_kernel(plan.algorithm, request.type);
        default:
            return barrier_kernel();
    }
}

class GpuExecutor final : public Executor {
public:
    GpuExecutor(const CommView &view, int device, const Capabilities &capabilities, const PeerMemory &peers,
                Rendezvous *rendezvous, IdleWords *idle_words);
    ~GpuExecutor() override;

    void collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) override;
    void messages(std::vector<MessageCall> calls, void *stream) override;
    void transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                  void *stream) override;
    void signal(int window, int target, void *stream) override;
    void wait_signal(int window, int source, std::uint64_t signals, void *stream) override;
    void local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) override;
    void drain() override { order_.drain(); }
    bool idle() override { return order_.idle(); }
    // Kernels read Control::abort and the clock; stream waits do not.
    void interrupt() override {
        if (idle_words_ != nullptr) idle_words_->release();
    }
    std::optional<OverdueWait> overdue() override;

private:
    /// Device, capture mode and issue order around the enqueueing of one operation.
    template <class F>
    void ordered(void *stream, const F &enqueue) {
        const DeviceGuard device(device_);
        const RelaxedCaptureGuard relaxed;
        order_.before(as_stream(stream));
        enqueue(as_stream(stream));
        order_.after(as_stream(stream));
    }
    void run_kernel(const Request &request, const Plan &plan, const CollectiveArgs &args, cudaStream_t stream);
    bool run_copy_engine(const Request &request, const Plan &plan, const CollectiveArgs &args, cudaStream_t stream);
    void push_with_stream_words(const Request &request, const CollectiveArgs &args,
                                const std::vector<PeerBuffers> &peers, cudaStream_t stream);
    bool learn_addresses(const Plan &plan, const CollectiveArgs &args, bool capturing, std::vector<PeerBuffers> &peers);
    bool find(int peer, const BufferRef &buffer, std::byte **address) const;
    template <int capacity>
    void launch_messages(const std::vector<MessageCall> &calls, cudaStream_t stream);

    const CommView &view_;
    const int device_;
    const Capabilities capabilities_;
    const PeerMemory &peers_;
    Rendezvous *const rendezvous_;
    IdleWords *const idle_words_;
    std::optional<StreamWords> stream_words_;
    GpuOrder order_;
    CopyEngineLane lane_;
};

GpuExecutor::GpuExecutor(const CommView &view, int device, const Capabilities &capabilities, const PeerMemory &peers,
                         Rendezvous *rendezvous, IdleWords *idle_words)
    : view_(view),
      device_(device),
      capabilities_(capabilities),
      peers_(peers),
      rendezvous_(rendezvous),
      idle_words_(idle_words) {
    if (idle_words_ != nullptr) stream_words_.emplace(*idle_words_);
    check_cuda(cudaStreamCreateWithFlags(&lane_.pushes, cudaStreamNonBlocking), "creating the push stream");
    check_cuda(cudaEventCreateWithFlags(&lane_.fork, cudaEventDisableTiming), "creating an event");
    check_cuda(cudaEventCreateWithFlags(&lane_.join, cudaEventDisableTiming), "creating an event");
}

GpuExecutor::~GpuExecutor() {
    order_.drain();
    cudaStreamDestroy(lane_.pushes);
    cudaEventDestroy(lane_.fork);
    cudaEventDestroy(lane_.join);
}

void GpuExecutor::run_kernel(const Request &request, const Plan &plan, const CollectiveArgs &args,
                             cudaStream_t stream) {
    const KernelChoice choice = kernel_for(request, plan);
    if (choice.kernel == nullptr) {
        fail(BATON_ERR_INTERNAL, "{}: no kernel runs the algorithm {}", baton_operation_name(request.operation),
             algorithm_name(plan.algorithm));
    }
    void *arguments[] = {const_cast<CommView *>(&view_), const_cast<CollectiveArgs *>(&args)};
    launch(choice.kernel, plan.channels, choice.threads, arguments, stream, "launching a collective");
}

void GpuExecutor::collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) {
    ordered(stream, [&](cudaStream_t on) {
        if (plan.mover != Mover::copy_engine) return run_kernel(request, plan, args, on);
        if (plan.algorithm == Algorithm::staged) {
            CopyEngine engine(view_, lane_, plan.channels, request.type, on);
            return dispatch_type(request.type, [&]<class T>() { reduce_scatter_staged<T>(engine, args); });
        }
        if (!run_copy_engine(request, plan, args, on)) run_kernel(request, plan, args, on);
    });
}

/// Where the peers' buffers are, from the hosts' rendezvous. False: not known, which only costs speed where
/// kernels can do it (they get the addresses with the arrivals), and is an error in zero-SM mode.
bool GpuExecutor::learn_addresses(const Plan &plan, const CollectiveArgs &args, bool capturing,
                                  std::vector<PeerBuffers> &peers) {
    if (rendezvous_ == nullptr) return false;
    if (capturing && !plan.stream_words) {
        rendezvous_->close();
        return false;
    }
    // In zero-SM mode every rank counts the calls that must meet; what may fall back to a kernel on some would not be.
    if (!plan.stream_words && (rendezvous_->closed() || idle_words_ != nullptr)) return false;
    const Arrival &mine = args.arrival;
    Rendezvous::Entry words;
    static_assert(words.size() == Arrival::words);
    for (int index = 0; index < Arrival::words; ++index) words[static_cast<std::size_t>(index)] = mine.word(index);
    const std::uint64_t number = rendezvous_->post(words);
    // Where a kernel can take over, a late rank costs no more than this.
    const auto patience =
        plan.stream_words ? std::chrono::nanoseconds(view_.timeout_ns) : std::chrono::microseconds(200);
    std::vector<Rendezvous::Entry> entries;
    const int missing = rendezvous_->collect(number, patience, entries);
    if (missing >= 0) {
        if (!plan.stream_words) return false;
        fail(BATON_ERR_TIMEOUT, "rank {} has not issued the matching call in {:.1f} s (zero-SM call {})", missing,
             static_cast<double>(view_.timeout_ns) * 1e-9, number);
    }
    peers.assign(entries.size(), PeerBuffers{});
    for (int peer = 0; peer < view_.size; ++peer) {
        const Arrival theirs = Arrival::from_words(entries[static_cast<std::size_t>(peer)].data());
        if (!(theirs.signature == mine.signature)) {
            if (!plan.stream_words) return false;  // the kernels compare too, and tell everybody
            fail(BATON_ERR_MISMATCH,
                 "ranks {} and {} disagree in zero-SM call {}: count {} against {}, operation word {:#x} against {:#x}",
                 view_.rank, peer, number, mine.signature.count, theirs.signature.count, mine.signature.what,
                 theirs.signature.what);
        }
        if (peer == view_.rank || args.chunk == 0) continue;
        PeerBuffers &buffers = peers[static_cast<std::size_t>(peer)];
        if (!find(peer, theirs.send, &buffers.send) || !find(peer, theirs.recv, &buffers.recv)) return false;
    }
    return true;
}

/// False if the peer's buffer is not mapped here. A buffer that peers need not reach is not named: null, and true.
bool GpuExecutor::find(int peer, const BufferRef &buffer, std::byte **address) const {
    if (buffer.slot() == BufferRef::raw_slot) return true;
    auto *base =
        static_cast<std::byte *>(peers_.address(peer, static_cast<std::uint32_t>(buffer.slot()), buffer.generation));
    if (base == nullptr) return false;
    *address = base + buffer.offset();
    return true;
}

bool GpuExecutor::run_copy_engine(const Request &request, const Plan &plan, const CollectiveArgs &args,
                                  cudaStream_t stream) {
    std::vector<PeerBuffers> peers;
    if (!learn_addresses(plan, args, is_capturing(stream), peers)) {
        if (plan.stream_words) fail(BATON_ERR_INTERNAL, "a peer's buffer is not mapped here in zero-SM mode");
        return false;
    }
    if (plan.stream_words) {
        push_with_stream_words(request, args, peers, stream);
        return true;
    }
    CopyEngine engine(view_, lane_, plan.channels, request.type, stream);
    for (int peer = 0; peer < view_.size; ++peer) {
        const PeerBuffers &buffers = peers[static_cast<std::size_t>(peer)];
        engine.set_peer(peer, buffers.send, buffers.recv);
    }
    switch (request.operation) {
        case BATON_ALLGATHER:
            allgather_push(engine, args);
            break;
        case BATON_ALLTOALL:
            alltoall_push(engine, args);
            break;
        default:
            dispatch_type(request.type, [&]<class T>() { allreduce_two_phase<T>(engine, args); });
    }
    return true;
}

void GpuExecutor::push_with_stream_words(const Request &request, const CollectiveArgs &args,
                                         const std::vector<PeerBuffers> &peers, cudaStream_t stream) {
    const bool alltoall = request.operation == BATON_ALLTOALL;
    const std::uint64_t place = static_cast<std::uint64_t>(view_.rank) * args.chunk;
    const auto block_for = [&](int peer) {
        return args.send + (alltoall ? static_cast<std::uint64_t>(peer) * args.chunk : 0);
    };
    CopyBatch batch;
    batch.add(args.recv + place, block_for(view_.rank), args.chunk);
    for (int step = 1; step < view_.size; ++step) {
        const int peer = (view_.rank + step) % view_.size;
        if (args.chunk > 0) {
            batch.add(peers[static_cast<std::size_t>(peer)].recv + place, block_for(peer), args.chunk);
        }
    }
    stream_words_->enqueue_phase(ready_phase, stream);
    batch.flush(stream);
    stream_words_->enqueue_phase(complete_phase, stream);
}

template <int capacity>
void GpuExecutor::launch_messages(const std::vector<MessageCall> &calls, cudaStream_t stream) {
    const auto batch = std::make_unique<MessageBatch<capacity>>();
    // All blocks must be resident together, since they wait for each other across ranks. So many messages share the
    // blocks (a block works through several parts of its message), and blocks of many messages are small.
    const auto blocks_wanted = [](const MessageCall &call) {
        return call.message.is_send || call.plan.algorithm == Algorithm::packet ? call.plan.channels : 1;
    };
    const auto wide = static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [&](const MessageCall &call) { return blocks_wanted(call) > 1; }));
    const int narrow = static_cast<int>(calls.size()) - wide;
    const int most_of_one = std::max(1, (capabilities_.channels - narrow) / std::max(1, wide));
    std::map<std::pair<bool, int>, std::uint64_t> numbers;
    int blocks = 0;
    for (const MessageCall &call : calls) {
        LaunchedMessage &launched = batch->messages[batch->count++];
        launched.message = call.message;
        launched.message.number = ++numbers[{call.message.is_send, call.message.peer}];
        launched.first_block = blocks;
        launched.push = call.plan.algorithm == Algorithm::push;
        launched.blocks = std::min(blocks_wanted(call), most_of_one);
        // Each has something to wait for: one that had not would count itself as done before the slot is this
        // message's.
        if (!launched.push) launched.blocks = shares_of(call.message.bytes, line_bytes, launched.blocks);
        // The parts of a push are what its receiver waits for; packets are found wherever the parts begin.
        launched.parts = launched.push ? call.plan.channels : launched.blocks;
        blocks += launched.blocks;
    }
    batch->separate = numbers.size() == calls.size() && blocks == static_cast<int>(calls.size());
    const KernelChoice choice = message_kernel(capacity > 4);
    void *arguments[] = {const_cast<CommView *>(&view_), batch.get()};
    launch(choice.kernel, blocks, choice.threads, arguments, stream, "launching sends and recvs");
}

void GpuExecutor::messages(std::vector<MessageCall> calls, void *stream) {
    ordered(stream, [&](cudaStream_t on) {
        calls.size() <= 4 ? launch_messages<4>(calls, on) : launch_messages<BATON_GROUP_LIMIT>(calls, on);
    });
}

void GpuExecutor::transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                           void *stream) {
    if (bytes == 0) return;
    ordered(stream, [&](cudaStream_t on) {
        if (plan.mover == Mover::copy_engine) {
            check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice, on),
                       "copying to or from a window");
        } else {
            launch_copy(destination, source, bytes, plan.channels, on);
        }
    });
}

void GpuExecutor::local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) {
    if (bytes == 0) return;
    ordered(stream, [&](cudaStream_t on) {
        check_cuda(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, on), "copying a staged buffer");
    });
}

void GpuExecutor::signal(int window, int target, void *stream) {
    ordered(stream, [&](cudaStream_t on) { launch_signal(view_, window, target, on); });
}

void GpuExecutor::wait_signal(int window, int source, std::uint64_t signals, void *stream) {
    ordered(stream, [&](cudaStream_t on) { launch_wait_signal(view_, window, source, signals, on); });
}

std::optional<Executor::OverdueWait> GpuExecutor::overdue() {
    if (idle_words_ == nullptr) return std::nullopt;
    const std::optional<IdleWords::Overdue> wait = idle_words_->overdue(std::chrono::steady_clock::now());
    if (!wait) return std::nullopt;
    return OverdueWait{wait->peer, wait->phase == ready_phase ? WaitFor::arrival : WaitFor::done};
}

}  // namespace

std::unique_ptr<Executor> make_gpu_executor(const CommView &view, int device, const Capabilities &capabilities,
                                            const PeerMemory &peers, Rendezvous *rendezvous, IdleWords *idle_words) {
    return std::make_unique<GpuExecutor>(view, device, capabilities, peers, rendezvous, idle_words);
}

}  // namespace baton::core
