#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "baton/baton.h"
#include "check.hpp"
#include "devices.hpp"
#include "util/environment.hpp"

namespace baton::bench {

/// The transport of a baton_config for host memory. Unset if BATON_TRANSPORT is set to anything but auto: if that is
/// not host memory, the contradiction should be refused, not pass unnoticed.
inline int host_transport() {
    const char *set = core::variable("BATON_TRANSPORT");
    return set == nullptr || std::string_view(set) == "auto" ? static_cast<int>(BATON_TRANSPORT_HOST) : -1;
}

/// A Baton communicator over all ranks with memory of one kind, and the stream that its calls are issued on: a
/// non-blocking CUDA stream, or NULL for the host (then a call is complete when it returns).
class Communicator {
public:
    /// On GPUs rank r uses device (local rank % visible devices). Throws if there is no memory of this kind. `tuning`
    /// is baton_config's; null for the tuning that is in force here.
    Communicator(const World &world, MemorySpace memory_space, const char *tuning = nullptr);
    /// Destroys the communicator; if that fails, so does run_benchmark() in the end. While an exception unwinds, aborts
    /// it first, so that it does not wait for other ranks.
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    const World &world() const { return world_; }
    baton_comm_t handle() const { return comm_; }
    baton_stream_t stream() const { return stream_; }
    bool on_gpu() const { return info_.on_gpu != 0; }
    MemorySpace memory_space() const { return on_gpu() ? MemorySpace::gpu : MemorySpace::host; }
    int rank() const { return info_.rank; }
    int size() const { return info_.size; }
    const baton_info &info() const { return info_; }

    /// Waits until everything issued on stream() has finished.
    void synchronize() const;
    /// Throws if the communicator is broken. CUDA does not tell: a kernel that gives up ends its stream without an
    /// error.
    void check_alive() const;

private:
    const World &world_;
    baton_comm_t comm_ = nullptr;
    baton_stream_t stream_ = nullptr;
    baton_info info_{};
};

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace baton::bench
