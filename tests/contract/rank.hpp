#pragma once

#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "memory.hpp"
#include "memory/peer_memory.hpp"
#include "memory/region_registry.hpp"
#include "runner.hpp"

namespace baton::core::contract {

struct Settings {
    double timeout_seconds = 20;
    std::size_t area_bytes = std::size_t{2} << 20;
    std::uint64_t seed = 0;  // the same on all ranks
};

/// What the engines of one rank observed: [call][engine].
using Results = std::vector<std::vector<Observed>>;

/// One rank of a communicator without the layers above the transports: memory that all ranks have mapped, an arena, a
/// view, and an engine on them. Constructor, destructor and run() are collective.
class Rank {
public:
    Rank(Bootstrap &bootstrap, const Transport &transport, const Settings &settings);
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;

    int rank() const { return view_.rank; }
    int size() const { return view_.size; }
    Offers offers() const { return runner_->offers(); }
    /// What the engines of all ranks have in common.
    Offers common_offers() const { return transport_.offers; }
    const CommView &view() const { return view_; }
    Memory &memory() { return *memory_; }
    /// Draws the same on all ranks, if all draw alike.
    test::Random &common() { return common_; }
    /// Returns `many`, or fewer where ranks or sanitizers are slow.
    int rounds(int many) const;

    /// A call of `bytes` bytes with a number of channels drawn for it. `recv` (and `send`) get names for the peers:
    /// their regions, or addresses where peers can use these.
    Call call(int operation, std::uint64_t bytes, const Place &send, const Place &recv);
    Call call(int operation, std::uint64_t bytes) { return call(operation, bytes, {}, {}); }

    /// Uploads the memory, and runs one operation per call, between barriers of all ranks. All ranks give as many
    /// calls. `abort`: once a call has started, a host thread of this rank aborts the communicator on this rank.
    Results run(Program program, std::vector<Call> calls, bool abort = false);
    ::testing::AssertionResult memory_as_expected() { return memory_->as_expected(*runner_); }

    /// True if this rank has found the communicator broken, as the communicator's host would find it.
    bool broken() const;
    /// What this rank's waiter has recorded; code 0 if it was told by a peer's.
    ErrorRecord record() const;

    /// The numbers of the last finished operations: [channel].
    std::vector<std::uint64_t> epochs() {
        return words(view_.own().epoch(0), view_.layout.channels, sizeof(ChannelStart) / sizeof(std::uint64_t));
    }
    /// The words that peers raise: [channel * size + from].
    std::vector<std::uint64_t> done_words() { return semaphores(view_.own().done(0, 0)); }
    std::vector<std::uint64_t> credit_words() { return semaphores(view_.own().credit(0, 0)); }
    /// All payloads and epochs of all packet buffers.
    std::vector<std::uint64_t> packet_words();
    std::vector<std::uint64_t> line_words();

private:
    /// Words that the host shares with the engine.
    struct HostWords {
        Control control;
        std::uint64_t started;
    };

    std::vector<RegionRegistry::Allocation> allocate(int count, std::size_t bytes);
    void map_arenas();
    bool addresses_reach();
    bool has_few_rounds() const;
    BufferRef name(const Place &place);
    std::vector<Runner::Addresses> learn_addresses(const std::vector<Call> &calls);
    std::vector<std::uint64_t> words(const std::uint64_t *first, int count, std::size_t stride);
    std::vector<std::uint64_t> semaphores(const std::uint64_t *first) {
        return words(first, view_.layout.channels * view_.size, sizeof(SemaphoreWords) / sizeof(std::uint64_t));
    }

    Bootstrap &bootstrap_;
    const Transport transport_;
    test::Random common_;
    std::unique_ptr<MemoryDomain> domain_;
    PeerMemory peers_;
    std::unique_ptr<RegionRegistry> registry_;
    HostWords *words_ = nullptr;
    CommView view_;
    HostReach reach_;
    bool by_address_ = false;
    std::unique_ptr<Memory> memory_;
    std::unique_ptr<Runner> runner_;
};

/// Expects that every method that a program called has said yes, on every engine, and that every operation has
/// finished.
void expect_success(const Rank &rank, const Results &results);
/// Expects nothing but `said` from anybody there. Engines that only enqueue always say yes.
void expect_said(const Rank &rank, const Results &results, Said Observed::*method, Said said);

}  // namespace baton::core::contract
