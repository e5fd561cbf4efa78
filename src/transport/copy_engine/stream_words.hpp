#pragma once

#include <cuda_runtime_api.h>

#include "sync/idle_words.hpp"

namespace baton::core {

/// The idle words as a GPU's streams reach them. Registers their memory with CUDA. REQUIRES: the GPU is the current
/// device at construction and destruction.
class StreamWords {
public:
    explicit StreamWords(const IdleWords &words);
    ~StreamWords();
    StreamWords(const StreamWords &) = delete;
    StreamWords &operator=(const StreamWords &) = delete;

    void enqueue_phase(int phase, cudaStream_t stream) const;

private:
    const IdleWords &words_;
    std::byte *on_device_ = nullptr;  // where the GPU sees words_.memory()
};

}  // namespace baton::core
