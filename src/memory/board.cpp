#include "memory/board.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "bootstrap/agree.hpp"
#include "util/fixed_text.hpp"

namespace baton::core {
namespace {

Identity own_identity(const std::string &doorbell) {
    Identity identity;
    identity.process = own_process();
    identity.net_namespace = namespace_inode("/proc/self/ns/net");
    copy_text(identity.doorbell, doorbell);
    return identity;
}

void require_same(std::uint64_t mine, std::uint64_t theirs, int rank, int peer, const char *what, const char *remedy) {
    if (mine == 0 || theirs == 0 || mine == theirs) return;
    fail_alike(BATON_ERR_UNSUPPORTED,
               "ranks {} and {} run in different {} namespaces; start them in one container, or with {}", rank, peer,
               what, remedy);
}

}  // namespace

Board::Board(Bootstrap &bootstrap, const std::string &doorbell)
    : rank_(bootstrap.rank()), size_(bootstrap.size()), segment_(bootstrap, sizeof(BoardRecord)) {
    mine().identity = own_identity(doorbell);
    bootstrap.barrier();
    // All ranks compare all pairs with rank 0, so that all of them come to the same answer.
    for (int peer = 1; peer < size_; ++peer) {
        const Identity &first = identity(0);
        const Identity &other = identity(peer);
        require_same(first.process.pid_namespace, other.process.pid_namespace, 0, peer, "pid", "--pid=host");
        require_same(first.net_namespace, other.net_namespace, 0, peer, "network", "--network=host");
    }
}

std::uint64_t Board::retirements() const {
    std::uint64_t sum = 0;
    for (int rank = 0; rank < size_; ++rank)
        sum += std::atomic_ref(record(rank).retirements).load(std::memory_order_acquire);
    return sum;
}

std::optional<Failure> Board::error_of(int rank) const noexcept {
    BoardRecord &record = this->record(rank);
    if (std::atomic_ref(record.error_state).load(std::memory_order_acquire) != 2) return std::nullopt;
    return failure_of(static_cast<baton_result>(record.error_code), "{}", record.error_text);
}

std::optional<Failure> Board::error_of_any() const noexcept {
    for (int rank = 0; rank < size_; ++rank) {
        if (std::optional<Failure> failure = error_of(rank)) return failure;
    }
    return std::nullopt;
}

void Board::ring_bell(int rank) const {
    std::uint32_t &bell = record(rank).bell;
    std::atomic_ref(bell).fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Board::sleep_on_bell(int rank, std::uint32_t seen, std::chrono::nanoseconds limit) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec relative{static_cast<time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
    // Not FUTEX_PRIVATE: peers wake it from their processes, through their own mappings of the same page.
    ::syscall(SYS_futex, &record(rank).bell, FUTEX_WAIT, seen, &relative, nullptr, 0);
}

}  // namespace baton::core
