#include "clauses.hpp"

#include "support/reference.hpp"

namespace baton::core::contract {

std::vector<Clause> all_clauses() {
    std::vector<Clause> all;
    for (const auto &some :
         {data_clauses(), reduction_clauses(), order_clauses(), packet_clauses(), failure_clauses()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::string named(const char *buffer, std::size_t call) { return buffer + (" of call " + std::to_string(call)); }

Contents sum_of(const std::vector<Contents> &all) {
    Contents sum(all.front().size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
        unsigned total = 0;
        for (const Contents &one : all) total += std::to_integer<unsigned>(one[i]);
        sum[i] = static_cast<std::byte>(total & 0xFF);
    }
    return sum;
}

std::size_t draw_size(test::Random &random, std::size_t limit) {
    for (std::size_t below = 18; below < limit; below *= 12) {
        if (random.chance(40)) return random.below(below);
    }
    return random.below(limit);
}

Contents reduce_in_order(baton_type type, baton_op op, const std::vector<Contents> &inputs) {
    std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
    return test::reduce(type, op, spans);
}

}  // namespace baton::core::contract
