#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "collectives/ways.hpp"

/// Which algorithm runs an operation of which size: plain data, measured by baton_tune, followed by select().
/// tuning_file.hpp has the file format.
namespace baton::core {

struct OperationWays {
    baton_operation operation;
    std::span<const Way> ways;
};

/// The operations with something to choose. Send stands for recv too, since both sides must agree.
std::span<const OperationWays> tuned_operations();
/// Empty for other operations.
std::span<const Way> ways_of(baton_operation operation);
/// A way of the operation by this algorithm, whoever moves the data: all of them are alike in what they touch and need
/// in place. Null if there is none.
const Way *way_by(baton_operation operation, Algorithm algorithm);

/// Sizes are bytes as Request::bytes counts them: what one rank contributes (allgather) or gets (reduce_scatter), the
/// vector of allreduce, a message.
struct TuningRow {
    static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t up_to_bytes = no_limit;
    Algorithm algorithm = Algorithm::packet;
    Mover mover = Mover::host;
    int channels = 0;         // at most; 0: as many as there are
    std::uint64_t grain = 0;  // bytes for each channel before another one is used; 0: any

    /// How many of `most` channels a call of `bytes` uses.
    int channels_for(std::uint64_t bytes, int most) const;
    bool operator==(const TuningRow &) const = default;
};

/// What a table was measured on.
struct TuningKey {
    static constexpr const char *apart = "host memory";

    std::string gpu;   // the name that CUDA gives it; several joined by " + "; or "host"
    std::string link;  // topology::link_name() of the weakest, or `apart`; on the host "shared memory"
    int ranks = 1;

    bool on_host() const { return gpu == "host"; }
    /// Whether the GPUs do not reach each other's memory.
    bool is_apart() const { return link == apart; }
    bool operator==(const TuningKey &) const = default;
};
/// "NVIDIA H200, NVSwitch, 8 ranks".
std::string to_string(const TuningKey &key);

struct TuningTable {
    TuningKey key;
    std::string origin;  // a file's path, "built in", ...: for people
    // Sizes ascend, and the last has no limit. Of two rows with equal sizes the second is for where the first is not
    // possible.
    std::map<baton_operation, std::vector<TuningRow>> operations;
    bool built_in = false;  // else it was made for the very machine of its key
};

/// The tables of a communicator; the first that has an operation says how it runs.
using Tuning = std::vector<TuningTable>;

/// Null where no table has the operation.
const TuningTable *table_for(const Tuning &tuning, baton_operation operation);
/// Empty where no table has the operation.
std::span<const TuningRow> rows_for(const Tuning &tuning, baton_operation operation);
/// The index of the row for a size. REQUIRES: rows is not empty.
std::size_t row_for(std::span<const TuningRow> rows, std::uint64_t bytes);

/// Bytes per pair that lines must have room for where they are rings.
std::uint64_t shortest_line_ring(int size);
/// What a collective of `bytes` (as Request::bytes counts them) sends to one peer in packets or lines; where its lines
/// are a ring, what that must hold at least.
std::uint64_t bytes_to_a_peer(baton_operation operation, Algorithm algorithm, std::uint64_t bytes, int size);
/// Bytes per pair that the buffers of `channels` channels must hold for the collectives' rows whose algorithm `uses`
/// them, at most `most`.
std::uint64_t buffer_capacity(const Tuning &tuning, bool (*uses)(Algorithm), int size, int channels,
                              std::uint64_t most);

/// The longest message, of at most `most` bytes, that a row gives to an algorithm for which `uses` is true; 0 if none.
std::uint64_t longest_message(const Tuning &tuning, bool (*uses)(Algorithm), std::uint64_t most);

/// The table of exactly this key; null where there is none.
const TuningTable *find_table(const std::vector<TuningTable> &tables, const TuningKey &key);
/// The table of this key, or of the machine that comes closest: by GPU, then link, then the number of ranks, fewer
/// rather than more. REQUIRES: a table for ranks that meet where the key's do: on the host, in the GPUs' memory, or
/// apart.
const TuningTable &nearest_table(const std::vector<TuningTable> &tables, const TuningKey &key);

}  // namespace baton::core
