#include "collectives/selection.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "collectives/broadcast/push.hpp"
#include "collectives/route.hpp"
#include "sync/arena.hpp"
#include "transport/element/dispatch.hpp"
#include "util/divide.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

/// Bytes of a message for each channel, where no row of the table says so: what the H200's row has.
constexpr std::uint64_t message_grain = 1024;

/// The algorithm that follows links of this shape. REQUIRES: it is not uniform.
Algorithm routed_algorithm(baton_operation operation, Links::Shape shape) {
    if (operation == BATON_BROADCAST) return Algorithm::pipeline;
    if (shape == Links::Shape::islands) return Algorithm::two_level;
    return reduces(operation) ? Algorithm::chain : Algorithm::ring;
}

/// Whether the algorithm can follow the links: a pipeline can follow any, but sums must meet the ranks in their order.
bool route_suits(Algorithm algorithm, baton_operation operation, const Links &links, int ranks) {
    if (is_pipeline(algorithm)) return true;
    if (links.shape == Links::Shape::uniform || algorithm != routed_algorithm(operation, links.shape)) return false;
    return !reduces(operation) || make_route(links, 0, ranks).in_rank_order();
}

/// Whether a reduction from island to island sends less between islands than a direct one, by the busiest rank's bytes.
/// With n ranks, l of them in the smallest island, it sends n / l blocks of accumulators. A direct one has n - l blocks
/// of elements, which a rank of that island reads (reduce_scatter), or reads and writes (allreduce).
bool two_level_sends_less(const Request &request, const Links &links, int n) {
    if (!reduces(request.operation)) return true;
    const Route route = make_route(links, 0, n);
    const std::size_t widening =
        dispatch_type(request.type, []<class T>() { return sizeof(Accumulator<T>) / sizeof(T); });
    const int direct = (request.operation == BATON_ALLREDUCE ? 2 : 1) * (n - route.lanes);
    return static_cast<int>(widening) * n < direct * route.lanes;
}

/// Takes the first that applies: what the user's settings ask for, what the links ask for, the row for the size, what
/// comes next to that row.
class Selector {
public:
    Selector(const Request &request, const Capabilities &capabilities)
        : request_(request),
          capabilities_(capabilities),
          ways_(ways_of(request.operation)),
          rows_(rows_for(capabilities.tuning, request.operation)) {}

    Plan run() {
        if (ways_.empty()) {
            take({.algorithm = Algorithm::arrive, .mover = own_mover(), .channels = 1}, Reason::no_data);
            return plan_;
        }
        if (is_message(request_.operation) && request_.bytes <= capabilities_.message_bytes && take_buffered())
            return plan_;
        const bool by_settings = take_zero_sm() || take_transport() || take_packet_limit() || take_copy_engine_limit();
        if (!by_settings && !take_by_links()) take_by_table();
        return plan_;
    }

private:
    Mover own_mover() const { return capabilities_.on_gpu ? Mover::kernel : Mover::host; }

    /// Takes packets for a message of up to BATON_EAGER_BYTES, whatever the table says; for a longer one if its row
    /// says packets, or lines that are not possible here.
    bool take_buffered() {
        const TuningRow *row = row_of_size();
        if (row != nullptr && goes_in_packets(row->algorithm)) {
            take(*row, Reason::buffered);
            return true;
        }
        const bool lines_impossible = row != nullptr && goes_in_lines(row->algorithm) && !possible(*row);
        if (request_.bytes > BATON_EAGER_BYTES && !lines_impossible) return false;
        take({.algorithm = Algorithm::packet, .mover = own_mover(), .grain = message_grain}, Reason::buffered);
        return true;
    }

    // ---- what the settings ask for: each takes a way if it applies and there is one

    bool take_zero_sm() {
        const bool can = request_.operation == BATON_ALLGATHER || request_.operation == BATON_ALLTOALL;
        if (!can || capabilities_.transport != BATON_TRANSPORT_ZERO_SM) return false;
        if (capabilities_.size == 1 || !capabilities_.reaches_buffers) return false;
        take({.algorithm = Algorithm::push, .mover = Mover::copy_engine, .channels = 1}, Reason::zero_sm);
        plan_.stream_words = true;
        return true;
    }
    bool take_transport() {
        const bool asked = capabilities_.transport == BATON_TRANSPORT_COPY_ENGINE ||
                           (capabilities_.transport == BATON_TRANSPORT_ZERO_SM && !reduces(request_.operation));
        return asked && take_copy_engine(Reason::transport_asked_for);
    }
    bool take_packet_limit() {
        const bool asked = capabilities_.packet_limit_set && !is_message(request_.operation) &&
                           request_.bytes <= capabilities_.packet_bytes;
        return asked &&
               take_first([](const TuningRow &row) { return goes_in_packets(row.algorithm); }, Reason::packet_limit);
    }
    bool take_copy_engine_limit() {
        const bool asked = capabilities_.copy_engine_limit && !reduces(request_.operation) &&
                           request_.bytes >= *capabilities_.copy_engine_limit;
        return asked && take_copy_engine(Reason::copy_engine_limit);
    }
    bool take_copy_engine(Reason reason) {
        return take_first([](const TuningRow &row) { return row.mover == Mover::copy_engine; }, reason);
    }

    // ---- what the links ask for: not where packets or lines do, nor against a table that knows this machine

    bool take_by_links() {
        const Links &links = capabilities_.links;
        if (links.shape == Links::Shape::uniform) return false;
        const TuningTable *table = table_for(capabilities_.tuning, request_.operation);
        if (table != nullptr && !table->built_in) return false;
        const TuningRow *row = row_of_size();
        const bool flagged = row != nullptr && (goes_in_packets(row->algorithm) || goes_in_lines(row->algorithm));
        if (flagged && possible(*row)) return false;
        TuningRow routed{.algorithm = routed_algorithm(request_.operation, links.shape), .mover = own_mover()};
        if (row != nullptr && row->mover == routed.mover && !flagged) {
            routed.channels = row->channels;
            routed.grain = row->grain;
        }
        if (way_of(routed) == nullptr) return false;
        if (!possible(routed)) {
            if (!route_suits(routed.algorithm, request_.operation, links, capabilities_.size)) {
                plan_.no_route = links.shape == Links::Shape::ring
                                     ? "a reduction goes along a ring only in the order of ranks"
                                     : "a reduction goes from island to island only where these are runs of ranks";
            }
            return false;
        }
        if (routed.algorithm == Algorithm::two_level && !two_level_sends_less(request_, links, capabilities_.size)) {
            plan_.no_route = "by two levels no less would go between islands";
            return false;
        }
        take(routed, Reason::links);
        return true;
    }

    // ---- what the table says

    void take_by_table() {
        Reason reason = Reason::instead_of_row;
        if (const TuningRow *row = row_of_size(); row != nullptr) {
            const bool can = possible(*row);
            if (can && !(stages_for_sharing() && needs_reach(row->algorithm))) {
                take(*row, Reason::tuned);
                return;
            }
            if (stages_for_sharing()) {
                const auto needs_no_reach = [](const TuningRow &one) { return !needs_reach(one.algorithm); };
                if (take_first(needs_no_reach, can ? Reason::staging : Reason::instead_of_row)) return;
            } else if (!capabilities_.reaches_buffers && (needs_reach(row->algorithm) || capabilities_.on_gpu)) {
                reason = Reason::reach;
            } else if (row->mover == Mover::copy_engine && copy_engine_allowed()) {
                reason = against_copy_engines().value_or(reason);
            }
        }
        if (!take_first([](const TuningRow &) { return true; }, reason))
            fail(BATON_ERR_INTERNAL, "nothing can run {} here", baton_operation_name(request_.operation));
    }

    /// Whether a collective is staged because ranks share processors (docs/experiments.md): the compiled-in tables were
    /// measured with a processor each. REQUIRES: a table has the operation.
    bool stages_for_sharing() const {
        return capabilities_.single_copies_share_cpus && is_collective(request_.operation) &&
               table_for(capabilities_.tuning, request_.operation)->built_in;
    }

    /// Takes the first possible and wanted row: that of the size, those of larger sizes, those of smaller ones
    /// downwards; then the ways that the table does not mention.
    template <class Wanted>
    bool take_first(const Wanted &wanted, Reason reason) {
        const auto take_if = [&](const TuningRow &row) {
            if (!wanted(row) || !possible(row)) return false;
            take(row, reason);
            return true;
        };
        const std::size_t at = rows_.empty() ? 0 : row_for(rows_, request_.bytes);
        for (std::size_t index = at; index < rows_.size(); ++index) {
            if (take_if(rows_[index])) return true;
        }
        for (std::size_t index = at; index-- > 0;) {
            if (take_if(rows_[index])) return true;
        }
        for (const Way &way : ways_) {
            if (take_if({.algorithm = way.algorithm, .mover = way.mover})) return true;
        }
        return false;
    }

    /// Null where there are no rows.
    const TuningRow *row_of_size() const { return rows_.empty() ? nullptr : &rows_[row_for(rows_, request_.bytes)]; }

    bool possible(const TuningRow &row) const {
        if ((row.mover == Mover::host) == capabilities_.on_gpu) return false;
        if (row.mover == Mover::copy_engine && (!copy_engine_allowed() || against_copy_engines())) return false;
        const Way *way = way_of(row);
        if (way != nullptr && !serves(*way, capabilities_.size)) return false;
        if (needs_reach(row.algorithm) && !capabilities_.reaches_buffers) return false;
        if (is_routed(row.algorithm) &&
            !route_suits(row.algorithm, request_.operation, capabilities_.links, capabilities_.size))
            return false;
        if (goes_in_lines(row.algorithm)) return !through_host() && bytes_in_lines(row) <= most_in_lines();
        const bool message = is_message(request_.operation);
        if (goes_through_staging(row.algorithm)) return !message || capabilities_.message_staged_bytes != 0;
        if (!goes_in_packets(row.algorithm)) return true;
        return request_.bytes <= (message ? capabilities_.message_bytes : capabilities_.packet_bytes);
    }
    std::uint64_t to_a_peer(Algorithm algorithm) const {
        return bytes_to_a_peer(request_.operation, algorithm, request_.bytes, capabilities_.size);
    }
    std::uint64_t bytes_in_lines(const TuningRow &row) const {
        return is_message(request_.operation) ? request_.bytes : to_a_peer(row.algorithm);
    }
    std::uint64_t most_in_lines() const {
        return is_message(request_.operation) ? capabilities_.message_line_bytes : capabilities_.line_bytes;
    }
    bool through_host() const { return capabilities_.on_gpu && !capabilities_.reaches_buffers; }
    bool copy_engine_allowed() const {
        if (capabilities_.size == 1 || capabilities_.transport == BATON_TRANSPORT_KERNEL) return false;
        if (!capabilities_.reaches_buffers) return false;
        // The hosts count zero-SM calls to meet in them. Another collective by copy engines may fall back to a kernel
        // on some ranks, and would be counted on the others only.
        if (capabilities_.transport == BATON_TRANSPORT_ZERO_SM && is_collective(request_.operation)) return false;
        const bool limited = capabilities_.transport == BATON_TRANSPORT_AUTO && capabilities_.copy_engine_limit &&
                             !reduces(request_.operation);
        return !limited || request_.bytes >= *capabilities_.copy_engine_limit;
    }

    /// Why copy engines, although they are allowed, do not run this call, whatever a row says.
    std::optional<Reason> against_copy_engines() const {
        if (relays_unasked()) return Reason::relays_unmeasured;
        if (combines_unaligned()) return Reason::whole_words_only;
        return std::nullopt;
    }

    /// Whether this is a broadcast that copy engines would relay, unasked: the compiled-in tables do not know what
    /// relays cost.
    bool relays_unasked() const {
        const TuningTable *table = table_for(capabilities_.tuning, request_.operation);
        return request_.operation == BATON_BROADCAST && worth_relaying(request_.bytes, capabilities_.size) &&
               capabilities_.transport == BATON_TRANSPORT_AUTO && !capabilities_.copy_engine_limit &&
               (table == nullptr || table->built_in);
    }

    /// Whether this is a reduce_scatter of blocks that the kernel beside copy engines would add element by element,
    /// slowly; `pull` has a kernel for these. A table cannot say otherwise, since it has not measured the sizes between
    /// its own (baton_tune doubles them).
    bool combines_unaligned() const {
        return request_.operation == BATON_REDUCE_SCATTER && !is_whole_words(request_.bytes) &&
               capabilities_.transport == BATON_TRANSPORT_AUTO;
    }

    void take(const TuningRow &row, Reason reason) {
        plan_.algorithm = row.algorithm;
        plan_.mover = row.mover;
        plan_.channels = std::clamp(channels_for(row), 1, capabilities_.channels);
        plan_.reason = reason;
    }
    const Way *way_of(const TuningRow &row) const {
        const auto way = std::find_if(ways_.begin(), ways_.end(), [&](const Way &one) {
            return one.algorithm == row.algorithm && one.mover == row.mover;
        });
        return way == ways_.end() ? nullptr : &*way;
    }
    int channels_for(const TuningRow &row) const {
        const Way *way = way_of(row);
        int most = capabilities_.channels;
        if (way != nullptr && way->most_channels != 0) most = std::min(most, way->most_channels);
        // A block is left for a recv, which runs beside a send.
        if (is_message(request_.operation)) {
            most = std::min(most, std::max(1, capabilities_.channels - 1));
            if (goes_through_staging(row.algorithm)) most = std::min(most, message_lanes);
        }
        const int channels = row.channels_for(request_.bytes, most);
        const bool lines = lies_in_lines(row.algorithm);
        if (!(lines || goes_in_packets(row.algorithm)) || is_message(request_.operation) || request_.bytes == 0)
            return channels;
        // Shares are rounded up to word_granule: a channel's packets hold a multiple of it, and its lines keep room for
        // it.
        const std::uint64_t fit = lines ? capabilities_.line_channel_bytes : capabilities_.packet_channel_bytes;
        return std::max(channels, static_cast<int>(ceil_divide(to_a_peer(row.algorithm), fit)));
    }

    const Request &request_;
    const Capabilities &capabilities_;
    const std::span<const Way> ways_;
    const std::span<const TuningRow> rows_;
    Plan plan_;
};

}  // namespace

Plan select(const Request &request, const Capabilities &capabilities) { return Selector(request, capabilities).run(); }

bool has_line_rings(const Capabilities &capabilities) {
    return capabilities.line_bytes >= shortest_line_ring(capabilities.size);
}

}  // namespace baton::core
