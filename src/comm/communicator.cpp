#include "comm/communicator.hpp"

#include <exception>

#include "comm/config.hpp"
#include "comm/links_of.hpp"
#include "comm/same_build.hpp"
#include "comm/setup.hpp"
#include "util/fixed_text.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// Whether creation may have failed with this code on this rank alone, so that the others must be told not to wait for
/// it. Other failures are found by all ranks, of each other or of the machine, and each tells them in its own words.
bool is_of_one_rank(baton_result code) {
    return code == BATON_ERR_MEMORY || code == BATON_ERR_SYSTEM || code == BATON_ERR_CUDA || code == BATON_ERR_MPI ||
           code == BATON_ERR_TIMEOUT || code == BATON_ERR_INTERNAL;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<Bootstrap> bootstrap, const baton_config *given,
                           const std::function<void()> &prepare)
    : bootstrap_(std::move(bootstrap)),
      breakage_(bootstrap_->rank(), bootstrap_->size()),
      meetings_(*bootstrap_, breakage_),
      planner_(parts_),
      issuer_(parts_, planner_, breakage_),
      windows_(parts_, *bootstrap_, meetings_, breakage_, issuer_) {
    parts_.view.rank = bootstrap_->rank();
    parts_.view.size = bootstrap_->size();
    baton_config config{};
    std::exception_ptr wrong_settings;  // thrown once all ranks are connected and learn of it
    try {
        if (rank() == 0) warn_of_unknown_variables();
        config = resolve_config(given);
        breakage_.set_timeout(timeout_of(config));
    } catch (const std::exception &) {
        wrong_settings = std::current_exception();
    }
    creation_.begin("connect");
    try {
        bootstrap_->connect();
        meetings_.together([&] {
            if (wrong_settings) std::rethrow_exception(wrong_settings);
            prepare();
        });
        require_same_build(*bootstrap_, baton_build_id());
        require_equal(*bootstrap_, config);
        create(config);
    } catch (const Agreed &) {
        throw;
    } catch (const std::exception &failure) {
        const Failure known = as_failure(failure);
        if (is_of_one_rank(known.code())) bootstrap_->give_up(known);
        bootstrap_->abandon({});  // the others may give up too, or be in a collective call that this rank left
        throw;
    }
}

void Communicator::create(const baton_config &config) {
    Setup(parts_, *bootstrap_, meetings_, breakage_, config).run(creation_);
    meetings_.together([this] {
        membership_ = Reclaimer::of_process().join(
            {[this] { return parts_.executor->idle(); }, [this] { parts_.peers->reclaim(); },
             [this](const PointerInfo &freed) { parts_.registry->forget(freed); }});
        creation_.end();
        log(LogLevel::debug, rank(), "created in {}", creation_.text());
    });
    // Nothing after the barrier throws, as the others have created theirs. Nothing before it looks at the others'
    // errors: a rank that is ahead may have broken its communicator already, which is no failure of this creation.
    bootstrap_->barrier();
    bootstrap_->nobody_gives_up_any_more();
    parts_.registry->set_timeout(std::chrono::ceil<std::chrono::milliseconds>(breakage_.timeout()));
    breakage_.open(*parts_.control, *parts_.peers, *parts_.executor);
}

/// Takes the layers away from the top down, each when nobody uses it any more:
/// - drain() waits for this rank's operations. After leave() calls of other communicators no longer ask it to unmap.
///   Then the ranks meet: from then on no rank is in an operation that might reach into this one's memory.
/// - close() waits for readers of the communicator's state; after it abort() and the service thread leave the executor
///   alone. stop() ends the service thread, so it maps nothing more of the peers'. Then the executor and the buffers
///   can go.
/// - Each rank unmaps the peers' memory, and the ranks meet again. Only then may this one free what it owns (registry).
/// - Until forget(), another thread in baton_comm_abort() or baton_comm_check() may use control and peers.
/// - The bootstrap is last: the ranks meet over it, and a broken communicator asks it whether threads of this process
///   may still use what this rank owns.
void Communicator::shut_down() {
    parts_.executor->drain();
    membership_.leave();
    breakage_.catch_up(Breakage::Caller::call_or_operation);
    // A broken communicator waits for nobody. One that breaks while it waits goes on alone.
    bool in_step = !breakage_.broken();
    std::exception_ptr broken_here;
    const auto wait_for_all = [&](const std::function<void()> &body) {
        if (!in_step) return;
        broken_here = breakage_.break_if_it_fails([&] { meetings_.together(body); });
        in_step = !broken_here;
    };
    meetings_.enter(Meetings::Call::comm_destroy);
    wait_for_all([] {});
    breakage_.close();
    parts_.peers->leave();
    parts_.peers->stop();
    parts_.executor.reset();
    parts_.buffers.reset();
    wait_for_all([this] { parts_.peers->unmap_peers(); });  // importers close before owners free
    // What threads of this process may still use is leaked.
    if (!in_step && !bootstrap_->abandon(breakage_.timeout())) static_cast<void>(parts_.registry.release());
    parts_.registry.reset();
    parts_.rendezvous.reset();
    parts_.idle_words.reset();
    breakage_.forget();
    parts_.peers.reset();
    parts_.control.reset();
    bootstrap_.reset();
    if (broken_here) std::rethrow_exception(broken_here);
}

Turn Communicator::turn() {
    Turn turn(*this);
    breakage_.require_working(Breakage::Caller::call_or_operation);
    return turn;
}

Turn Communicator::turn_unless_destroyed() {
    Turn turn(*this);
    breakage_.require_open();
    return turn;
}

void Communicator::throw_if_broken() { breakage_.require_working(Breakage::Caller::any_thread); }

void Communicator::abort() {
    breakage_.break_with(failure_of(BATON_ERR_ABORTED, "rank {} called baton_comm_abort()", rank()));
}

baton_info Communicator::info() const {
    const auto open = breakage_.hold_open();
    const Capabilities &capabilities = parts_.capabilities;
    baton_info info{};
    info.struct_size = sizeof(info);
    info.rank = rank();
    info.size = this->size();
    info.on_gpu = on_gpu() ? 1 : 0;
    info.device = parts_.device;
    copy_text(info.device_name, on_gpu() ? parts_.identity.name : "host");
    copy_text(info.device_uuid, parts_.identity.uuid);
    info.ranks_on_device = parts_.ranks_on_device;
    info.channels = capabilities.channels;
    info.single_copy = parts_.single_copy ? 1 : 0;
    info.peer_access = on_gpu() && capabilities.reaches_buffers ? 1 : 0;
    copy_text(info.reach, capabilities.reach_reason);
    const std::size_t all = parts_.registry->allocated_bytes();
    info.device_bytes = !on_gpu() ? 0 : capabilities.reaches_buffers ? all : parts_.registry->own_bytes();
    info.host_bytes = parts_.shared_bytes() + sizeof(Control) + all - info.device_bytes;
    info.regions = parts_.registry->count();
    copy_text(info.links, describe(capabilities.links));
    return info;
}

}  // namespace baton::core
