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
/// (poll and not a futex: peers' rings and peers' ends come as descriptors.)
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

    /// The thread runs on `processors` only, if there are any.
    void start(std::vector<int> watched, Work work, const std::vector<int> &processors = {});
    /// From the thread itself only: a descriptor that needs no more watching (it would stay readable for ever).
    void unwatch(int descriptor);
    /// Ends the thread after what it is doing. Idempotent.
    void stop();

private:
    void run(const Work &work);

    std::vector<int> watched_;
    // The thread's own; their memory is taken before it starts, where that may fail.
    std::vector<pollfd> polled_;
    std::vector<int> readable_;
    UniqueFd stop_event_;                // ends the thread's poll()
    std::atomic<bool> stopping_{false};  // stop() -> the thread, where poll() says nothing
    std::thread thread_;
};

}  // namespace baton::core
