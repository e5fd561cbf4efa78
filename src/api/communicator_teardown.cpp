#include "api/communicator.hpp"
#include "memory/reclaimer.hpp"

namespace baton::core {

void Communicator::shut_down() {
    if (shut_down_) return;
    shut_down_ = true;
    executor_->drain();
    Reclaimer::of_process().leave(this);
    // A broken communicator waits for nobody, except for threads of its own process: they use each other's memory
    // directly.
    const bool together = !broken_.load() || bootstrap_->same_process();
    if (together) bootstrap_->barrier();
    {
        const std::lock_guard lock(teardown_mutex_);
        ready_.store(false, std::memory_order_release);
    }
    peers_->leave();
    peers_->stop();
    executor_.reset();
    buffers_.reset();
    windows_.clear();
    if (together) {
        // Importers close before owners free.
        peers_->unmap_peers();
        bootstrap_->barrier();
    }
    registry_.reset();
    peers_.reset();
    rendezvous_.reset();
    idle_words_.reset();
    if (!together) bootstrap_->abandon();
    free_control();
    bootstrap_.reset();
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
    if (shut_down_) return;
    // Creation failed half-way, on all ranks: nothing is in flight.
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
