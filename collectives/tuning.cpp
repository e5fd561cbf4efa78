#include "collectives/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "sync/packet.hpp"
#include "util/divide.hpp"

namespace baton::core {
namespace {

constexpr OperationWays all_operations[] = {{BATON_ALLGATHER, ways<BATON_ALLGATHER>},
                                            {BATON_REDUCE_SCATTER, ways<BATON_REDUCE_SCATTER>},
                                            {BATON_ALLTOALL, ways<BATON_ALLTOALL>},
                                            {BATON_BROADCAST, ways<BATON_BROADCAST>},
                                            {BATON_ALLREDUCE, ways<BATON_ALLREDUCE>},
                                            {BATON_SEND, ways<BATON_SEND>},
                                            {BATON_PUT, ways<BATON_PUT>},
                                            {BATON_GET, ways<BATON_GET>}};

/// What the lines of all ranks together hold where they are rings: 16 MiB each with 4 ranks, less with more ranks,
/// whose arenas are larger. With half of it warps wait for places (docs/experiments.md).
constexpr std::uint64_t line_rings_bytes = 64 << 20;
/// What a rank's lines must hold then: a run for the blocks of 64 channels, two each.
constexpr std::uint64_t shortest_ring_bytes = 1 << 20;

constexpr baton_operation tuned_as(baton_operation operation) {
    return operation == BATON_RECV ? BATON_SEND : operation;
}

/// A table, since every call asks for its ways.
constexpr auto ways_by_operation = [] {
    std::array<std::span<const Way>, BATON_OPERATION_COUNT> all;
    for (const OperationWays &entry : all_operations) all[entry.operation] = entry.ways;
    return all;
}();

}  // namespace

std::span<const OperationWays> tuned_operations() { return all_operations; }

std::span<const Way> ways_of(baton_operation operation) { return ways_by_operation[tuned_as(operation)]; }

const Way *way_by(baton_operation operation, Algorithm algorithm) {
    for (const Way &way : ways_of(operation)) {
        if (way.algorithm == algorithm) return &way;
    }
    return nullptr;
}

int TuningRow::channels_for(std::uint64_t bytes, int most) const {
    if (channels != 0) most = std::min(most, channels);
    if (grain == 0) return most;
    const std::uint64_t wanted = std::max<std::uint64_t>(1, ceil_divide(bytes, grain));
    return static_cast<int>(std::min<std::uint64_t>(wanted, static_cast<std::uint64_t>(most)));
}

std::string to_string(const TuningKey &key) {
    return fmt::format("{}, {}, {} rank{}", key.gpu, key.link, key.ranks, key.ranks == 1 ? "" : "s");
}

const TuningTable *table_for(const Tuning &tuning, baton_operation operation) {
    for (const TuningTable &table : tuning) {
        if (table.operations.count(tuned_as(operation)) != 0) return &table;
    }
    return nullptr;
}

std::span<const TuningRow> rows_for(const Tuning &tuning, baton_operation operation) {
    const TuningTable *table = table_for(tuning, operation);
    if (table == nullptr) return {};
    return table->operations.at(tuned_as(operation));
}

std::size_t row_for(std::span<const TuningRow> rows, std::uint64_t bytes) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const TuningRow &one) { return bytes <= one.up_to_bytes; });
    return static_cast<std::size_t>(std::min(row, rows.end() - 1) - rows.begin());
}

std::uint64_t shortest_line_ring(int size) {
    return shortest_ring_bytes / static_cast<std::uint64_t>(size) / word_granule * word_granule;
}

std::uint64_t bytes_to_a_peer(baton_operation operation, Algorithm algorithm, std::uint64_t bytes, int size) {
    const auto n = static_cast<std::uint64_t>(size);
    if (algorithm == Algorithm::two_shot_line) return 2 * ceil_divide(bytes, n);
    if (algorithm == Algorithm::pipeline_line) return shortest_line_ring(size);
    const bool shares = operation == BATON_BROADCAST && algorithm == Algorithm::line && size > 1;
    return shares ? ceil_divide(bytes, n - 1) : bytes;
}

std::uint64_t buffer_capacity(const Tuning &tuning, bool (*uses)(Algorithm), int size, int channels,
                              std::uint64_t most) {
    std::uint64_t of_a_channel = 0;
    std::uint64_t of_a_ring = 0;
    const std::uint64_t all = most * static_cast<std::uint64_t>(size);  // more than a row without limit may have
    for (const OperationWays &entry : all_operations) {
        if (entry.operation == BATON_SEND) continue;  // messages have buffers of their own
        for (const TuningRow &row : rows_for(tuning, entry.operation)) {
            if (!uses(row.algorithm)) continue;
            if (row.algorithm == Algorithm::pipeline_line) {
                of_a_ring = line_rings_bytes / static_cast<std::uint64_t>(size * size) / word_granule * word_granule;
                continue;
            }
            const auto to_a_peer = [&](std::uint64_t bytes) {
                return std::min(most, bytes_to_a_peer(entry.operation, row.algorithm, std::min(bytes, all), size));
            };
            const auto used = static_cast<std::uint64_t>(row.channels_for(row.up_to_bytes, channels));
            const std::uint64_t largest = ceil_divide(to_a_peer(row.up_to_bytes), used);
            // Before a grain is full there is no further channel, so a smaller size may put more into one.
            of_a_channel = std::max({of_a_channel, largest, to_a_peer(std::min(row.grain, row.up_to_bytes))});
        }
    }
    const std::uint64_t wanted = std::max(of_a_ring, of_a_channel * static_cast<std::uint64_t>(channels));
    return std::min(most, round_up(wanted, word_granule));
}

std::uint64_t longest_message(const Tuning &tuning, bool (*uses)(Algorithm), std::uint64_t most) {
    std::uint64_t longest = 0;
    for (const TuningRow &row : rows_for(tuning, BATON_SEND)) {
        if (uses(row.algorithm)) longest = std::max(longest, std::min(row.up_to_bytes, most));
    }
    return longest;
}

const TuningTable *find_table(const std::vector<TuningTable> &tables, const TuningKey &key) {
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const TuningTable &table) { return table.key == key; });
    return found == tables.end() ? nullptr : &*found;
}

const TuningTable &nearest_table(const std::vector<TuningTable> &tables, const TuningKey &key) {
    const auto distance = [&](const TuningTable &table) {
        const TuningKey &other = table.key;
        return std::make_tuple(other.on_host() != key.on_host(), other.is_apart() != key.is_apart(),
                               other.gpu != key.gpu, other.link != key.link, other.ranks > key.ranks,
                               std::abs(other.ranks - key.ranks));
    };
    return *std::min_element(tables.begin(), tables.end(), [&](const TuningTable &one, const TuningTable &other) {
        return distance(one) < distance(other);
    });
}

}  // namespace baton::core
