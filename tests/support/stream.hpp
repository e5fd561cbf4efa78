#pragma once

#include "support/environment.hpp"

namespace baton::test {

/// A stream of the communicator's kind: a baton_host_stream_t, a cudaStream_t, or NULL.
class Stream {
public:
    enum class Kind {
        null,  ///< NULL: done on return on the host, the legacy default stream on GPUs
        own    ///< a stream created here; on GPUs one that does not synchronise with the default stream
    };

    Stream(baton_comm_t comm, Kind kind);
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    baton_stream_t get() const { return handle_; }
    operator baton_stream_t() const { return handle_; }
    void synchronize();

private:
    bool on_gpu_;
    Kind kind_;
    baton_stream_t handle_ = nullptr;
};

}  // namespace baton::test
