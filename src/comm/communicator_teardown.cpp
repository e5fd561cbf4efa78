#include <exception>

#include "comm/communicator.hpp"
#include "memory/reclaimer.hpp"

namespace baton::core {

void Communicator::shut_down() {
    if (shut_down_) return;
    shut_down_ = true;
    executor_->drain();
    Reclaimer::of_process().leave(this);
    look_for_errors(Turn::taken);
    // A broken communicator waits for nobody. One that breaks while it waits goes on alone.
    bool in_step = !broken_.load();
    std::exception_ptr broken_here;
    const auto wait_for_all = [&](const std::function<void()> &body) {
        if (!in_step) return;
        try {
            together(body);
        } catch (const std::exception &exception) {
            const Failure failure = as_failure(exception);
            in_step = false;
            broken_here = std::current_exception();
            break_with(failure.code(), failure.what(), true);
            peers_->post_error(failure.code(), failure.what());  // also once ready_ is false; the first text stays
        }
    };
    call_ = Call::comm_destroy;
    wait_for_all([] {});
    {
        const std::lock_guard lock(teardown_mutex_);  // waits for who is looking, too
        ready_.store(false, std::memory_order_release);
    }
    peers_->leave();
    peers_->stop();
    executor_.reset();
    buffers_.reset();
    windows_.clear();
    wait_for_all([this] { peers_->unmap_peers(); });  // importers close before owners free
    // Memory that a thread of this process may still use is leaked.
    if (!in_step && !bootstrap_->abandon(timeout_)) static_cast<void>(registry_.release());
    registry_.reset();
    rendezvous_.reset();
    idle_words_.reset();
    {
        const std::lock_guard lock(teardown_mutex_);
        peers_.reset();
        free_control();
    }
    bootstrap_.reset();
    if (broken_here) std::rethrow_exception(broken_here);
}

void Communicator::free_control() {
    if (control_ == nullptr) return;
    if (capabilities_.on_gpu) {
        release_control(control_);
    } else {
        delete control_;
    }
    control_ = nullptr;
}

Communicator::~Communicator() {
    if (bootstrap_ == nullptr) return;  // shut_down() has come to its end
    // Creation failed half-way, on all ranks, and nothing is in flight; or shut_down() did, for want of memory.
    Reclaimer::of_process().leave(this);
    ready_.store(false, std::memory_order_release);
    if (peers_) {
        peers_->leave();
        peers_->stop();
    }
    executor_.reset();
    buffers_.reset();
    registry_.reset();
    peers_.reset();
    free_control();
}

}  // namespace baton::core
