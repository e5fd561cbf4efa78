#include "collectives/gpu_pushes.hpp"

#include <cuda.h>

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
    Streams(const CommView &view, const CopyEngineLane &lane, int channels, std::uint32_t &pushes, cudaStream_t stream,
            const std::function<void(const CollectiveArgs &)> &combine)
        : view_(view), lane_(lane), channels_(channels), pushes_(pushes), stream_(stream), combine_(combine) {}

    std::uint32_t next_number() { return pushes_ = number_after(pushes_); }
    void begin(const Arrival &arrival) {
        sync(arrival, {.begin = true});
        lane_.let_follow(lane_.pushes.get(), stream_);
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
        lane_.let_follow(lane_.words.get(), lane_.pushes.get());
        check_driver(
            driver().stream_batch_mem_op(lane_.words.get(), static_cast<unsigned>(words_.size()), words_.data(), 0),
            "cuStreamBatchMemOp");
        words_.clear();
    }
    void combine(const CollectiveArgs &args) { combine_(args); }
    void after_pushes() { lane_.let_follow(stream_, lane_.words.get()); }
    void copy_results() {
        lane_.let_follow(lane_.pushes.get(), stream_);
        copies_.flush(lane_.pushes.get());
        lane_.let_follow(stream_, lane_.pushes.get());
    }
    void end(const Arrival &arrival) { sync(arrival, {.signal = 1, .wait = 1, .finish = true}); }

private:
    void sync(const Arrival &arrival, const SyncActions &actions) {
        launch_sync(view_, arrival, actions, channels_, stream_);
    }

    const CommView &view_;
    const CopyEngineLane &lane_;
    const int channels_;
    std::uint32_t &pushes_;
    const cudaStream_t stream_;
    const std::function<void(const CollectiveArgs &)> &combine_;
    CopyBatch copies_;
    std::vector<CUstreamBatchMemOpParams> words_;
};

}  // namespace

void GpuPushes::reduce(const Request &request, const Plan &plan, const CollectiveArgs &args,
                       const std::vector<PeerBuffers> &peers, cudaStream_t stream,
                       const std::function<void(const CollectiveArgs &)> &combine) {
    Streams streams(view_, lane_, plan.channels, pushes_, stream, combine);
    enqueue_pushed(streams, PushedInputs(request.operation == BATON_ALLREDUCE, args.bytes, view_.size), args, peers,
                   view_.rank);
}

}  // namespace baton::core
