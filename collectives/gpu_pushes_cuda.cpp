#include "collectives/gpu_pushes.hpp"

#include <cuda.h>

#include "collectives/kernels.hpp"
#include "collectives/launch_domain.hpp"
#include "collectives/push_inputs.hpp"
#include "cuda/check.hpp"
#include "cuda/driver.hpp"
#include "sync/pushed_word.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::core {
namespace {

/// The queue of push_inputs.hpp: kernels go to the caller's stream, copies and words to the lane's.
class Streams {
public:
    Streams(const CommView &view, const CopyEngineLane &lane, const Request &request, const Plan &plan,
            std::uint32_t &pushes, cudaStream_t stream)
        : view_(view), lane_(lane), request_(request), plan_(plan), pushes_(pushes), stream_(stream) {}

    std::uint32_t next_number() { return pushes_ = number_after(pushes_); }
    void begin(const Arrival &arrival) {
        sync(arrival, {.begin = true});
        lane_.let_pushes_follow(stream_);
    }
    void copy(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
        copies_.add(destination, source, bytes);
    }
    void tell(int peer, std::uint32_t pieces) {
        CUstreamBatchMemOpParams word{};
        word.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
        word.writeValue.address = reinterpret_cast<CUdeviceptr>(view_.arena(peer).pushed(view_.rank));
        word.writeValue.value64 = pushed_word(pushes_, pieces);
        word.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
        words_.push_back(word);
    }
    void push() {
        copies_.flush(lane_.pushes.get());
        check_driver(
            driver().stream_batch_mem_op(lane_.pushes.get(), static_cast<unsigned>(words_.size()), words_.data(), 0),
            "cuStreamBatchMemOp");
        words_.clear();
    }
    void combine(const CollectiveArgs &args) {
        const KernelChoice choice = kernel_for(request_.operation, plan_.algorithm, request_.type);
        void *arguments[] = {const_cast<CommView *>(&view_), const_cast<CollectiveArgs *>(&args)};
        launch(choice.kernel, plan_.channels, choice.threads, arguments, domain_of(plan_.algorithm), stream_,
               "launching a collective");
    }
    void after_pushes() { lane_.let_follow_pushes(stream_); }
    void copy_results() {
        lane_.let_pushes_follow(stream_);
        copies_.flush(lane_.pushes.get());
        lane_.let_follow_pushes(stream_);
    }
    void end(const Arrival &arrival) { sync(arrival, {.signal = 1, .wait = 1, .finish = true}); }

private:
    void sync(const Arrival &arrival, const SyncActions &actions) {
        launch_sync(view_, arrival, actions, plan_.channels, stream_);
    }

    const CommView &view_;
    const CopyEngineLane &lane_;
    const Request &request_;
    const Plan &plan_;
    std::uint32_t &pushes_;
    const cudaStream_t stream_;
    CopyBatch copies_;
    std::vector<CUstreamBatchMemOpParams> words_;
};

}  // namespace

void GpuPushes::reduce(const Request &request, const Plan &plan, const CollectiveArgs &args,
                       const std::vector<PeerBuffers> &peers, cudaStream_t stream) {
    Streams streams(view_, lane_, request, plan, pushes_, stream);
    enqueue_pushed(streams, PushedInputs(request.operation == BATON_ALLREDUCE, args.bytes, view_.size), args, peers,
                   view_.rank);
}

}  // namespace baton::core
