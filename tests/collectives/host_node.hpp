#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/host_executor.hpp"
#include "collectives/links.hpp"

namespace baton::test {

/// Ranks as threads: the host transport's executors on arenas without the layers above, with any links and any plan.
class HostNode {
public:
    struct Rank {
        const core::CommView &view;
        core::HostExecutor &executor;

        /// Runs a collective of `count` elements, as core::Request counts them. False if it has failed.
        bool run(baton_operation operation, core::Algorithm algorithm, const std::byte *send, std::byte *recv,
                 std::size_t count, baton_type type = BATON_UINT8, baton_op op = BATON_SUM, int root = 0) const {
            core::Request request;
            request.operation = operation;
            request.type = type;
            request.op = op;
            request.root = root;
            request.count = count;
            request.bytes = count * baton_type_size(type);
            core::CollectiveArgs args;
            args.arrival = arrival(request, send, recv);
            args.send = send;
            args.recv = recv;
            args.bytes = request.bytes;
            args.op = op;
            args.root = root;
            const std::uint64_t before = *view.own().epoch(0);
            executor.collective(request, {.algorithm = algorithm}, args, nullptr);
            return *view.own().epoch(0) == before + 1;
        }
        static core::Arrival arrival(const core::Request &request, const std::byte *send, const std::byte *recv) {
            return {core::Signature::make(request.operation, request.type, request.op, request.count, request.root),
                    core::BufferRef::at_address(send), core::BufferRef::at_address(recv)};
        }
    };

    HostNode(int size, std::uint64_t segment_bytes, double timeout_seconds = 30)
        : size_(static_cast<std::size_t>(size)),
          controls_(size_),
          regions_(size_ * size_ * core::region_slots),
          views_(size_),
          arenas_(size_) {
        const auto layout = core::ArenaLayout::make(size, 1, {.packets = 8192, .segment = segment_bytes});
        for (auto &arena : arenas_) arena.resize(layout.total_bytes / sizeof(Line) + 1);
        for (std::size_t rank = 0; rank < size_; ++rank) {
            core::CommView &view = views_[rank];
            view.rank = static_cast<std::int32_t>(rank);
            view.size = size;
            view.polls_between_yields =
                core::polls_between_yields_oversubscribed;  // ranks are more than processors here
            view.timeout_ns = static_cast<std::uint64_t>(timeout_seconds * 1e9);
            view.control = &controls_[rank];
            view.regions = &regions_[rank * size_ * core::region_slots];
            view.layout = layout;
            for (std::size_t of = 0; of < size_; ++of) view.arenas[of] = arenas_[of][0].bytes;
            view.own_memory = view.arenas[rank];
        }
    }

    int size() const { return static_cast<int>(size_); }
    /// Where `reader` finds slot 0 of `owner`.
    core::RegionEntry &region(int reader, int owner) {
        return regions_[static_cast<std::size_t>(reader * size() + owner) * core::region_slots];
    }
    const core::Control &control(int rank) const { return controls_[static_cast<std::size_t>(rank)]; }

    /// Runs `body` on one thread per rank. What a run leaves behind stays for the next.
    void with_ranks(const core::Links &links, const std::function<void(const Rank &)> &body) {
        std::vector<std::thread> threads;
        for (const core::CommView &view : views_) {
            threads.emplace_back([&] {
                core::HostReach reach;
                reach.same_process = true;
                core::HostExecutor executor(view, reach, core::make_route(links, view.rank, view.size), [] {});
                body({view, executor});
            });
        }
        for (std::thread &thread : threads) thread.join();
    }

private:
    struct alignas(256) Line {
        std::byte bytes[256];
    };
    const std::size_t size_;
    std::vector<core::Control> controls_;
    std::vector<core::RegionEntry> regions_;
    std::vector<core::CommView> views_;
    std::vector<std::vector<Line>> arenas_;
};

}  // namespace baton::test
