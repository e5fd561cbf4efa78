// Why a call runs as it does, in words.
#include <fmt/format.h>

#include <span>

#include "collectives/selection.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t kib = 1024;

std::string size_text(std::uint64_t bytes) {
    if (bytes >= kib * kib && bytes % (kib * kib) == 0) return fmt::format("{} MiB", bytes / (kib * kib));
    if (bytes >= kib && bytes % kib == 0) return fmt::format("{} KiB", bytes / kib);
    return fmt::format("{} bytes", bytes);
}

/// The sizes of a row: "up to 64 KiB", "above 64 KiB", "from 8 MiB on", "any size".
std::string sizes_of(std::span<const TuningRow> rows, std::size_t index) {
    if (rows[index].up_to_bytes != TuningRow::no_limit) return "up to " + size_text(rows[index].up_to_bytes);
    if (index == 0) return "any size";
    const std::uint64_t before = rows[index - 1].up_to_bytes;
    return before % kib == kib - 1 ? "from " + size_text(before + 1) + " on" : "above " + size_text(before);
}

/// The row for the request: "tuning table for NVIDIA H200, NVSwitch, 8 ranks, up to 64 KiB (built in)". A remark on
/// what the row chooses comes before: "push by kernel, which is not possible here, says the tuning table ...".
std::string row_text(const Request &request, const Capabilities &capabilities, const char *remark = nullptr) {
    const TuningTable *table = table_for(capabilities.tuning, request.operation);
    if (table == nullptr) return "no tuning table has this operation";
    const auto rows = rows_for(capabilities.tuning, request.operation);
    const std::size_t index = row_for(rows, request.bytes);
    const std::string text =
        fmt::format("tuning table for {}, {} ({})", to_string(table->key), sizes_of(rows, index), table->origin);
    if (remark == nullptr) return text;
    return fmt::format("{} by {}, {}, says the {}", algorithm_name(rows[index].algorithm),
                       mover_name(rows[index].mover), remark, text);
}

std::string reason_text(const Plan &plan, const Request &request, const Capabilities &capabilities) {
    switch (plan.reason) {
        case Reason::no_data:
            return "a barrier moves no data";
        case Reason::buffered:
            return fmt::format(
                "at most {}: buffered at the receiver",
                size_text(request.bytes <= BATON_EAGER_BYTES ? BATON_EAGER_BYTES : capabilities.message_bytes));
        case Reason::tuned:
            return row_text(request, capabilities) + (capabilities.size > 1 && needs_reach(plan.algorithm)
                                                          ? fmt::format("; {}", capabilities.reach_reason)
                                                          : "");
        case Reason::links:
            return fmt::format("{}; {}", capabilities.links.why, capabilities.reach_reason);
        case Reason::instead_of_row:
            return row_text(request, capabilities, "which is not possible here");
        case Reason::relays_unmeasured:
            return row_text(request, capabilities, "whose relays have not been measured");
        case Reason::whole_words_only:
            return row_text(request, capabilities, "for blocks that are multiples of 16 bytes");
        case Reason::reach:
            return capabilities.reach_reason;
        case Reason::staging:
            return "ranks are more than processors; " + row_text(request, capabilities, "where each has its own");
        case Reason::packet_limit:
            return fmt::format("at most the packet limit, {}", size_text(capabilities.packet_bytes));
        case Reason::copy_engine_limit:
            return fmt::format("the copy engine limit, {}, or more",
                               size_text(capabilities.copy_engine_limit.value_or(0)));
        case Reason::transport_asked_for:
            return "asked for by the transport setting";
        case Reason::zero_sm:
            return "zero-SM mode: copy engines ordered by stream memory operations";
    }
    return "unknown";
}

}  // namespace

std::string describe(const Plan &plan, const Request &request, const Capabilities &capabilities) {
    return fmt::format("{} by {}{}, {} channel{}: {}{}", algorithm_name(plan.algorithm), mover_name(plan.mover),
                       plan.stream_words ? " (zero-SM)" : "", plan.channels, plan.channels == 1 ? "" : "s",
                       reason_text(plan, request, capabilities),
                       plan.no_route == nullptr ? "" : fmt::format("; the links are not followed: {}", plan.no_route));
}

}  // namespace baton::core
