#include "transport/host/host_stream.hpp"

#include <utility>

#include "util/quiet_thread.hpp"

namespace baton::core {

HostStream::HostStream() : thread_(start_quiet_thread("baton-stream", [this] { serve(); })) {}

HostStream::~HostStream() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void HostStream::enqueue(std::function<void()> work) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        ++queued_;
    }
    changed_.notify_all();
}

void HostStream::synchronize() {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = queued_;
    changed_.wait(lock, [&] { return done_ >= until; });
    if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
}

void HostStream::serve() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const std::function<void()> work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        std::exception_ptr error;
        try {
            work();
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (!first_error_) first_error_ = error;
        ++done_;
        changed_.notify_all();
    }
}

void TicketOrder::run(std::uint64_t ticket, const std::function<void()> &work) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return finished_ == ticket; });
    }
    struct PassOn {
        TicketOrder &order;
        ~PassOn() {
            // Under the lock: as soon as that is free, drain() may return and the order be destroyed.
            const std::lock_guard lock(order.mutex_);
            ++order.finished_;
            order.changed_.notify_all();
        }
    } pass_on{*this};
    work();
}

void TicketOrder::drain() {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = issued_;
    changed_.wait(lock, [&] { return finished_ >= until; });
}

std::uint64_t TicketOrder::issued() {
    const std::lock_guard lock(mutex_);
    return issued_;
}

bool TicketOrder::has_run(std::uint64_t tickets) {
    const std::lock_guard lock(mutex_);
    return finished_ >= tickets;
}

}  // namespace baton::core
