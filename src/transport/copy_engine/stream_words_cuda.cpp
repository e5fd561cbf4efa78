#include "transport/copy_engine/stream_words.hpp"

#include <cuda.h>

#include <vector>

#include "cuda/check.hpp"
#include "cuda/driver.hpp"

namespace baton::core {
namespace {

CUstreamBatchMemOpParams write(std::uint64_t *word, std::uint64_t value) {
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operation.writeValue.address = reinterpret_cast<CUdeviceptr>(word);
    operation.writeValue.value64 = value;
    operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    return operation;
}

CUstreamBatchMemOpParams wait_until(std::uint64_t *word, std::uint64_t value) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
    operation.waitValue.address = reinterpret_cast<CUdeviceptr>(word);
    operation.waitValue.value64 = value;
    operation.waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    return operation;
}

void enqueue(std::vector<CUstreamBatchMemOpParams> &operations, cudaStream_t stream) {
    if (operations.empty()) return;
    check_driver(driver().stream_batch_mem_op(stream, static_cast<unsigned>(operations.size()), operations.data(), 0),
                 "cuStreamBatchMemOp");
}

template <class Make>
void for_each_peer(const CommView &view, std::vector<CUstreamBatchMemOpParams> &operations, const Make &make) {
    for (int step = 1; step < view.size; ++step) operations.push_back(make((view.rank + step) % view.size));
}

}  // namespace

void enqueue_phase(const CommView &view, int phase, cudaStream_t stream) {
    std::vector<CUstreamBatchMemOpParams> operations;
    for_each_peer(view, operations, [&](int peer) { return write(view.arena(peer).idle_word(phase, view.rank), 1); });
    for_each_peer(view, operations, [&](int peer) { return wait_until(view.own().idle_word(phase, peer), 1); });
    for_each_peer(view, operations, [&](int peer) { return write(view.own().idle_word(phase, peer), 0); });
    enqueue(operations, stream);
}

void release_phases(const CommView &view, cudaStream_t stream) {
    std::vector<CUstreamBatchMemOpParams> operations;
    for (int phase = 0; phase < 2; ++phase) {
        for_each_peer(view, operations, [&](int peer) { return write(view.own().idle_word(phase, peer), 1); });
    }
    enqueue(operations, stream);
}

}  // namespace baton::core
