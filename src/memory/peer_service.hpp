#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/board.hpp"
#include "memory/doorbell.hpp"
#include "memory/mapped_regions.hpp"
#include "memory/peer_callbacks.hpp"
#include "memory/publisher.hpp"
#include "memory/service_thread.hpp"
#include "util/process_watch.hpp"

namespace baton::core {

/// What the service thread does: the peer's side of registration, and the watch over the peers' processes. Everything
/// except the constructor, start() and stop() runs on that thread.
class PeerService {
public:
    PeerService(const Board &board, Doorbell &doorbell, MappedRegions &mapped, Publisher &publisher,
                PeerCallbacks callbacks);

    /// REQUIRES: the peers are in a collective call, so that their process numbers are still their own.
    void start(bool watch_processes, const std::vector<int> &processors);
    void stop() { thread_.stop(); }

private:
    struct Peer {
        std::uint64_t served = 0;           // number of its last post that was acknowledged
        Doorbell::Message ring;             // its latest, with the descriptor
        std::optional<ProcessWatch> watch;  // while its process runs
    };

    void on_wake(const std::vector<int> &readable);
    void on_tick();
    void tick(); /* the callback */
    void take_rings();
    void serve_all();
    void serve(int owner);
    void give_back_pages();
    void look_after(int peer);
    void report_end(int peer, pid_t pid);
    template <class Function>
    void call(Function &&function) noexcept;

    const Board &board_;
    Doorbell &doorbell_;
    MappedRegions &mapped_;
    Publisher &publisher_;
    const PeerCallbacks callbacks_;
    std::vector<Peer> peers_;
    bool has_warned_of_strangers_ = false;
    std::uint64_t given_back_ = 0;  // the board's retirements at the last give_back_pages()
    ServiceThread thread_;          // last: ends before what it uses
};

}  // namespace baton::core
