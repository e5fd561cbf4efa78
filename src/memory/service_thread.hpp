#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "util/unique_fd.hpp"

namespace baton::core {

/// A thread that sleeps in poll() until a watched descriptor is readable, stop() is called, or a tick is due.
/// (poll() and not a futex, because peers' rings and peers' ends come as descriptors.)
class ServiceThread {
public:
    struct Work {
        std::function<void(const std::vector<int> &readable)> wake;  // which of the watched descriptors are readable
        std::function<void()> tick;
    };
    static constexpr std::chrono::milliseconds tick_interval{100};

    ServiceThread();
    ~ServiceThread() { stop(); }
    ServiceThread(const ServiceThread &) = delete;
    ServiceThread &operator=(const ServiceThread &) = delete;

    /// Starts the thread. It runs on `processors` only, if there are any.
    void start(std::vector<int> watched, Work work, const std::vector<int> &processors = {});
    /// Stops watching a descriptor, which would stay readable for ever. From the thread itself only.
    void unwatch(int descriptor);
    /// Ends the thread once it has finished what it is doing. Idempotent.
    void stop();

private:
    void run(const Work &work);

    std::vector<int> watched_;
    // The thread's own. Their memory is reserved before it starts, where failure can be reported.
    std::vector<pollfd> polled_;
    std::vector<int> readable_;
    UniqueFd stop_event_;                // ends the thread's poll()
    std::atomic<bool> stopping_{false};  // set by stop() for the thread, in case poll() fails
    std::thread thread_;
};

}  // namespace baton::core
