#include "comm/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "collectives/host_executor.hpp"
#include "comm/config.hpp"
#include "comm/links_of.hpp"
#include "memory/reclaimer.hpp"
#include "util/fixed_text.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// Blocks of kernels that wait for each other must be resident together, on all ranks of a GPU and for all
/// communicators that have operations in flight at once. The widest kernels leave room for two blocks per
/// multiprocessor (132 on H200), and room is made for the operations of four communicators.
constexpr int resident_blocks = 256;
constexpr int communicators_in_flight = 4;

}  // namespace

Communicator::Communicator(std::unique_ptr<Bootstrap> bootstrap) : bootstrap_(std::move(bootstrap)) {}

// By way of the other constructor the object exists from here on, so that its destructor tidies up what an exception
// leaves.
Communicator::Communicator(std::unique_ptr<Bootstrap> bootstrap, const baton_config *given)
    : Communicator(std::move(bootstrap)) {
    view_.rank = bootstrap_->rank();
    view_.size = bootstrap_->size();
    bootstrap_->set_watch([this](std::chrono::nanoseconds waited) { look_while_waiting(waited); });
    baton_config config{};
    std::exception_ptr wrong_settings;  // thrown where all ranks are connected and learn of it
    try {
        config = resolve_config(given);
        timeout_ = std::chrono::milliseconds(static_cast<std::int64_t>(std::max(1.0, config.timeout_seconds * 1e3)));
    } catch (const Failure &) {
        wrong_settings = std::current_exception();
    }
    creation_.begin("connect");
    bootstrap_->connect();
    together([&] {
        if (wrong_settings) std::rethrow_exception(wrong_settings);
    });
    require_equal(*bootstrap_, config);
    view_.timeout_ns = static_cast<std::uint64_t>(config.timeout_seconds * 1e9);

    creation_.begin("place");
    const std::vector<DeviceIdentity> gpus = settle_place(config);
    creation_.begin("topology");
    settle_topology(config, gpus);
    // What is pinned or shared from here on, by the driver too, lies near the GPU.
    const NumaNodeGuard near(placement_.numa_node);
    if (capabilities_.on_gpu && no_p2p_.empty()) ask_for_access(gpus);
    creation_.begin("tuning");
    settle_tuning(config, gpus);
    settle_capabilities(config, gpus);
    creation_.begin("memory");
    together([&] {
        control_ = capabilities_.on_gpu ? allocate_control() : new Control{};
        view_.control = control_;
    });
    settle_memory(config, gpus);
    creation_.begin("kernels");
    together([&] {
        if (capabilities_.on_gpu) preload_kernels();
    });
    creation_.begin("executor");
    const bool direct = capabilities_.on_gpu && capabilities_.reaches_buffers && view_.size > 1;
    if (direct)
        rendezvous_ = std::make_unique<Rendezvous>(*bootstrap_, view_.rank, view_.size,
                                                   [control = control_] { return is_broken(*control); });
    if (capabilities_.transport == BATON_TRANSPORT_ZERO_SM && direct)
        idle_words_ = std::make_unique<IdleWords>(*bootstrap_, std::chrono::nanoseconds(view_.timeout_ns));
    // What is collective comes before: in together() a rank that has thrown would meet the others in another call.
    HostReach reach;
    if (!capabilities_.on_gpu) reach.pids = bootstrap_->allgather(static_cast<std::int32_t>(getpid()));
    together([&] {
        if (capabilities_.on_gpu) {
            executor_ = make_gpu_executor(view_, device_, capabilities_, *peers_, rendezvous_.get(), idle_words_.get(),
                                          [this] { throw_if_broken_in_turn(); });
            return;
        }
        reach.same_process = bootstrap_->same_process();
        reach.single_copy = single_copy_;
        executor_ = std::make_unique<HostExecutor>(view_, std::move(reach), make_route(capabilities_.links, view_.rank),
                                                   [this] { throw_if_broken_in_turn(); });
    });
    Reclaimer::of_process().join(this, {[this] { return executor_->idle(); }, [this] { peers_->reclaim(); }});
    // A rank that has created may break the communicator already: that is not the failure of another's creation, so
    // nobody looks at others' errors before.
    bootstrap_->barrier();
    ready_.store(true, std::memory_order_release);
    creation_.end();
    log(LogLevel::debug, view_.rank, "created in {}", creation_.text());
}

/// GPU or host, and whether one of the ranks refuses P2P: agreed by all ranks. The ranks' GPUs; none on the host.
std::vector<DeviceIdentity> Communicator::settle_place(const baton_config &config) {
    struct Place {
        std::int32_t has_gpu = 0;
        std::int32_t p2p_off = 0;
        std::int32_t generation = 0;
        char uuid[48] = {};
        char name[80] = {};
        ProcessorBits processors = bits_of(allowed_processors());
    } mine;
    mine.p2p_off = config.p2p == BATON_P2P_OFF ? 1 : 0;
    const auto transport = static_cast<baton_transport>(config.transport);
    together([&] {
        device_ = transport == BATON_TRANSPORT_HOST ? -1 : current_gpu();
        mine.has_gpu = device_ >= 0 ? 1 : 0;
        if (device_ < 0) return;
        identity_ = device_identity(device_);
        mine.generation = identity_.generation;
        copy_text(mine.uuid, identity_.uuid);
        copy_text(mine.name, identity_.name);
    });
    const std::vector<Place> all = bootstrap_->allgather(mine);
    const auto off = std::find_if(all.begin(), all.end(), [](const Place &place) { return place.p2p_off != 0; });
    if (off != all.end()) no_p2p_ = fmt::format("p2p is off on rank {} (BATON_P2P)", off - all.begin());
    const auto without = std::find_if(all.begin(), all.end(), [](const Place &place) { return place.has_gpu == 0; });
    const bool any = std::any_of(all.begin(), all.end(), [](const Place &place) { return place.has_gpu != 0; });
    if (any && without != all.end()) {
        fail(BATON_ERR_UNSUPPORTED,
             "rank {} has no usable GPU but others have one: give every rank a GPU, or set transport to host "
             "(BATON_TRANSPORT=host)",
             without - all.begin());
    }
    if (!any && transport != BATON_TRANSPORT_AUTO && transport != BATON_TRANSPORT_HOST) {
        fail(BATON_ERR_UNSUPPORTED,
             "config.transport (BATON_TRANSPORT) is {}, which needs GPUs, but no rank has a usable one",
             transport_name(transport));
    }
    capabilities_.on_gpu = any;
    capabilities_.size = view_.size;
    capabilities_.transport = transport;
    int most_sharing = view_.size;
    if (any) {
        most_sharing = 1;
        for (const Place &one : all) {
            const auto same = std::count_if(all.begin(), all.end(),
                                            [&](const Place &other) { return std::strcmp(one.uuid, other.uuid) == 0; });
            most_sharing = std::max(most_sharing, static_cast<int>(same));
            if (std::strcmp(one.uuid, mine.uuid) == 0) ranks_on_device_ = static_cast<int>(same);
        }
        capabilities_.channels =
            std::clamp(resident_blocks / communicators_in_flight / most_sharing, 1, config.max_channels);
    } else {
        ranks_on_device_ = view_.size;
        capabilities_.channels = 1;
        std::vector<ProcessorBits> processors;
        for (const Place &place : all) processors.push_back(place.processors);
        if (!have_one_each(bootstrap_->all_ranks(), processors))
            polls_between_yields.store(often, std::memory_order_relaxed);
    }
    std::vector<DeviceIdentity> gpus;
    for (const Place &place : all) {
        if (any) gpus.push_back({place.name, place.uuid, place.generation});
    }
    return gpus;
}

std::uint64_t Communicator::bytes_for_messages_of_a_peer() const {
    return (8 << 20) / static_cast<std::uint64_t>(view_.size);
}

/// The longest message that a slot is to hold in packets: on a GPU all that lines and staging cannot carry.
std::uint64_t Communicator::longest_in_slots(bool others_have_buffers) const {
    const std::uint64_t most = std::min<std::uint64_t>(bytes_for_messages_of_a_peer() / message_slots,
                                                       capabilities_.on_gpu ? 1 << 18 : 1 << 16);
    const std::uint64_t wanted = capabilities_.on_gpu && others_have_buffers
                                     ? longest_message(capabilities_.tuning, goes_in_packets, most)
                                     : most;
    return std::max<std::uint64_t>(BATON_EAGER_BYTES, wanted);
}

void Communicator::lay_out(const ArenaLayout::Limits &limits) {
    view_.layout = ArenaLayout::make(view_.size, capabilities_.channels, limits);
    capabilities_.message_bytes = view_.layout.message_bytes();
    capabilities_.message_line_bytes = limits.message_lines;
    capabilities_.packet_channel_bytes = view_.layout.packets_per_channel * 8 / 16 * 16;
    capabilities_.packet_bytes = limits.packets / 16 * 16;
    capabilities_.line_bytes = limits.lines / 16 * 16;
    capabilities_.line_channel_bytes = ArenaLayout::share_in_lines(view_.layout.lines_per_channel);
    capabilities_.segment_bytes = view_.layout.segment_bytes;
}

void Communicator::settle_capabilities(const baton_config &config, const std::vector<DeviceIdentity> &gpus) {
    // Packets are for latency: more than 1 MiB per rank would only cost memory, on the host more than 8 KiB.
    const std::uint64_t most_packets = capabilities_.on_gpu ? 1 << 20 : 8192;
    capabilities_.packet_limit_set = config.packet_limit != unset_size;
    const std::uint64_t packet_limit =
        capabilities_.packet_limit_set
            ? std::min<std::uint64_t>(config.packet_limit, most_packets)
            : buffer_capacity(capabilities_.tuning, goes_in_packets, view_.size, capabilities_.channels, most_packets);
    // The same of lines: so much for all peers together.
    const std::uint64_t most_lines =
        (capabilities_.on_gpu ? 16 << 20 : 1 << 20) / static_cast<std::uint64_t>(view_.size);
    std::vector<int> generations;
    for (const DeviceIdentity &gpu : gpus) generations.push_back(gpu.generation);
    const bool lines =
        config.lines == BATON_LINES_AUTO && no_p2p_.empty() && lines_arrive_whole(capabilities_.links, generations);
    const std::uint64_t line_limit =
        lines ? buffer_capacity(capabilities_.tuning, goes_in_lines, view_.size, capabilities_.channels, most_lines)
              : 0;
    const std::uint64_t segment =
        std::min<std::uint64_t>(config.segment_bytes, capabilities_.on_gpu ? 1 << 30 : 131072);
    // The host's tables have no lines of messages.
    const std::uint64_t most_message_lines =
        std::min<std::uint64_t>(bytes_for_messages_of_a_peer(), capabilities_.on_gpu ? 1 << 20 : 1 << 16);
    const std::uint64_t message_lines =
        lines ? longest_message(capabilities_.tuning, goes_in_lines, most_message_lines) : 0;
    // On the host two pieces of 32 KiB (docs/experiments.md has other sizes).
    const std::uint64_t most_staged =
        std::min<std::uint64_t>(bytes_for_messages_of_a_peer(), capabilities_.on_gpu ? 2 << 20 : 1 << 16);
    const bool stages = !capabilities_.on_gpu || !no_p2p_.empty();
    lay_out({.packets = packet_limit,
             .lines = line_limit,
             .messages = longest_in_slots(message_lines != 0 || stages),
             .host_packets = !capabilities_.on_gpu,
             .message_lines = message_lines,
             .message_staged = stages ? most_staged : 0,
             .segment = segment});
    if (config.copy_engine_limit != unset_size) capabilities_.copy_engine_limit = config.copy_engine_limit;
}

void Communicator::fill_info(baton_info *info) const {
    const std::shared_lock lock(teardown_mutex_);
    require_alive();
    const std::size_t size = info->struct_size;
    std::memset(info, 0, size);
    info->struct_size = size;
    info->rank = view_.rank;
    info->size = view_.size;
    info->on_gpu = capabilities_.on_gpu ? 1 : 0;
    info->device = device_;
    copy_text(info->device_name, capabilities_.on_gpu ? identity_.name : "host");
    copy_text(info->device_uuid, identity_.uuid);
    info->ranks_on_device = ranks_on_device_;
    info->channels = capabilities_.channels;
    info->single_copy = single_copy_ ? 1 : 0;
    info->peer_access = capabilities_.on_gpu && capabilities_.reaches_buffers ? 1 : 0;
    copy_text(info->reach, reach_text_);
    const std::size_t all = registry_->allocated_bytes();
    info->device_bytes = !capabilities_.on_gpu ? 0 : capabilities_.reaches_buffers ? all : registry_->own_bytes();
    info->host_bytes = peers_->shared_bytes() + sizeof(Control) + all - info->device_bytes;
    info->regions = registry_->count();
    copy_text(info->links, describe(capabilities_.links));
}

}  // namespace baton::core
