#include <algorithm>
#include <utility>

#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "transport/copy_engine/engine.hpp"
#include "transport/copy_engine/head.hpp"

namespace baton::core {
namespace {

/// More blocks than the links can keep busy.
constexpr int copy_blocks = 32;

/// cudaMemcpyBatchAsync takes no default stream, and cannot be captured.
bool batch_allowed(cudaStream_t stream) {
    return stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread && !is_capturing(stream);
}

void copy_batch(std::vector<void *> &destinations, std::vector<const void *> &sources, std::vector<std::size_t> &sizes,
                cudaStream_t stream) {
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0;
    check_cuda(cudaMemcpyBatchAsync(destinations.data(), sources.data(), sizes.data(), sizes.size(), &attributes,
                                    &first, 1, stream),
               "cudaMemcpyBatchAsync");
}

}  // namespace

void CopyEngineLane::let_follow(cudaStream_t after, cudaStream_t before) const {
    check_cuda(cudaEventRecord(order.get(), before), "cudaEventRecord");
    check_cuda(cudaStreamWaitEvent(after, order.get(), 0), "cudaStreamWaitEvent");
}

void CopyBatch::add(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
    if (bytes == 0 || destination == source) return;
    destinations_.push_back(destination);
    sources_.push_back(source);
    sizes_.push_back(bytes);
}

void CopyBatch::flush(cudaStream_t stream) {
    if (sizes_.empty()) return;
    if (sizes_.size() > 1 && batch_allowed(stream)) {
        copy_batch(destinations_, sources_, sizes_, stream);
    } else {
        for (std::size_t index = 0; index < sizes_.size(); ++index) {
            check_cuda(
                cudaMemcpyAsync(destinations_[index], sources_[index], sizes_[index], cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpyAsync");
        }
    }
    destinations_.clear();
    sources_.clear();
    sizes_.clear();
}

CopyEngine::CopyEngine(const CommView &view, const CopyEngineLane &lane, int channels, baton_type type,
                       cudaStream_t stream)
    : view_(view), lane_(lane), channels_(channels), type_(type), stream_(stream) {}

void CopyEngine::sync(const SyncActions &actions, cudaStream_t stream) {
    launch_sync(view_, mine_, actions, channels_, stream);
}

bool CopyEngine::begin(const Arrival &mine) {
    mine_ = mine;
    head_is_past_ = false;
    sync({.begin = true}, stream_);
    let_pushes_follow();
    return true;
}

/// Only notes the step: if nothing comes between, finish() waits in its own launch, as at the end of most operations.
bool CopyEngine::wait_all(std::uint64_t step) {
    launch_wait();
    wait_all_ = step;
    return true;
}
void CopyEngine::launch_wait() {
    if (wait_all_ != 0) sync({.wait = std::exchange(wait_all_, 0)}, stream_);
}
cudaStream_t CopyEngine::stream_behind_waits() {
    launch_wait();
    return stream_;
}

void CopyEngine::copy(Remote destination, const std::byte *source, std::uint64_t bytes) {
    const std::uint64_t head = head_is_past_ || destination == source ? 0 : head_of(bytes);
    head_is_past_ = true;
    if (head > 0) {
        launch_copy(destination, source, head, copy_blocks, SyncDomain::remote, stream_behind_waits());
        head_to_wait_for_ = true;
    }
    batch_.add(destination + head, source + head, bytes - head);
}

/// Own copies are made by a kernel on the caller's stream, since the copy engines are busy with what goes to the peers.
/// They come after the head, which is more urgent.
void CopyEngine::copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes) {
    if (bytes > 0 && destination != source) own_.push_back({destination, source, bytes});
}
void CopyEngine::launch_own_copies() {
    for (const Copy &copy : own_)
        launch_copy(copy.destination, copy.source, copy.bytes, copy_blocks, SyncDomain::remote, stream_behind_waits());
    own_.clear();
}

void CopyEngine::signal_all(std::uint64_t step) {
    batch_.flush(lane_.pushes.get());
    if (head_to_wait_for_) let_pushes_follow();
    head_to_wait_for_ = false;
    sync({.signal = step}, lane_.pushes.get());
    launch_own_copies();
}
bool CopyEngine::wait(int peer, std::uint64_t step) {
    batch_.flush(lane_.pushes.get());
    sync({.wait = step, .wait_for = peer}, stream_behind_waits());
    let_pushes_follow();
    return true;
}
void CopyEngine::credit_all(std::uint64_t step) { sync({.credit = step}, stream_behind_waits()); }
bool CopyEngine::wait_credits(std::uint64_t step) {
    head_is_past_ = true;  // a head on the caller's stream would not wait for these credits
    sync({.wait_credits = step}, lane_.pushes.get());
    return true;
}

void CopyEngine::reduce_to(Remote destination, const Remote *sources, std::uint64_t count, int op) {
    if (count == 0) return;
    ReduceSources inputs;
    for (int rank = 0; rank < view_.size; ++rank) inputs.at[rank] = sources[rank];
    // With two blocks on each multiprocessor copy engines have to wait for memory (docs/experiments.md).
    const auto most_blocks = static_cast<std::uint64_t>(lane_.multiprocessors);
    const std::uint64_t blocks = std::min(ceil_divide(count * baton_type_size(type_), reduce_tile), most_blocks);
    launch_reduce(view_, destination, inputs, count, type_, static_cast<baton_op>(op), static_cast<int>(blocks),
                  stream_behind_waits());
}

bool CopyEngine::finish() {
    launch_own_copies();
    lane_.let_follow(stream_, lane_.pushes.get());
    sync({.wait = std::exchange(wait_all_, 0), .finish = true}, stream_);
    return true;
}

}  // namespace baton::core
