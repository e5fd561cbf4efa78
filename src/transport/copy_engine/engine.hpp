#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/handles.hpp"
#include "transport/kernel/launch.hpp"
#include "transport/remote_lists.hpp"
#include "transport/transport.hpp"

namespace baton::core {

/// The streams that one communicator's copy-engine operations use besides the caller's.
struct CopyEngineLane {
    Stream pushes = make_stream();
    Stream words = make_stream();  // of pushes: a word between two copies would keep the second one waiting
    Event fork = make_event();     // where a send by copy engine begins on the caller's stream
    Event order = make_event();    // for let_follow()
    int multiprocessors = current_multiprocessors();

    /// What is enqueued on `after` from now on comes after what has been enqueued on `before` so far.
    void let_follow(cudaStream_t after, cudaStream_t before) const;
};

/// Copies of one direction, given to the copy engines together: by one cudaMemcpyBatchAsync if the stream allows it
/// (the fastest way with many peers), else by one call each. Nothing orders the copies of a batch, so no batch has
/// copies from both sides of a signal.
class CopyBatch {
public:
    void add(std::byte *destination, const std::byte *source, std::uint64_t bytes);
    void flush(cudaStream_t stream);

private:
    std::vector<const void *> sources_;
    std::vector<void *> destinations_;
    std::vector<std::size_t> sizes_;
};

/// The engine that enqueues: what an algorithm does becomes copies, synchronisation kernels of one block per channel,
/// and reduction kernels on a stream. See transport.hpp. Copies to peers and what they wait for go to a stream of their
/// own, the rest to the caller's, so that the segments of a staged algorithm overlap by themselves. A kernel on the
/// caller's stream copies the head of an operation's first copy to a peer; what a rank keeps is copied there too,
/// behind the head.
///
///   | method       | caller's stream                        | stream of pushes                              |
///   |--------------|----------------------------------------|-----------------------------------------------|
///   | begin        | kernel: arrivals                       | follows it                                    |
///   | copy         | kernel: the head of the first one      | collected until the next signal or wait       |
///   | copy_own     | collected until a signal, or finish    |                                               |
///   | signal_all   | kernels: own copies                    | the copies; behind them and the head, kernel  |
///   | wait         | kernel                                 | the copies; follows the wait                  |
///   | wait_all     | kernel, before what comes next there   |                                               |
///   | credit_all   | kernel                                 |                                               |
///   | wait_credits |                                        | kernel                                        |
///   | reduce       | kernel                                 |                                               |
///   | finish       | own copies; behind all pushes, kernel  |                                               |
///
/// The host waits for nothing: methods that return bool return true, and failures show in Control. REQUIRES: the peers'
/// buffers have been set beforehand (set_peer).
class CopyEngine : public RemoteLists<std::byte *> {
public:
    using Remote = std::byte *;

    CopyEngine(const CommView &view, const CopyEngineLane &lane, int channels, baton_type type, cudaStream_t stream);

    void set_peer(int peer, std::byte *send, std::byte *recv) {
        send_of_[static_cast<std::size_t>(peer)] = send;
        recv_of_[static_cast<std::size_t>(peer)] = recv;
    }

    int rank() const { return view_.rank; }
    int size() const { return view_.size; }
    int peer_at(int step) const { return (view_.rank + step) % view_.size; }
    int spread_peer_at(int step) const { return peer_at(step); }
    Range share(std::uint64_t bytes, std::uint64_t /*granule*/) const { return {0, bytes}; }
    Remote send_of(int peer) const { return send_of_[static_cast<std::size_t>(peer)]; }
    Remote recv_of(int peer) const { return recv_of_[static_cast<std::size_t>(peer)]; }
    static Remote local(const std::byte *pointer) { return const_cast<std::byte *>(pointer); }

    bool begin(const Arrival &mine);
    template <class... Finds>
    bool await_all(const Finds &.../*finds*/) const {
        return true;  // begin() has waited for all
    }

    void copy(Remote destination, const std::byte *source, std::uint64_t bytes);
    void copy_own(std::byte *destination, const std::byte *source, std::uint64_t bytes);
    template <class T>
    void reduce(const Remote *destinations, int /*destination_count*/, const Remote *sources, std::uint64_t count,
                int op) {
        reduce_to(destinations[0], sources, count, op);
    }

    void signal_all(std::uint64_t step);
    bool wait_all(std::uint64_t step);
    bool wait(int peer, std::uint64_t step);
    void credit_all(std::uint64_t step);
    bool wait_credits(std::uint64_t step);

    std::uint64_t segment_bytes() const { return view_.layout.segment_bytes; }
    Remote staging_at(int peer, int slot) const { return view_.arena(peer).staging(slot, view_.rank); }
    std::byte *staging_from(int peer, int slot) const { return view_.own().staging(slot, peer); }

    bool finish();

private:
    void reduce_to(Remote destination, const Remote *sources, std::uint64_t count, int op);
    void sync(const SyncActions &actions, cudaStream_t stream);
    void let_pushes_follow() { lane_.let_follow(lane_.pushes.get(), stream_behind_waits()); }
    void launch_own_copies();
    void launch_wait();
    cudaStream_t stream_behind_waits(); /* the caller's, after launching a wait_all() that is still pending */

    struct Copy {
        std::byte *destination;
        const std::byte *source;
        std::uint64_t bytes;
    };

    const CommView &view_;
    const CopyEngineLane &lane_;
    Arrival mine_;
    int channels_;
    baton_type type_;
    cudaStream_t stream_;
    CopyBatch batch_;
    std::vector<Copy> own_;
    bool head_is_past_ = false;      // no heads any more: the first copy, or a wait_credits(), has come
    bool head_to_wait_for_ = false;  // the next signal must come behind a head
    std::uint64_t wait_all_ = 0;     // the step of a wait_all() that has not been launched yet
    std::array<Remote, max_ranks> send_of_{};
    std::array<Remote, max_ranks> recv_of_{};
};

}  // namespace baton::core
