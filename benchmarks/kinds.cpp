#include "kinds.hpp"

#include <algorithm>

namespace baton::bench {

namespace {

double nothing(double) { return 0; }
double once(double) { return 1; }
double to_the_others(double ranks) { return (ranks - 1) / ranks; }
double twice_to_the_others(double ranks) { return 2 * (ranks - 1) / ranks; }

std::size_t elements(bool blocks, std::size_t count, int ranks) {
    return blocks ? count * static_cast<std::size_t>(ranks) : count;
}

}  // namespace

const std::vector<KindTraits> &all_kinds() {
    // In the order of Kind, which traits() relies on.
    static const std::vector<KindTraits> kinds{
        {Kind::allgather, "allgather", false, true, false, true, Traffic::all_pairs, to_the_others},
        {Kind::reduce_scatter, "reduce_scatter", true, true, true, false, Traffic::all_pairs, to_the_others},
        {Kind::allreduce, "allreduce", true, true, false, false, Traffic::all_pairs, twice_to_the_others},
        {Kind::alltoall, "alltoall", false, true, true, true, Traffic::all_pairs, to_the_others},
        {Kind::broadcast, "broadcast", false, true, false, false, Traffic::all_pairs, once},
        {Kind::sendrecv, "sendrecv", false, false, false, false, Traffic::ring, once},
        {Kind::pair, "pair", false, false, false, false, Traffic::pairs, once},
        {Kind::put, "put", false, false, false, false, Traffic::ring, once},
        {Kind::get, "get", false, false, false, false, Traffic::ring, once},
        {Kind::barrier, "barrier", false, false, false, false, Traffic::none, nothing},
    };
    return kinds;
}

const KindTraits &traits(Kind kind) { return all_kinds()[static_cast<std::size_t>(kind)]; }

std::size_t send_elements(const Shape &shape, int ranks) {
    return elements(traits(shape.kind).send_blocks, shape.count, ranks);
}

std::size_t recv_elements(const Shape &shape, int ranks) {
    return elements(traits(shape.kind).recv_blocks, shape.count, ranks);
}

std::size_t table_bytes(const Shape &shape, int ranks) {
    return std::max(send_elements(shape, ranks), recv_elements(shape, ranks)) * baton_type_size(shape.type);
}

std::size_t count_for(Kind kind, baton_type type, std::size_t bytes, int ranks) {
    const bool divided = traits(kind).send_blocks || traits(kind).recv_blocks;
    return bytes / baton_type_size(type) / (divided ? static_cast<std::size_t>(ranks) : 1);
}

double bus_factor(Kind kind, int ranks) { return traits(kind).sent(ranks); }

Traffic traffic_of(Kind kind, int ranks) {
    return kind == Kind::broadcast && ranks == 2 ? Traffic::pairs : traits(kind).traffic;
}

}  // namespace baton::bench
