#include "collectives/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace baton::core {
namespace {

constexpr std::uint64_t kib = 1024;
/// Bytes for each peer that a channel sends as packets, before another channel is worth its arrivals.
constexpr std::uint64_t packet_grain = 256;
/// The same for messages, except that a block which is alone with its message need not count the others.
constexpr std::uint64_t message_packet_grain = 4 * kib;
constexpr std::uint64_t message_of_one_channel = 16 * kib;
/// The same for channels that copy directly.
constexpr std::uint64_t copy_grain = 16 * kib;
/// Vectors from which stores to one peer at a time pay for the result's way through this GPU's memory.
constexpr std::uint64_t two_phase_least = 16 * kib * kib;

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

std::string size_text(std::uint64_t bytes) {
    if (bytes >= kib * kib && bytes % (kib * kib) == 0) return fmt::format("{} MiB", bytes / (kib * kib));
    if (bytes >= kib && bytes % kib == 0) return fmt::format("{} KiB", bytes / kib);
    return fmt::format("{} bytes", bytes);
}

std::string words(Reason reason, const Request &request, const Capabilities &capabilities) {
    switch (reason) {
        case Reason::no_data:
            return "a barrier moves no data";
        case Reason::fits_packets:
            return fmt::format("{} fit the packet buffers ({})", size_text(request.bytes),
                               size_text(capabilities.packet_bytes));
        case Reason::buffered:
            return fmt::format("at most {}: buffered at the receiver", size_text(capabilities.message_bytes));
        case Reason::reach:
            return capabilities.reach_reason;
        case Reason::copy_engine_limit:
            return fmt::format("{} or more per rank", size_text(capabilities.copy_engine_limit));
        case Reason::transport_asked_for:
            return "asked for by the transport setting";
        case Reason::zero_sm:
            return "zero-SM mode: copy engines ordered by stream memory operations";
        case Reason::window:
            return "a window's addresses are known to all ranks";
    }
    return "unknown";
}

class Selector {
public:
    Selector(const Request &request, const Capabilities &capabilities)
        : request_(request), capabilities_(capabilities) {}

    Plan run() {
        plan_.mover = capabilities_.on_gpu ? Mover::kernel : Mover::host;
        plan_.segment_bytes = capabilities_.segment_bytes;
        switch (request_.operation) {
            case BATON_ALLGATHER:
            case BATON_ALLTOALL:  // moves as much between the same ranks, in the same ways
                allgather();
                break;
            case BATON_BROADCAST:
                broadcast();
                break;
            case BATON_REDUCE_SCATTER:
                reduce_scatter();
                break;
            case BATON_ALLREDUCE:
                allreduce();
                break;
            case BATON_SEND:
            case BATON_RECV:
                message();
                break;
            case BATON_PUT:
            case BATON_GET:
                one_sided();
                break;
            default:
                choose(Algorithm::arrive, 1, Reason::no_data);
                break;
        }
        return plan_;
    }

private:
    void choose(Algorithm algorithm, int channels, Reason reason) {
        plan_.algorithm = algorithm;
        plan_.channels = std::clamp(channels, 1, capabilities_.channels);
        plan_.reason = reason;
    }

    /// `bytes`: what the rank sends to each peer.
    bool copy_engine_wanted(std::uint64_t bytes) const {
        if (!capabilities_.on_gpu || capabilities_.size == 1) return false;
        switch (capabilities_.transport) {
            case BATON_TRANSPORT_COPY_ENGINE:
            case BATON_TRANSPORT_ZERO_SM:
                return true;
            case BATON_TRANSPORT_KERNEL:
                return false;
            default:
                return bytes >= capabilities_.copy_engine_limit;
        }
    }
    Reason copy_engine_reason() const {
        return capabilities_.transport == BATON_TRANSPORT_AUTO ? Reason::copy_engine_limit
                                                               : Reason::transport_asked_for;
    }

    /// Enough blocks to fill the links at large sizes, few at small ones: `grain` bytes a block at least.
    int channels_for(std::uint64_t bytes, std::uint64_t grain) const {
        return static_cast<int>(
            std::min<std::uint64_t>(divide_up(bytes, grain), static_cast<std::uint64_t>(capabilities_.channels)));
    }

    bool fits_packets(std::uint64_t bytes) const { return bytes <= capabilities_.packet_bytes; }
    void packets(std::uint64_t bytes) {
        // A multiprocessor stores packets one by one, so they are spread; a warp's worth each. Shares are rounded up to
        // 16 bytes, and so is a channel's capacity: each fits.
        const std::uint64_t grain = std::min<std::uint64_t>(packet_grain, capabilities_.packet_channel_bytes);
        const int channels = bytes == 0 ? 1 : static_cast<int>(divide_up(bytes, grain));
        choose(Algorithm::packet, channels, Reason::fits_packets);
    }

    void allgather() {
        if (capabilities_.transport == BATON_TRANSPORT_ZERO_SM && copy_engine_wanted(request_.bytes)) {
            choose(Algorithm::push, 1, Reason::zero_sm);
            plan_.mover = Mover::copy_engine;
            plan_.stream_words = true;
            return;
        }
        const bool by_copy_engine = copy_engine_wanted(request_.bytes) && capabilities_.reaches_buffers;
        if (fits_packets(request_.bytes) &&
            !(by_copy_engine && capabilities_.transport == BATON_TRANSPORT_COPY_ENGINE)) {
            return packets(request_.bytes);
        }
        if (!capabilities_.reaches_buffers) return staged();
        choose(Algorithm::push,
               channels_for(request_.bytes * static_cast<std::uint64_t>(capabilities_.size), copy_grain),
               by_copy_engine ? copy_engine_reason() : Reason::reach);
        if (by_copy_engine) plan_.mover = Mover::copy_engine;
    }

    void broadcast() {
        if (fits_packets(request_.bytes)) return packets(request_.bytes);
        if (!capabilities_.reaches_buffers) return staged();
        choose(Algorithm::push, channels_for(request_.bytes, 64 * kib), Reason::reach);
    }

    void reduce_scatter() {
        const bool by_copy_engine =
            capabilities_.on_gpu && capabilities_.transport == BATON_TRANSPORT_COPY_ENGINE && capabilities_.size > 1;
        if (by_copy_engine) {
            choose(Algorithm::staged, 1, copy_engine_reason());
            plan_.mover = Mover::copy_engine;
            return;
        }
        if (fits_packets(request_.bytes)) return packets(request_.bytes);
        if (!capabilities_.reaches_buffers) return staged();
        choose(Algorithm::pull,
               channels_for(request_.bytes * static_cast<std::uint64_t>(capabilities_.size), copy_grain),
               Reason::reach);
    }

    void allreduce() {
        // One shot sends the vector n-1 times, two shots 2 (n-1)/n of it with two flights.
        const bool by_copy_engine = capabilities_.transport != BATON_TRANSPORT_ZERO_SM &&
                                    capabilities_.reaches_buffers &&
                                    copy_engine_wanted(request_.bytes / static_cast<std::uint64_t>(capabilities_.size));
        const bool asked_for = by_copy_engine && capabilities_.transport == BATON_TRANSPORT_COPY_ENGINE;
        if (fits_packets(request_.bytes) && !asked_for) return packets(request_.bytes);
        if (!capabilities_.reaches_buffers) return staged();
        const bool large = capabilities_.on_gpu && (by_copy_engine || request_.bytes >= two_phase_least);
        choose(large ? Algorithm::two_phase : Algorithm::two_shot, channels_for(request_.bytes, copy_grain),
               by_copy_engine ? copy_engine_reason() : Reason::reach);
        if (by_copy_engine) plan_.mover = Mover::copy_engine;
    }

    void message() {
        // A sender and a receiver of packets may have different channels; half are left for messages the other way.
        if (request_.bytes <= capabilities_.message_bytes) {
            const bool alone = !capabilities_.on_gpu || request_.bytes <= message_of_one_channel;
            return choose(Algorithm::packet, alone ? 1 : channels_for(request_.bytes, message_packet_grain),
                          Reason::buffered);
        }
        if (!capabilities_.reaches_buffers) return choose(Algorithm::packet, 1, Reason::reach);
        // A block is left for a recv, which runs beside a send.
        choose(Algorithm::push,
               std::min(channels_for(request_.bytes, copy_grain), std::max(1, capabilities_.channels - 1)),
               Reason::reach);
    }

    void one_sided() {
        const bool by_copy_engine = copy_engine_wanted(request_.bytes);
        choose(Algorithm::direct, capabilities_.on_gpu ? channels_for(request_.bytes, copy_grain) : 1,
               by_copy_engine ? copy_engine_reason() : Reason::window);
        if (by_copy_engine) plan_.mover = Mover::copy_engine;
    }

    void staged() { choose(Algorithm::staged, 1, Reason::reach); }

    const Request &request_;
    const Capabilities &capabilities_;
    Plan plan_;
};

}  // namespace

const char *algorithm_name(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::arrive:
            return "arrive";
        case Algorithm::packet:
            return "packet";
        case Algorithm::push:
            return "push";
        case Algorithm::pull:
            return "pull";
        case Algorithm::two_shot:
            return "two_shot";
        case Algorithm::two_phase:
            return "two_phase";
        case Algorithm::staged:
            return "staged";
        case Algorithm::direct:
            return "direct";
    }
    return "unknown";
}

const char *mover_name(Mover mover) {
    switch (mover) {
        case Mover::host:
            return "host";
        case Mover::kernel:
            return "kernel";
        case Mover::copy_engine:
            return "copy_engine";
    }
    return "unknown";
}

Plan select(const Request &request, const Capabilities &capabilities) { return Selector(request, capabilities).run(); }

std::string describe(const Plan &plan, const Request &request, const Capabilities &capabilities) {
    return fmt::format("{} by {}{}, {} channel{}: {}", algorithm_name(plan.algorithm), mover_name(plan.mover),
                       plan.stream_words ? " (zero-SM)" : "", plan.channels, plan.channels == 1 ? "" : "s",
                       words(plan.reason, request, capabilities));
}

}  // namespace baton::core
