#include "memory/peer_service.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "util/failure.hpp"
#include "util/fixed_text.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

bool needs_fd(HandleKind kind) {
    return kind == HandleKind::vmm_fd || kind == HandleKind::pool_fd || kind == HandleKind::memfd;
}

void refuse(Ack &ack, const Failure &failure) noexcept {
    ack.code = static_cast<std::uint32_t>(failure.code());
    copy_text(ack.text, failure.what());
}

}  // namespace

PeerService::PeerService(const Board &board, Doorbell &doorbell, MappedRegions &mapped, Publisher &publisher,
                         PeerCallbacks callbacks)
    : board_(board),
      doorbell_(doorbell),
      mapped_(mapped),
      publisher_(publisher),
      callbacks_(std::move(callbacks)),
      peers_(static_cast<std::size_t>(board.size())) {}

void PeerService::start(bool watch_processes, const std::vector<int> &processors) {
    std::vector<int> watched{doorbell_.descriptor()};
    for (int r = 0; watch_processes && r < board_.size(); ++r) {
        if (r == board_.rank()) continue;
        const Identity &identity = board_.identity(r);
        const ProcessWatch &watch = peers_[static_cast<std::size_t>(r)].watch.emplace(identity.process.pid);
        if (watch.descriptor() >= 0) watched.push_back(watch.descriptor());
    }
    ServiceThread::Work work;
    work.wake = [this](const std::vector<int> &readable) { call([&] { on_wake(readable); }); };
    work.tick = [this] { call([&] { on_tick(); }); };
    thread_.start(std::move(watched), std::move(work), processors);
}

void PeerService::on_wake(const std::vector<int> &readable) {
    const auto is_readable = [&](int fd) { return std::find(readable.begin(), readable.end(), fd) != readable.end(); };
    if (is_readable(doorbell_.descriptor())) {
        take_rings();
        serve_all();
    }
    for (std::size_t r = 0; r < peers_.size(); ++r) {
        if (peers_[r].watch && is_readable(peers_[r].watch->descriptor())) look_after(static_cast<int>(r));
    }
}

void PeerService::on_tick() {
    serve_all();  // a ring may be lost; the board is the truth
    for (std::size_t r = 0; r < peers_.size(); ++r) {
        if (peers_[r].watch && peers_[r].watch->descriptor() < 0) look_after(static_cast<int>(r));
    }
    tick();
}

void PeerService::tick() {
    call([&] {
        if (callbacks_.tick) callbacks_.tick();
    });
}

template <class Function>
void PeerService::call(Function &&function) noexcept {
    try {
        function();
    } catch (const std::exception &error) {
        log(LogLevel::error, board_.rank(), "in the service thread: {}", error.what());
    }
}

void PeerService::take_rings() {
    Doorbell::Message message;
    while (doorbell_.take(&message)) {
        if (message.owner < 0 || message.owner >= board_.size() || message.owner == board_.rank()) continue;
        if (message.pid != board_.identity(message.owner).process.pid) {
            // Once: any user of the machine can send them.
            if (!std::exchange(has_warned_of_strangers_, true))
                log(LogLevel::warn, board_.rank(),
                    "ignores a message on its socket that names rank {} and comes from another process ({}); it will "
                    "ignore more such without a word",
                    message.owner, message.pid);
            continue;
        }
        Peer &peer = peers_[static_cast<std::size_t>(message.owner)];
        if (message.number > peer.served) peer.ring = std::move(message);
    }
}

void PeerService::serve_all() {
    for (int r = 0; r < board_.size(); ++r) {
        if (r != board_.rank()) serve(r);
    }
    give_back_pages();
}

/// Gives back the pages of memory that peers have freed, because this rank may be in no call for long, or in one that
/// does not end. Not in a broken communicator: there this rank may still be in an operation that a peer has given up.
/// Such a peer tells why (release) before it frees anything.
void PeerService::give_back_pages() {
    const std::uint64_t retirements = board_.retirements();
    if (retirements == given_back_ || board_.error_of_any() || publisher_.interruption()) return;
    mapped_.give_back_pages([&](int owner, std::uint32_t slot) { return board_.retired_generation(owner, slot); });
    given_back_ = retirements;
}

/// Maps and acknowledges the owner's current post, unless that is done already or its descriptor is still under way.
void PeerService::serve(int owner) {
    Peer &peer = peers_[static_cast<std::size_t>(owner)];
    BoardRecord &theirs = board_.record(owner);
    const std::uint64_t number = std::atomic_ref(theirs.posted).load(std::memory_order_acquire);
    if (number == peer.served) return;
    const RegionPost post = theirs.post;
    const bool with_fd = needs_fd(post.kind);
    if (with_fd && peer.ring.number != number) return;

    Ack &ack = theirs.acks[board_.rank()];
    ack.code = BATON_SUCCESS;
    try {
        if (with_fd && peer.ring.fd_lost) {
            fail(BATON_ERR_SYSTEM,
                 "the descriptor of rank {}'s memory could not be received: too many open files (ulimit -n)", owner);
        }
        mapped_.map(owner, post, with_fd ? std::move(peer.ring.fd) : UniqueFd());
    } catch (const std::exception &error) {
        refuse(ack, as_failure(error));
    }
    peer.ring = {};
    peer.served = number;
    std::atomic_ref(ack.number).store(number, std::memory_order_release);
    board_.ring_bell(owner);
}

void PeerService::look_after(int r) {
    Peer &peer = peers_[static_cast<std::size_t>(r)];
    if (!peer.watch->ended()) return;
    report_end(r, peer.watch->pid());
    if (peer.watch->descriptor() >= 0) thread_.unwatch(peer.watch->descriptor());
    peer.watch.reset();
}

void PeerService::report_end(int r, pid_t pid) {
    if (std::atomic_ref(board_.record(r).left).load(std::memory_order_acquire) != 0) {
        publisher_.peer_gone(r);
        return;
    }
    const Failure dead = failure_of(BATON_ERR_PEER_DEAD, "rank {} has died: its process (pid {}) has ended", r, pid);
    log(LogLevel::info, board_.rank(), "{}", dead.what());
    // It may have gone because the communicator broke; all ranks report why that was.
    if (const auto reason = board_.error_of_any()) {
        publisher_.interrupt(*reason);
        return tick();
    }
    publisher_.interrupt(dead);
    if (callbacks_.peer_dead) callbacks_.peer_dead(dead);
}

}  // namespace baton::core
