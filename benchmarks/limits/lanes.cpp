#include "limits/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <thread>

#include "gpu.hpp"

namespace baton::bench {

namespace {

constexpr std::size_t page = 4096;

/// One process of a ping-pong over shared memory. The flags carry no data, so nothing but themselves is ordered.
void host_ping_pong(std::byte *mine, std::byte *theirs, std::uint64_t flag, std::uint64_t trips, bool starts) {
    std::atomic_ref<std::uint64_t> in(*reinterpret_cast<std::uint64_t *>(mine));
    std::atomic_ref<std::uint64_t> out(*reinterpret_cast<std::uint64_t *>(theirs));
    const double deadline = seconds_now() + gpu::flag_timeout_seconds;
    const auto wait = [&](std::uint64_t value) {
        for (int poll = 1; in.load(std::memory_order_relaxed) != value; ++poll) {
            if (poll % 1024 == 0) {  // the partner may need this core
                std::this_thread::yield();
                if (seconds_now() > deadline) {
                    throw Error("a flag to the neighbour rank took too long");
                }
            }
        }
    };
    for (std::uint64_t trip = 1; trip <= trips; ++trip) {
        if (starts) {
            out.store(flag + trip, std::memory_order_relaxed);
        }
        wait(flag + trip);
        if (!starts) {
            out.store(flag + trip, std::memory_order_relaxed);
        }
    }
}

}  // namespace

Lanes::Lanes(const Communicator &communicator, std::size_t bytes)
    : communicator_(communicator), source_(communicator.memory_space(), bytes, "the source of copies") {
    void *own = nullptr;
    check(baton_window_create(communicator.handle(), page + bytes, &window_, &own));
    for (int rank = 0; rank < communicator.size(); ++rank) {
        void *base = nullptr;
        check(baton_window_pointer(window_, rank, &base));
        bases_.push_back(static_cast<std::byte *>(base));
    }
    // Touches every page, so that the first copies do not measure how the system hands them out.
    if (communicator.on_gpu()) {
        gpu::set_bytes(source_.data(), 0x5A, bytes, communicator.stream());
        communicator.synchronize();
    } else {
        std::memset(source_.data(), 0x5A, bytes);
        std::memset(bases_[static_cast<std::size_t>(communicator.rank())] + page, 0, bytes);
    }
}

Lanes::~Lanes() {
    if (std::uncaught_exceptions() == 0) {
        baton_window_destroy(window_);
    }
}

std::byte *Lanes::data_of(int rank, std::size_t slot, std::size_t slot_bytes) const {
    return bases_[static_cast<std::size_t>(rank)] + page + slot * slot_bytes;
}

int Lanes::partner() const {
    const int other = communicator_.rank() ^ 1;
    return other < communicator_.size() ? other : Call::nobody;
}

std::size_t Lanes::push(Traffic traffic, std::size_t bytes) const {
    const int rank = communicator_.rank();
    const int size = communicator_.size();
    std::vector<void *> destinations;
    std::size_t part = bytes;
    if (traffic == Traffic::all_pairs && size > 1) {
        // Every rank has a slot for each of the others. Ranks begin with different neighbours.
        part = bytes / static_cast<std::size_t>(size - 1) / 64 * 64;
        for (int step = 1; step < size; ++step) {
            const int peer = (rank + step) % size;
            destinations.push_back(data_of(peer, static_cast<std::size_t>(rank < peer ? rank : rank - 1), part));
        }
    } else if (traffic == Traffic::ring && size > 1) {
        destinations.push_back(data_of((rank + 1) % size, 0, part));
    } else if (traffic == Traffic::pairs && partner() > rank) {
        destinations.push_back(data_of(partner(), 0, part));
    }
    copy(destinations, part);
    return destinations.size() * part;
}

void Lanes::push_to(int peer, std::size_t bytes) const { copy({data_of(peer, 0, bytes)}, bytes); }

void Lanes::copy(const std::vector<void *> &destinations, std::size_t bytes) const {
    if (communicator_.on_gpu()) {
        gpu::push(destinations, source_.data(), bytes, communicator_.stream());
        return;
    }
    for (void *destination : destinations) {
        std::memcpy(destination, source_.data(), bytes);
    }
}

void Lanes::ping_pong(std::uint64_t trips) {
    const int other = partner();
    if (other == Call::nobody) {
        return;
    }
    std::byte *mine = bases_[static_cast<std::size_t>(communicator_.rank())];
    std::byte *theirs = bases_[static_cast<std::size_t>(other)];
    const bool starts = communicator_.rank() < other;
    if (communicator_.on_gpu()) {
        gpu::ping_pong(mine, theirs, flag_, trips, starts, communicator_.stream());
        std::uint64_t last = 0;
        gpu::copy_out(&last, mine, sizeof(last), communicator_.stream());
        if (last != flag_ + trips) {
            throw Error("a flag to the neighbour rank's GPU took too long");
        }
    } else {
        host_ping_pong(mine, theirs, flag_, trips, starts);
    }
    flag_ += trips;
}

}  // namespace baton::bench
