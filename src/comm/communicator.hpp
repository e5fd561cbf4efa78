#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "collectives/executor.hpp"
#include "collectives/gpu_executor.hpp"
#include "collectives/selection.hpp"
#include "comm/buffers.hpp"
#include "memory/peer_memory.hpp"
#include "memory/placement.hpp"
#include "memory/region_registry.hpp"
#include "memory/rendezvous.hpp"
#include "sync/comm_view.hpp"
#include "sync/idle_words.hpp"
#include "util/failure.hpp"
#include "util/phases.hpp"

namespace baton::core {

/// A window: the same bytes of every rank's memory, mapped by all.
struct Window {
    int index = 0;  // the same on all ranks
    std::uint64_t bytes = 0;
    std::vector<std::byte *> pointers;  // by rank; this rank's own among them
};

/// A communicator of one rank: owns every layer below and runs checked calls. One call at a time (turn()); abort(),
/// state queries and the service thread's callbacks may come at any time.
class Communicator {
public:
    /// Collective. Throws on all ranks if it fails on one.
    Communicator(std::unique_ptr<Bootstrap> bootstrap, const baton_config *config);
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    /// Collective unless broken; afterwards only destruction is allowed. Throws what broke the communicator while it
    /// waited for the other ranks; this rank's part is gone then as well.
    void shut_down();

    int rank() const { return view_.rank; }
    int size() const { return view_.size; }
    bool on_gpu() const { return capabilities_.on_gpu; }
    std::mutex &mutex() { return mutex_; }
    /// A call's turn on a communicator that works: holds mutex() while the result lives. Throws as throw_if_broken().
    [[nodiscard]] std::unique_lock<std::mutex> turn();
    /// The same, also on a broken one: for calls that give something back, and checks. Throws BATON_ERR_ARGUMENT after
    /// shut_down().
    [[nodiscard]] std::unique_lock<std::mutex> turn_unless_destroyed();
    Buffers &buffers() { return *buffers_; }
    RegionRegistry &registry() { return *registry_; }
    /// Throws BATON_ERR_ARGUMENT after shut_down().
    void fill_info(baton_info *info) const;
    const Phases &creation() const { return creation_; }

    /// Throws what broke the communicator, if anything did, or BATON_ERR_ARGUMENT after shut_down(). Where this rank
    /// only knows that another one gave up, waits a moment for that rank's words. Any thread; in a turn, where nobody
    /// can shut down meanwhile, throw_if_broken_in_turn() takes no lock.
    void throw_if_broken();
    void throw_if_broken_in_turn();
    void abort();
    /// Breaks it, with the failure's code and words: what the failure has kept from being issued belongs to what the
    /// peers have got already.
    void give_up_after(const std::exception &failure);

    /// Runs a checked collective. The caller holds mutex().
    void run(const Request &request, void *stream);
    /// Runs checked sends and recvs together.
    void run_messages(std::span<const Request> requests, void *stream);
    /// Runs a checked one-sided call: `work` issues it.
    void run_one_sided(const std::function<void(Executor &)> &work, void *stream);
    /// Runs a local call that may publish memory: a peer that does not answer breaks the communicator.
    void run_local(const std::function<void()> &work);
    Plan plan(const Request &request) const { return select(request, capabilities_); }
    std::string explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op, const void *send,
                        const void *recv);

    /// Collective. `check` throws where this rank's arguments are wrong; then no rank gets a window.
    std::shared_ptr<Window> create_window(std::size_t bytes, const std::function<void()> &check);
    /// Collective unless broken. Throws as shut_down() does.
    void destroy_window(const std::shared_ptr<Window> &window);

private:
    /// The collective call that this rank is in: ranks in different ones learn it when they meet.
    enum class Call : std::int32_t {
        comm_create,
        window_create,
        window_destroy,
        comm_destroy
    };
    explicit Communicator(std::unique_ptr<Bootstrap> bootstrap);
    std::vector<DeviceIdentity> settle_place(const baton_config &config);
    void settle_topology(const baton_config &config, const std::vector<DeviceIdentity> &gpus);
    void settle_tuning(const baton_config &config, const std::vector<DeviceIdentity> &gpus);
    void settle_capabilities(const baton_config &config, const std::vector<DeviceIdentity> &gpus);
    std::uint64_t bytes_for_messages_of_a_peer() const;
    std::uint64_t longest_in_slots(bool others_have_buffers) const;
    void lay_out(const ArenaLayout::Limits &limits);
    void ask_for_access(const std::vector<DeviceIdentity> &gpus);
    std::string first_said(const std::string &mine);
    void settle_memory(const baton_config &config, const std::vector<DeviceIdentity> &gpus);
    bool meet_in_device_memory();
    void meet_in_host_memory();
    void set_up_memory();
    void give_up_memory();
    void map_arenas();
    void share_arenas(const RegionRegistry::Allocation &arena);
    std::vector<std::byte *> addresses_of(const std::vector<PeerMemory::Published> &all, void *own) const;
    std::string probe_arenas();
    void settle_single_copy();
    void settle_staging();
    void free_control();
    /// Collective: runs `body` and throws on every rank if it threw on any, so that creation succeeds everywhere or
    /// nowhere. Returns the arguments of all ranks. A rank in another call breaks the communicator with MISMATCH.
    std::vector<std::uint64_t> together(const std::function<void()> &body, std::uint64_t argument = 0);
    [[noreturn]] void disagree(const std::string &text);
    void look_while_waiting(std::chrono::nanoseconds waited);

    std::uint64_t send_bytes(const Request &request) const;
    std::uint64_t recv_bytes(const Request &request) const;
    bool needs_send(const Request &request, const Plan &plan) const;
    bool needs_recv(const Request &request, const Plan &plan) const;
    bool skips_staging_if_mapped(const Request &request, const Plan &plan) const;
    bool makes_result_apart(const Request &request, const Plan &plan) const;
    Arrival arrival_of(const Request &request, const Plan &plan, Buffers::Use &use, const std::byte **send,
                       std::byte **recv, void *stream);
    void use_scratch(const Request &request, const Plan &plan, CollectiveArgs &args, Buffers::Use &use, void *stream);
    void issue(const Request &request, void *stream);
    void issue_messages(std::span<const Request> requests, void *stream);
    void after_call(void *stream);
    void clear_signals(int index);

    /// Runs what a call issues: a failure whose code breaks communicators (MISMATCH, TIMEOUT, PEER_DEAD) breaks this
    /// one.
    template <class Body>
    void guard(const Body &body);
    void break_with(baton_result code, const std::string &text, bool tell_others);
    struct News {
        baton_result code;
        std::string text;
        bool first;  // this rank has found it, and tells the others
    };
    /// Kept from shut_down() by the turn, or not yet: then a look takes teardown_mutex_.
    enum class Turn {
        taken,
        none
    };
    std::shared_lock<std::shared_mutex> against_teardown(Turn turn) const;
    std::optional<News> find_error(Turn turn) const;
    std::uint64_t seen_abort(Turn turn) const;
    void look_for_errors(Turn turn);
    void require_alive() const;
    void throw_breakage_if_any(Turn turn);  // also while the communicator is being destroyed
    [[noreturn]] void throw_breakage();     // REQUIRES: broken
    void on_tick();
    std::string describe_record(const ErrorRecord &record) const;

    std::unique_ptr<Bootstrap> bootstrap_;
    std::unique_ptr<MemoryDomain> domain_;
    int device_ = -1;
    DeviceIdentity identity_;
    int ranks_on_device_ = 1;
    Capabilities capabilities_;
    Placement placement_;
    Phases creation_;
    std::string no_p2p_;          // why ranks may not reach into each other's memory; empty if they may
    bool stages_mapped_ = false;  // host: even what all ranks have mapped, since no_p2p_ is the user's word
    std::string reach_text_;      // Capabilities::reach_reason
    std::string staging_text_;    // Capabilities::staging_reason
    CommView view_;
    Control *control_ = nullptr;
    std::chrono::milliseconds timeout_{};
    Call call_ = Call::comm_create;
    bool single_copy_ = false;

    std::unique_ptr<PeerMemory> peers_;
    std::unique_ptr<RegionRegistry> registry_;
    std::unique_ptr<Rendezvous> rendezvous_;
    std::unique_ptr<IdleWords> idle_words_;
    std::unique_ptr<Executor> executor_;
    std::unique_ptr<Buffers> buffers_;
    std::vector<std::shared_ptr<Window>> windows_;

    std::mutex mutex_;
    mutable std::mutex state_mutex_;  // guards what follows; taken by callers and the service thread
    baton_result broken_code_ = BATON_SUCCESS;
    std::string broken_text_;
    std::atomic<bool> broken_{false};
    // Shared by who looks, between calls, at what shut_down() frees: it takes the mutex alone to clear ready_, after
    // which nobody looks at executor_ and registry_, and again to free peers_ and control_.
    mutable std::shared_mutex teardown_mutex_;
    std::atomic<bool> ready_{false};
    bool shut_down_ = false;
};

}  // namespace baton::core
