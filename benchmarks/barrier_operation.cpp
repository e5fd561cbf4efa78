#include "barrier_operation.hpp"

#include <atomic>
#include <exception>
#include <new>
#include <thread>
#include <vector>

namespace baton::bench {

namespace {

class Barrier final : public Operation {
public:
    Barrier(const Communicator &communicator, Library &library) : communicator_(communicator), library_(library) {
        call_.shape.kind = Kind::barrier;
        Counter *mine = nullptr;
        MPI_Win_allocate_shared(sizeof(Counter), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
        new (mine) Counter;
        for (int rank = 0; rank < communicator.size(); ++rank) {
            MPI_Aint bytes = 0;
            int unit = 0;
            Counter *counter = nullptr;
            MPI_Win_shared_query(window_, rank, &bytes, &unit, &counter);
            counters_.push_back(counter);
        }
        communicator.world().barrier();
    }
    ~Barrier() override {
        if (std::uncaught_exceptions() == 0) {
            MPI_Win_free(&window_);
        }
    }
    Barrier(const Barrier &) = delete;
    Barrier &operator=(const Barrier &) = delete;

    void prepare(std::uint64_t /*round*/) override {}
    void issue() override {
        count(1);
        library_.issue(call_);
    }
    void replay(int calls) override { count(calls); }
    Check verify(int /*calls*/) override {
        Check result = late_ranks();
        // If all ranks run in step, a barrier that does not wait goes unnoticed. So one of them comes late to one more.
        if (calls_ % counters_.size() == static_cast<std::size_t>(communicator_.rank())) {
            const double until = seconds_now() + 50e-6;
            while (seconds_now() < until) {
                std::this_thread::yield();
            }
        }
        issue();
        communicator_.synchronize();
        result.add(late_ranks());
        return result;
    }
    std::string explain() const override { return library_.explain(call_); }

private:
    /// Written by its rank before it issues a barrier, read by the others after they have passed it. Relaxed: the order
    /// is what the barrier under test must provide.
    struct alignas(64) Counter {
        std::atomic<std::uint64_t> calls{0};
    };

    /// The ranks that have counted fewer calls than this one.
    Check late_ranks() const {
        Check result;
        for (std::size_t rank = 0; rank < counters_.size(); ++rank) {
            if (counters_[rank]->calls.load(std::memory_order_relaxed) < calls_) {
                result.add(Check{1, rank});
            }
        }
        return result;
    }

    void count(int calls) {
        calls_ += static_cast<std::uint64_t>(calls);
        counters_[static_cast<std::size_t>(communicator_.rank())]->calls.store(calls_, std::memory_order_relaxed);
    }

    const Communicator &communicator_;
    Library &library_;
    Call call_;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<Counter *> counters_;
    std::uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Operation> make_barrier_operation(const Communicator &communicator, Library &library) {
    return std::make_unique<Barrier>(communicator, library);
}

}  // namespace baton::bench
