#include "topo/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "gpu.hpp"
#include "limits/lanes.hpp"

namespace baton::topology {
namespace {

constexpr std::size_t bytes = std::size_t{256} << 20U;
constexpr int rounds = 5, copies = 8;

/// Bytes per second of the best round.
double measure_push(const bench::Communicator &communicator, const bench::Lanes &lanes, int peer) {
    double best = 0;
    for (int round = 0; round < rounds; ++round) {
        const double start = bench::seconds_now();
        for (int copy = 0; copy < copies; ++copy) lanes.push_to(peer, bytes);
        communicator.synchronize();
        best = std::max(best, copies * static_cast<double>(bytes) / (bench::seconds_now() - start));
    }
    return best;
}

}  // namespace

void measure_pairs(const bench::World &world, const std::vector<int> &gpu_of_rank, Snapshot &snapshot) {
    if (!world.all(bench::gpu::count() > 0))
        throw bench::Refusal("--measure: a rank has no usable GPU (no device, no driver, or a build without CUDA)");
    if (world.size() < 2)
        throw bench::Refusal("--measure copies between the GPUs of ranks: run it under mpirun, one rank per GPU");
    std::optional<bench::Communicator> created(std::in_place, world, bench::MemorySpace::gpu);
    const baton_info info = created->info();
    if (info.peer_access == 0) {  // windows lie in host memory then
        created.reset();
        throw bench::Refusal(fmt::format("--measure: the GPUs do not reach each other's memory: {}", info.reach));
    }
    const bench::Communicator &communicator = *created;
    const bench::Lanes lanes(communicator, bytes);
    const int size = world.size();
    std::vector<double> speeds(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (int from = 0; from < size; ++from)
        for (int to = 0; to < size; ++to) {
            world.barrier();
            if (from != to && from == world.rank())
                speeds[static_cast<std::size_t>(from * size + to)] = measure_push(communicator, lanes, to);
        }
    world.barrier();
    speeds = world.max(std::move(speeds));
    if (world.rank() != 0) return;
    for (int from = 0; from < size; ++from)
        for (int to = 0; to < size; ++to) {
            const int a = gpu_of_rank[static_cast<std::size_t>(from)], b = gpu_of_rank[static_cast<std::size_t>(to)];
            if (a < 0 || b < 0 || a == b) continue;
            snapshot.pair(static_cast<std::size_t>(a), static_cast<std::size_t>(b)).measured_mbps = {
                static_cast<int>(speeds[static_cast<std::size_t>(from * size + to)] / 1e6), Source::measured};
        }
}

}  // namespace baton::topology
