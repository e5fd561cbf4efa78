#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "topology/links.hpp"
#include "topology/names.hpp"
#include "topology/override.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

using core::fail;

const char *noun(const Override &said) { return said.ranks > 0 ? "rank" : "GPU"; }

std::size_t gpu_named(const Override &said, const Snapshot &snapshot, const std::string &name,
                      const std::string &field) {
    const std::vector<int> gpus = find_gpus(snapshot, name);
    if (gpus.size() > 1)
        fail(BATON_ERR_ARGUMENT, "{}: {}: \"{}\" may be any of GPUs {}; their indices and UUIDs tell them apart",
             said.origin, field, name, fmt::join(gpus, ", "));
    if (!gpus.empty()) return static_cast<std::size_t>(gpus[0]);
    const char *what = noun(said);
    if (snapshot.gpus.empty())
        fail(BATON_ERR_ARGUMENT, "{}: {}: there is no {} \"{}\": there are none", said.origin, field, what, name);
    fail(BATON_ERR_ARGUMENT, "{}: {}: there is no {} \"{}\"; there are 0 to {}{}", said.origin, field, what, name,
         snapshot.gpus.size() - 1, said.ranks > 0 ? "" : ", by index, UUID or PCI address");
}

/// Refuses what no pair of two GPUs can be.
void check_pair(const Override &said, const Override::PairEntry &entry, const Gpu &from, const Gpu &to) {
    const auto refuse = [&](const std::string &why) {
        fail(BATON_ERR_ARGUMENT, "{}: {}: {}", said.origin, entry.field, why);
    };
    if (!entry.kind) return;
    const LinkKind kind = *entry.kind;
    if (kind == LinkKind::SELF) refuse(fmt::format("SELF is one {}, and these are two", noun(said)));
    if (kind == LinkKind::SAME_DEVICE && from.pci.known() && to.pci.known() && from.pci.value != to.pci.value)
        refuse("SAME_DEVICE, but they have different PCI addresses");
    if (!entry.links) return;
    if (has_nvlinks(kind) && *entry.links == 0) refuse(fmt::format("{} without links", name_of(kind)));
    if (!has_nvlinks(kind) && *entry.links > 0) refuse(fmt::format("{} has no NVLinks to count", name_of(kind)));
}

/// What the file has said of each pair so far, on two levels: the matrices, and above them "pairs". On one level,
/// saying a thing twice is fine; saying two different things is refused.
class Stated {
public:
    explicit Stated(const Override &said) : said_(said) {}

    /// Returns all that the entry's level has said of its pair, this entry included.
    const Override::PairEntry &add(const Override::PairEntry &entry, std::size_t from, std::size_t to) {
        Override::PairEntry &all = by_pair_[{entry.field.starts_with("pairs"), std::min(from, to), std::max(from, to)}];
        once("kind", entry, entry.kind, all.kind, all);
        once("links", entry, entry.links, all.links, all);
        once("gbps", entry, entry.mbps, all.mbps, all);
        once("p2p", entry, entry.p2p, all.p2p, all);
        all.field = entry.field;
        return all;
    }

private:
    template <class T>
    void once(const char *what, const Override::PairEntry &entry, const std::optional<T> &value,
              std::optional<T> &before, const Override::PairEntry &earlier) const {
        if (!value) return;
        if (before && *before != *value)
            fail(BATON_ERR_ARGUMENT, "{}: {}: {} contradicts an entry before it (the last of this pair is {})",
                 said_.origin, entry.field, what, earlier.field);
        before = value;
    }

    const Override &said_;
    std::map<std::tuple<bool, std::size_t, std::size_t>, Override::PairEntry> by_pair_;
};

void state_pair(const Override::PairEntry &entry, PairFacts &pair) {
    constexpr Source source = Source::override_file;
    // Links drop a kind that they contradict, stated by a matrix or by the machine's description. (check_pair() has
    // refused contradictions within one level.)
    if (entry.links && has_nvlinks(pair.kind.value) == (*entry.links == 0)) pair.kind = {};
    if (entry.kind) pair.kind = {*entry.kind, source};
    if (entry.links) pair.links = {*entry.links, source};
    if (entry.mbps) pair.mbps = {*entry.mbps, source};
    if (entry.p2p) {
        pair.p2p_read = {*entry.p2p, source};
        pair.p2p_write = {*entry.p2p, source};
        if (!*entry.p2p) pair.p2p_atomics = {false, source};
    }
}

Snapshot with_ranks(Snapshot snapshot, int ranks) {
    snapshot.gpus.assign(static_cast<std::size_t>(ranks), {});
    snapshot.of_ranks = {true, Source::override_file};
    snapshot.pairs.assign(snapshot.gpus.size() * snapshot.gpus.size(), {});
    return snapshot;
}

void kill_link(const Override &said, const Override::DeadLink &dead, Snapshot &snapshot) {
    Gpu &gpu = snapshot.gpus[gpu_named(said, snapshot, dead.gpu, dead.field)];
    for (NvLink &link : gpu.nvlinks) {
        if (link.index != dead.link) continue;
        link.active = false;
        return;
    }
    fail(BATON_ERR_ARGUMENT, "{}: {}: {} \"{}\" has no NVLink {}; it has {}", said.origin, dead.field, noun(said),
         dead.gpu, dead.link, gpu.nvlinks.size());
}

/// REQUIRES: the dead links are down.
void check_against_dead_links(const Override &said, const Override::PairEntry &entry, const Gpu &gpu,
                              std::size_t index) {
    const bool speaks = std::any_of(said.dead_links.begin(), said.dead_links.end(),
                                    [&](const auto &dead) { return is_named(gpu, index, dead.gpu); });
    const auto up =
        std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), [](const NvLink &link) { return link.active; });
    if (speaks && entry.links && *entry.links > up)
        fail(BATON_ERR_ARGUMENT, "{}: {}: {} links, but \"dead_links\" leave GPU {} only {}", said.origin, entry.field,
             *entry.links, index, up);
}

}  // namespace

Snapshot apply_override(const Override &said, Snapshot snapshot) {
    const Snapshot before = snapshot;
    if (said.ranks > 0) snapshot = with_ranks(std::move(snapshot), said.ranks);
    if (said.rows && said.gpus.empty() && *said.rows != snapshot.gpus.size())
        fail(BATON_ERR_ARGUMENT, "{}: its matrices have {}, but the machine has {}; \"gpus\" can name some",
             said.origin, counted(*said.rows, "row"), counted(snapshot.gpus.size(), "GPU"));
    for (std::size_t row = 0; row < said.gpus.size(); ++row) {
        const std::size_t gpu = gpu_named(said, snapshot, said.gpus[row], fmt::format("gpus[{}]", row));
        for (std::size_t earlier = 0; earlier < row; ++earlier)
            if (gpu == gpu_named(said, snapshot, said.gpus[earlier], fmt::format("gpus[{}]", earlier)))
                fail(BATON_ERR_ARGUMENT, "{}: gpus[{}] and gpus[{}] are one GPU", said.origin, earlier, row);
    }
    for (const Override::DeadLink &dead : said.dead_links) kill_link(said, dead, snapshot);
    if (said.p2p)
        for (std::size_t from = 0; from < snapshot.gpus.size(); ++from)
            for (std::size_t to = 0; to < snapshot.gpus.size(); ++to)
                if (from != to) {
                    Override::PairEntry all;
                    all.p2p = said.p2p;
                    state_pair(all, snapshot.pair(from, to));
                }
    Stated stated(said);
    for (const Override::PairEntry &entry : said.pairs) {
        const std::size_t from = gpu_named(said, snapshot, entry.from, entry.field);
        const std::size_t to = gpu_named(said, snapshot, entry.to, entry.field);
        if (from == to)
            fail(BATON_ERR_ARGUMENT, "{}: {}: both are {} \"{}\"", said.origin, entry.field, noun(said), entry.to);
        check_pair(said, stated.add(entry, from, to), snapshot.gpus[from], snapshot.gpus[to]);
        for (const std::size_t gpu : {from, to}) check_against_dead_links(said, entry, snapshot.gpus[gpu], gpu);
        state_pair(entry, snapshot.pair(from, to));
        state_pair(entry, snapshot.pair(to, from));
    }
    if (snapshot != before) snapshot.gaps.push_back(fmt::format("{} changed what the machine says", said.origin));
    return snapshot;
}

std::string p2p_refusal(const Override &said, const Snapshot &snapshot, int a, int b) {
    bool refused = said.p2p && !*said.p2p;
    std::string field = "p2p";
    for (const Override::PairEntry &entry : said.pairs) {
        if (!entry.p2p) continue;
        const int from = find_gpu(snapshot, entry.from), to = find_gpu(snapshot, entry.to);
        if (std::minmax(from, to) != std::minmax(a, b)) continue;
        refused = !*entry.p2p;
        field = entry.field;
    }
    return refused ? fmt::format("{}: {}", said.origin, field) : "";
}

}  // namespace baton::topology
