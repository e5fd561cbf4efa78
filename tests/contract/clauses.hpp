#pragma once

#include <vector>

#include "rank.hpp"
#include "support/random_bytes.hpp"

namespace baton::core::contract {

/// A clause of the contract: calls of programs, and GoogleTest's expectations of what they say and leave behind.
/// Runs on every rank, with the rank as its argument; ranks draw alike from rank.common().
struct Clause {
    const char *name;
    void (*body)(Rank &rank, int variant);
    int variant = 0;
    Offers needs = {};  // of every rank's engine
    int fewest_ranks = 1;
    int most_ranks = max_ranks;
    double timeout_seconds = 20;
    std::size_t area_bytes = std::size_t{2} << 20;
};

std::vector<Clause> data_clauses();
std::vector<Clause> reduction_clauses();
std::vector<Clause> order_clauses();
std::vector<Clause> packet_clauses();
std::vector<Clause> failure_clauses();
std::vector<Clause> all_clauses();

using test::random_bytes;
/// "send of call 3".
std::string named(const char *buffer, std::size_t call);
/// The sum of all, element by element, modulo 256.
Contents sum_of(const std::vector<Contents> &all);
/// Draws a size below `limit`, small ones as often as large ones.
std::size_t draw_size(test::Random &random, std::size_t limit);
/// The inputs combined in this order, as baton.h defines it; the reference shares no code with the library.
Contents reduce_in_order(baton_type type, baton_op op, const std::vector<Contents> &inputs);

}  // namespace baton::core::contract
