// The point-to-point and one-sided steps of random programs.
#include <fmt/format.h>

#include <algorithm>

#include "random_world.hpp"

namespace baton::test {
namespace {

/// One message of a step, known to all ranks.
struct Message {
    int source, target;
    std::size_t bytes, from_byte, to_byte;
};

}  // namespace

std::string RandomWorld::messages(Random &random) {
    const std::size_t from = random.below(buffers), to = (from + 1) % buffers;
    std::vector<Message> all;
    std::vector<std::size_t> used(n(), 0);  // received messages lie one after the other
    for (std::size_t i = 0; i < 4 * n(); ++i) {
        const int source = static_cast<int>(random.below(n())), target = static_cast<int>(random.below(n()));
        const std::size_t bytes = random.chance(30) ? random.below(30000) : random.below(2000);
        const std::size_t from_byte = random.below(capacity - bytes);
        std::size_t &end = used[static_cast<std::size_t>(target)];
        if (end + bytes > capacity) continue;
        all.push_back({source, target, bytes, from_byte, end});
        end += bytes;
    }
    const baton_stream_t stream = any_stream();
    std::vector<MPI_Request> requests;
    const Bytes sent = model_[from];
    EXPECT_OK(baton_group_begin());
    for (const Message &m : all) {
        const int bytes = static_cast<int>(m.bytes);
        if (m.source == comm_.rank()) {
            EXPECT_OK(baton_send(data_[from]->at(m.from_byte), m.bytes, BATON_UINT8, m.target, comm_, stream));
            MPI_Isend(sent.data() + m.from_byte, bytes, MPI_BYTE, m.target, 1, mpi_, &requests.emplace_back());
        }
        if (m.target == comm_.rank()) {
            EXPECT_OK(baton_recv(data_[to]->at(m.to_byte), m.bytes, BATON_UINT8, m.source, comm_, stream));
            MPI_Irecv(model_[to].data() + m.to_byte, bytes, MPI_BYTE, m.source, 1, mpi_, &requests.emplace_back());
        }
    }
    EXPECT_OK(baton_group_end());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return fmt::format("group of {} messages, buffer {} to {}", all.size(), from, to);
}

std::string RandomWorld::shift(Random &random) {
    const Pick p = pick(random, 1, 1);
    const int distance = static_cast<int>(random.below(n()));
    const int dest = (comm_.rank() + distance) % comm_.size();
    const int source = (comm_.rank() + comm_.size() - distance) % comm_.size();
    EXPECT_OK(baton_sendrecv(data_[p.from]->at(p.from_byte), p.count, dest, data_[p.to]->at(p.to_byte), p.count, source,
                             p.type, comm_, any_stream()));
    const int bytes = static_cast<int>(p.count * p.width);
    MPI_Sendrecv(model_[p.from].data() + p.from_byte, bytes, MPI_BYTE, dest, 2, model_[p.to].data() + p.to_byte, bytes,
                 MPI_BYTE, source, 2, mpi_, MPI_STATUS_IGNORE);
    return fmt::format("sendrecv by {}: {}", distance, p.text);
}

/// Every rank puts into its stripe of a few windows and signals; targets wait for the signals. The barrier before keeps
/// puts away from ranks that still look at their window; the one after keeps them from ranks that get from it.
std::string RandomWorld::puts(Random &random) {
    const std::size_t from = random.below(buffers);
    EXPECT_OK(baton_barrier(comm_, any_stream()));
    std::vector<MPI_Request> requests;
    std::vector<std::uint64_t> signals(n(), 0);
    std::size_t total = 0;
    for (int origin = 0; origin < comm_.size(); ++origin)
        for (std::size_t i = random.below(3); i > 0; --i, ++total) {
            const int target = static_cast<int>(random.below(n()));
            const std::size_t bytes = random.chance(30) ? random.below(capacity) : random.below(500);
            const std::size_t from_byte = random.below(capacity - bytes + 1);
            const std::size_t to_byte =
                static_cast<std::size_t>(origin) * capacity + random.below(capacity - bytes + 1);
            if (origin == comm_.rank()) {
                EXPECT_OK(baton_put(data_[from]->at(from_byte), bytes, target, to_byte, window_, any_stream()));
                EXPECT_OK(baton_signal(target, window_, any_stream()));
                MPI_Isend(model_[from].data() + from_byte, static_cast<int>(bytes), MPI_BYTE, target, 3, mpi_,
                          &requests.emplace_back());
            }
            if (target == comm_.rank()) {
                ++signals[static_cast<std::size_t>(origin)];
                // Two puts of one origin may overlap: the model takes them in order, one by one.
                MPI_Recv(window_model_.data() + to_byte, static_cast<int>(bytes), MPI_BYTE, origin, 3, mpi_,
                         MPI_STATUS_IGNORE);
            }
        }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t origin = 0; origin < n(); ++origin)
        if (signals[origin] > 0) {
            EXPECT_OK(baton_wait_signal(static_cast<int>(origin), signals[origin], window_, any_stream()));
        }
    EXPECT_OK(baton_barrier(comm_, any_stream()));
    return fmt::format("{} puts from buffer {}", total, from);
}

std::string RandomWorld::gets(Random &random) {
    const std::size_t to = random.below(buffers);
    EXPECT_OK(baton_barrier(comm_, any_stream()));
    std::vector<MPI_Request> requests;
    for (int origin = 0; origin < comm_.size(); ++origin) {
        const int target = static_cast<int>(random.below(n()));
        const std::size_t bytes = random.chance(30) ? random.below(capacity) : random.below(500);
        const std::size_t to_byte = random.below(capacity - bytes + 1), at = random.below(capacity * n() - bytes + 1);
        if (target == comm_.rank())
            MPI_Isend(window_model_.data() + at, static_cast<int>(bytes), MPI_BYTE, origin, 4, mpi_,
                      &requests.emplace_back());
        if (origin != comm_.rank()) continue;
        EXPECT_OK(baton_get(data_[to]->at(to_byte), bytes, target, at, window_, any_stream()));
        MPI_Irecv(model_[to].data() + to_byte, static_cast<int>(bytes), MPI_BYTE, target, 4, mpi_,
                  &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_OK(baton_barrier(comm_, any_stream()));
    return fmt::format("gets into buffer {}", to);
}

}  // namespace baton::test
