// The contract of src/transport/transport.hpp, clause by clause, on every engine that this program can run.
#include <gtest/gtest.h>

#include "clauses.hpp"
#include "cuda/current_gpu.hpp"
#include "launch.hpp"
#include "support/needs_gpu.hpp"

namespace baton::core::contract {
namespace {

struct Case {
    Transport transport;
    int ranks;
    Clause clause;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Transport &transport : transports()) {
        for (const int ranks : rank_counts()) {
            for (const Clause &clause : all_clauses()) {
                const bool fits = ranks >= clause.fewest_ranks && ranks <= clause.most_ranks;
                if (fits && transport.offers.covers(clause.needs)) all.push_back({transport, ranks, clause});
            }
        }
    }
    return all;
}

std::string text(const Case &one) {
    return std::string(one.transport.name) + "_" + std::to_string(one.ranks) + "_" + one.clause.name;
}
std::string name_of(const ::testing::TestParamInfo<Case> &info) { return text(info.param); }
void PrintTo(const Case &one, std::ostream *out) { *out << text(one); }

class Contract : public ::testing::TestWithParam<Case> {};

TEST_P(Contract, Holds) {
    const Case &one = GetParam();
    if (one.transport.on_gpu && current_gpu() < 0) SKIP_WITHOUT_GPU("no GPU");
    const Settings settings{one.clause.timeout_seconds, one.clause.area_bytes, seed()};
    with_ranks(one.ranks, [&](Bootstrap &bootstrap) {
        Rank rank(bootstrap, one.transport, settings);
        one.clause.body(rank, one.clause.variant);
    });
}

INSTANTIATE_TEST_SUITE_P(Engines, Contract, ::testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace baton::core::contract
