#pragma once

#include <functional>
#include <vector>

#include "collectives/executor.hpp"
#include "collectives/route.hpp"
#include "transport/host/host_stream.hpp"
#include "transport/host/remote_memory.hpp"
#include "transport/host/scratch.hpp"

namespace baton::core {

/// Operations on host memory, run by the calling thread or by a host stream's. `throw_if_broken` throws what broke the
/// communicator, if anything did: that is how a stream, or the caller if there is none, learns that what it has run
/// failed. `route`: for plans that need one.
class HostExecutor final : public Executor {
public:
    HostExecutor(const CommView &view, HostReach reach, const Route &route, std::function<void()> throw_if_broken);
    ~HostExecutor() override;

    void require_stream(void *) override {}
    bool captures(void *) override { return false; }
    void collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) override;
    void messages(std::vector<MessageCall> calls, void *stream) override;
    void transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                  void *stream) override;
    void signal(int window, int target, void *stream) override;
    void wait_signal(int window, int source, std::uint64_t signals, void *stream) override;
    void local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) override;
    void drain() override { order_.drain(); }
    bool idle() override { return order_.has_run(order_.issued()); }
    void mark() noexcept override { mark_ = order_.issued(); }
    bool mark_is_done() override { return order_.has_run(mark_); }
    // Host waits read Control::abort and the clock.
    void interrupt() noexcept override {}
    std::optional<OverdueWait> overdue() override { return std::nullopt; }

private:
    template <class Work>
    void submit(void *stream, Work work);
    void run_messages(std::vector<MessageCall> &calls);

    const CommView &view_;
    const HostReach reach_;
    const HostScratch scratch_;
    const Route route_;
    const std::function<void()> throw_if_broken_;
    TicketOrder order_;
    std::uint64_t mark_ = 0;
    // Messages of each ordered pair so far, counted when an operation has its turn. The arena has words for these
    // counts too, since kernels need them in device memory.
    std::vector<std::uint64_t> sent_;
    std::vector<std::uint64_t> received_;
    std::vector<std::uint64_t> moves_;  // of HostMessageEngine, by peer
};

}  // namespace baton::core
