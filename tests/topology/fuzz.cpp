#include "tests/topology/fuzz.hpp"

#include <cstdlib>
#include <numeric>

#include "topology/advice.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/override.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/summary.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

/// Accepts a refusal that names the file. Any other exception is a defect, and passes through.
template <class F>
void refusal_is_fine(const F &call) {
    try {
        call();
    } catch (const core::Failure &failure) {
        require(failure.code() == BATON_ERR_ARGUMENT);
        require(std::string_view(failure.what()).find("fuzzed") != std::string_view::npos);
    }
}

void use(const Snapshot &snapshot) {
    const Graph graph = make_graph(snapshot);
    std::vector<int> ranks(snapshot.gpus.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    if (ranks.size() > 18) ranks.resize(18);
    const CommAdvice advice = advise_communicator(snapshot, graph, ranks);
    require(advice.ring.order.size() == ranks.size());
    require(!summarize(snapshot).empty());
    require(!to_hwloc_xml(snapshot).empty());
}

}  // namespace

void fuzz_hwloc_xml(std::string_view text) {
    refusal_is_fine([&] { use(read_hwloc_xml(text, "fuzzed")); });
}

void fuzz_nccl_xml(std::string_view text) {
    refusal_is_fine([&] { use(read_nccl_xml(text, "fuzzed")); });
}

void fuzz_snapshot_json(std::string_view text) {
    refusal_is_fine([&] {
        const Snapshot snapshot = snapshot_from_json(text, "fuzzed");
        use(snapshot);
        require(snapshot_to_json(snapshot_from_json(snapshot_to_json(snapshot), "fuzzed")) ==
                snapshot_to_json(snapshot));
    });
}

void fuzz_override(std::string_view text) {
    refusal_is_fine([&] {
        Snapshot machine;
        machine.gpus.resize(4);
        machine.pairs.resize(16);
        for (Gpu &gpu : machine.gpus) gpu.nvlinks.resize(2);
        use(apply_override(read_override(text, "fuzzed"), machine));
    });
}

}  // namespace baton::topology
