#include "comm/setup.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "bootstrap/agree.hpp"
#include "collectives/gpu_executor.hpp"
#include "collectives/gpu_setup.hpp"
#include "collectives/host_executor.hpp"
#include "comm/config.hpp"
#include "comm/gpu_share.hpp"
#include "cuda/current_gpu.hpp"
#include "util/fixed_text.hpp"

namespace baton::core {
namespace {

/// What the ranks tell each other of what they run on.
struct RankReport {
    std::int32_t has_gpu = 0;
    std::int32_t p2p_off = 0;
    std::int32_t generation = 0;
    std::int32_t multiprocessors = 0;
    char uuid[48] = {};
    char name[sizeof(baton_info::device_name)] = {};  // cut like baton_info's, by which tables are measured
    std::int32_t ranks_in_its_world = 0;              // worlds differ where ranks have been spawned
    ProcessorBits processors;
};

/// Whether the ranks run on GPUs. Throws, on all ranks, if only some have one, or none has and GPUs were asked for.
bool agree_on_gpus(const std::vector<RankReport> &all, baton_transport transport) {
    const auto without =
        std::find_if(all.begin(), all.end(), [](const RankReport &report) { return report.has_gpu == 0; });
    const bool any = std::any_of(all.begin(), all.end(), [](const RankReport &report) { return report.has_gpu != 0; });
    if (any && without != all.end()) {
        fail_alike(BATON_ERR_UNSUPPORTED,
                   "rank {} has no usable GPU but others have one: give every rank a GPU, or set transport to host "
                   "(BATON_TRANSPORT=host)",
                   without - all.begin());
    }
    if (!any && transport != BATON_TRANSPORT_AUTO && transport != BATON_TRANSPORT_HOST) {
        fail_alike(BATON_ERR_UNSUPPORTED,
                   "config.transport (BATON_TRANSPORT) is {}, which needs GPUs, but no rank has a usable one",
                   transport_name(transport));
    }
    return any;
}

}  // namespace

Setup::Setup(CommParts &parts, Bootstrap &bootstrap, Meetings &meetings, Breakage &breakage, const baton_config &config)
    : parts_(parts),
      view_(parts.view),
      capabilities_(parts.capabilities),
      bootstrap_(bootstrap),
      meetings_(meetings),
      breakage_(breakage),
      config_(config) {}

void Setup::run(Phases &phases) {
    view_.timeout_ns = static_cast<std::uint64_t>(breakage_.timeout().count());
    phases.begin("place");
    std::string no_p2p = settle_devices();
    phases.begin("topology");
    const std::string refused = settle_topology();
    if (no_p2p.empty()) no_p2p = refused;
    // What is pinned or shared from now on, by the driver too, lies near the GPU.
    const NumaNodeGuard near(parts_.placement.numa_node);
    if (capabilities_.on_gpu && no_p2p.empty()) no_p2p = ask_for_access();
    phases.begin("tuning");
    settle_capabilities(no_p2p.empty());
    phases.begin("memory");
    settle_memory(std::move(no_p2p));
    phases.begin("kernels");
    meetings_.together([&] {
        if (capabilities_.on_gpu) preload_kernels();
    });
    phases.begin("executor");
    set_up_executor();
}

/// Agrees with all ranks on what each runs on, and on whether one of them refuses P2P.
std::string Setup::settle_devices() {
    RankReport mine;
    mine.processors = bits_of(allowed_processors());
    mine.p2p_off = config_.p2p == BATON_P2P_OFF ? 1 : 0;
    const auto transport = static_cast<baton_transport>(config_.transport);
    meetings_.together([&] {
        mine.ranks_in_its_world = bootstrap_.all_ranks();
        parts_.device = transport == BATON_TRANSPORT_HOST ? -1 : current_gpu();
        mine.has_gpu = parts_.device >= 0 ? 1 : 0;
        if (parts_.device < 0) return;
        parts_.identity = device_identity(parts_.device);
        if (parts_.identity.generation < DeviceIdentity::hopper) {  // the kernels use its instructions
            fail(BATON_ERR_UNSUPPORTED,
                 "device {} is {}, of compute capability {}.x; Baton's kernels need {}.0 (Hopper) or newer; "
                 "BATON_TRANSPORT=host works on host memory",
                 parts_.device, parts_.identity.name, parts_.identity.generation, DeviceIdentity::hopper);
        }
        mine.generation = parts_.identity.generation;
        mine.multiprocessors = parts_.identity.multiprocessors;
        copy_text(mine.uuid, parts_.identity.uuid);
        copy_text(mine.name, parts_.identity.name);
    });
    const std::vector<RankReport> all = bootstrap_.allgather(mine);
    capabilities_.on_gpu = agree_on_gpus(all, transport);
    capabilities_.size = view_.size;
    capabilities_.transport = transport;
    if (capabilities_.on_gpu) {
        for (const RankReport &report : all)
            gpus_.push_back({report.name, report.uuid, report.generation, report.multiprocessors});
        parts_.ranks_on_device = ranks_on_gpu(gpus_, parts_.identity.uuid);
        capabilities_.channels = channels_of(gpus_, config_.max_channels);
    } else {
        parts_.ranks_on_device = view_.size;
        capabilities_.channels = 1;
        int ranks = view_.size;  // all that run here, as far as is known
        std::vector<ProcessorBits> processors;
        for (const RankReport &report : all) {
            ranks = std::max(ranks, report.ranks_in_its_world);
            processors.push_back(report.processors);
        }
        // If there are more ranks than processors, waiting ranks yield soon. All ranks must agree on it: algorithms are
        // chosen by it.
        if (!have_one_each(ranks, processors)) view_.polls_between_yields = polls_between_yields_oversubscribed;
    }
    const auto off = std::find_if(all.begin(), all.end(), [](const RankReport &report) { return report.p2p_off != 0; });
    return off == all.end() ? "" : fmt::format("p2p is off on rank {} (BATON_P2P)", off - all.begin());
}

void Setup::set_up_executor() {
    const std::function<void()> check = [&breakage = breakage_] {
        breakage.require_working(Breakage::Caller::call_or_operation);
    };
    // Collective steps come first: within together() a rank that has thrown would meet the others in another call.
    HostReach reach;
    const bool direct = capabilities_.on_gpu && capabilities_.reaches_buffers && view_.size > 1;
    if (direct)
        parts_.rendezvous =
            std::make_unique<Rendezvous>(bootstrap_, [&control = *parts_.control] { return is_broken(control); });
    if (capabilities_.transport == BATON_TRANSPORT_ZERO_SM && direct)
        parts_.idle_words = std::make_unique<IdleWords>(bootstrap_);
    if (!capabilities_.on_gpu) reach.pids = bootstrap_.allgather(static_cast<std::int32_t>(getpid()));
    meetings_.together([&] {
        if (capabilities_.on_gpu) {
            parts_.executor = make_gpu_executor(view_, parts_.device, capabilities_, *parts_.peers,
                                                parts_.rendezvous.get(), parts_.idle_words.get(), check);
            return;
        }
        reach.same_process = bootstrap_.same_process();
        reach.ranks_help = !view_.ranks_share_processors();
        parts_.executor = std::make_unique<HostExecutor>(
            view_, std::move(reach), make_route(capabilities_.links, view_.rank, view_.size), check);
    });
}

}  // namespace baton::core
