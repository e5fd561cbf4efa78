#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace baton::core {

/// An ordered queue of work, run by a thread of its own. Thread-safe. The destructor runs what is queued.
class HostStream {
public:
    HostStream();
    ~HostStream();
    HostStream(const HostStream &) = delete;
    HostStream &operator=(const HostStream &) = delete;

    void enqueue(std::function<void()> work);
    /// Waits for the work queued so far, but not for what is queued meanwhile. Then throws the first exception that
    /// work has thrown since the last synchronize().
    void synchronize();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    std::exception_ptr first_error_;
    std::uint64_t queued_ = 0;
    std::uint64_t done_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

/// Lets the operations of one communicator run in the order of their issue, on whatever threads.
class TicketOrder {
public:
    /// Calls take(ticket) with the next ticket, and returns that. If take() throws, no ticket has been issued. What
    /// take() starts on other threads may call run() at once.
    template <class Take>
    std::uint64_t issue(const Take &take) {
        const std::lock_guard lock(mutex_);
        take(issued_);
        return issued_++;
    }
    /// Waits for the turn of `ticket`, runs `work`, and passes the turn on even if it throws.
    void run(std::uint64_t ticket, const std::function<void()> &work);
    /// Waits until everything issued so far has run.
    void drain();
    std::uint64_t issued();               // how many tickets there have been
    bool has_run(std::uint64_t tickets);  // whether that many have run

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t issued_ = 0;
    std::uint64_t finished_ = 0;
};

}  // namespace baton::core
