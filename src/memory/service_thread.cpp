#include "memory/service_thread.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "memory/placement.hpp"
#include "util/failure.hpp"
#include "util/quiet_thread.hpp"

namespace baton::core {

ServiceThread::ServiceThread() : stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_event_) fail(BATON_ERR_SYSTEM, "eventfd: {}", errno_text(errno));
}

void ServiceThread::start(std::vector<int> watched, Work work, const std::vector<int> &processors) {
    watched_ = std::move(watched);
    polled_.reserve(watched_.size() + 1);
    readable_.reserve(watched_.size());
    thread_ = start_quiet_thread("baton-service", [this, work = std::move(work), processors] {
        bind_this_thread(processors);
        run(work);
    });
}

void ServiceThread::unwatch(int descriptor) {
    watched_.erase(std::remove(watched_.begin(), watched_.end(), descriptor), watched_.end());
}

void ServiceThread::stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_event_.get(), &one, sizeof(one));
    thread_.join();
}

void ServiceThread::run(const Work &work) {
    using Clock = std::chrono::steady_clock;
    auto next_tick = Clock::now() + tick_interval;
    for (;;) {
        polled_.clear();
        polled_.push_back({stop_event_.get(), POLLIN, 0});
        for (const int descriptor : watched_) polled_.push_back({descriptor, POLLIN, 0});
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick - Clock::now()).count();
        const int ready = ::poll(polled_.data(), polled_.size(), static_cast<int>(std::max<long>(left, 0)));
        // Out of memory, or the limit on descriptors has been lowered: then looks at all of them, each millisecond.
        const bool blind = ready < 0 && errno != EINTR;
        if (blind) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (polled_[0].revents != 0 || stopping_.load(std::memory_order_acquire)) return;
        readable_.clear();
        for (std::size_t i = 1; i < polled_.size(); ++i) {
            if (blind || polled_[i].revents != 0) readable_.push_back(polled_[i].fd);
        }
        if (!readable_.empty()) work.wake(readable_);
        if (Clock::now() >= next_tick) {
            work.tick();
            next_tick = Clock::now() + tick_interval;
        }
    }
}

}  // namespace baton::core
