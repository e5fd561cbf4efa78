#include "limits/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu.hpp"
#include "limits/host_cost.hpp"
#include "limits/lanes.hpp"

namespace baton::bench {

namespace {

constexpr int rounds = 5;
constexpr std::size_t mebibyte = std::size_t{1} << 20U;
constexpr Traffic patterns[] = {Traffic::all_pairs, Traffic::ring, Traffic::pairs};
constexpr int launches = 1000;

/// Bytes that a rank sends at once to measure bandwidth. Each size is sent as often as gives `bytes_of_round` together.
const std::vector<std::size_t> gpu_sizes{512 * mebibyte};
const std::vector<std::size_t> host_sizes{mebibyte / 16, mebibyte / 4, mebibyte, 4 * mebibyte, 16 * mebibyte};
constexpr std::size_t gpu_bytes_of_round = 4096 * mebibyte;
constexpr std::size_t host_bytes_of_round = 32 * mebibyte;

/// The best of some rounds, each timed by its slowest rank: a limit is what was possible, not what was usual.
template <class Body>
double best_of_rounds(const Communicator &communicator, const Body &body) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        communicator.world().barrier();
        const double start = seconds_now();
        body();
        communicator.synchronize();
        times.push_back(seconds_now() - start);
    }
    times = communicator.world().max(std::move(times));
    return *std::min_element(times.begin(), times.end());
}

double measure_launch(const Communicator &communicator, bool graph) {
    void *stream = communicator.stream();
    const auto launch_all = [stream] {
        for (int launch = 0; launch < launches; ++launch) {
            gpu::launch_empty(stream);
        }
    };
    const auto captured = graph ? gpu::capture(stream, launch_all) : nullptr;
    const auto run = [&] { captured != nullptr ? captured->launch(stream) : launch_all(); };
    run();  // the first one loads the kernel and uploads the graph
    communicator.synchronize();
    return best_of_rounds(communicator, run) / launches;
}

/// Half a round trip. The difference between a long and a short series cancels what starting and ending cost.
double measure_flight(const Communicator &communicator, Lanes &lanes) {
    constexpr std::uint64_t probe = 8;
    lanes.ping_pong(probe);
    const double trip = best_of_rounds(communicator, [&] { lanes.ping_pong(probe); }) / probe;
    // The short series takes about 2 ms, or longer where ranks take turns on a GPU.
    const auto few = static_cast<std::uint64_t>(std::clamp(2e-3 / trip, 8.0, 2000.0));
    const double short_series = best_of_rounds(communicator, [&] { lanes.ping_pong(few); });
    const double long_series = best_of_rounds(communicator, [&] { lanes.ping_pong(9 * few); });
    return std::max(long_series - short_series, 0.0) / static_cast<double>(8 * few) / 2;
}

Limits::Copies measure_copies(const Communicator &communicator, const Lanes &lanes, Traffic traffic,
                              std::size_t bytes) {
    const std::size_t in_round = communicator.on_gpu() ? gpu_bytes_of_round : host_bytes_of_round;
    const std::size_t pushes = std::max<std::size_t>(in_round / bytes, 1);
    const double sent = communicator.world().max(static_cast<double>(lanes.push(traffic, bytes)));
    communicator.synchronize();
    const double seconds = best_of_rounds(communicator, [&] {
        for (std::size_t push = 0; push < pushes; ++push) {
            lanes.push(traffic, bytes);
        }
    });
    return {bytes, sent * static_cast<double>(pushes) / seconds};
}

std::string size_text(std::size_t bytes) {
    return bytes < mebibyte ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} MiB", bytes / mebibyte);
}

std::string copies_text(const Limits &limits) {
    std::string text =
        fmt::format("all ranks at once, best of {} rounds, slowest rank, GB/s that a rank sends", rounds);
    for (const Traffic traffic : patterns) {
        std::string figures;
        for (const Limits::Copies &copies : limits.copies.at(traffic)) {
            figures += fmt::format("{}{:.1f} at {}", figures.empty() ? "" : ", ", copies.bandwidth / 1e9,
                                   size_text(copies.bytes));
        }
        text += fmt::format("; {}: {}", traffic_name(traffic), figures);
    }
    return text;
}

void describe(Limits &limits, const Communicator &communicator, bool graph) {
    if (communicator.on_gpu()) {
        limits.how.push_back(
            fmt::format("limit of latency: {:.2f} us = an empty kernel, one of {} {} ({:.2f}), and a flag from a "
                        "kernel of one rank "
                        "to a kernel of another, half a round trip ({:.2f})",
                        limits.latency() * 1e6, launches, graph ? "in a CUDA graph" : "launched in a row",
                        limits.launch * 1e6, limits.flight * 1e6));
        // Windows of GPUs that do not reach each other lie in host memory.
        const char *where = communicator.info().peer_access != 0 ? "the others'" : "host";
        limits.how.push_back(
            fmt::format("limit of bandwidth: copy engines (cudaMemcpyBatchAsync to several ranks, cudaMemcpyAsync "
                        "to one) into {} memory, {}",
                        where, copies_text(limits)));
        limits.how.push_back(fmt::format("a bare kernel launch takes the host {:.2f} us", limits.launch_host * 1e6));
    } else {
        limits.how.push_back(
            fmt::format("limit of latency: {:.2f} us = a flag through shared memory from one rank to "
                        "another, half a round trip",
                        limits.latency() * 1e6));
        limits.how.push_back("limit of bandwidth: memcpy into the others' shared pages, " + copies_text(limits));
    }
    limits.how.emplace_back(
        "wire = (limit of latency + bytes that a rank must send / limit of bandwidth) / time; "
        "the limit of all_pairs is the larger of all_pairs and ring");
}

}  // namespace

double Limits::bandwidth(Traffic traffic, double bytes) const {
    const double own = measured(traffic, bytes);
    return traffic == Traffic::all_pairs ? std::max(own, measured(Traffic::ring, bytes)) : own;
}

double Limits::measured(Traffic traffic, double bytes) const {
    const auto found = copies.find(traffic);
    if (found == copies.end() || found->second.empty()) {
        return 0;
    }
    for (const Copies &one : found->second) {
        if (static_cast<double>(one.bytes) >= bytes) {
            return one.bandwidth;
        }
    }
    return found->second.back().bandwidth;
}

double Limits::seconds(Traffic traffic, double bytes) const {
    if (traffic == Traffic::none || bytes <= 0) {
        return latency();
    }
    const double most = bandwidth(traffic, bytes);
    return most > 0 ? latency() + bytes / most : 0;
}

const char *traffic_name(Traffic traffic) {
    constexpr const char *names[] = {"none", "all_pairs", "ring", "pairs"};
    return names[static_cast<int>(traffic)];
}

Limits measure_limits(const Communicator &communicator, bool graph) {
    Limits limits;
    if (communicator.size() == 1) {
        limits.how.emplace_back("no limit: one rank sends nothing");
        return limits;
    }
    const bool on_gpu = communicator.on_gpu();
    const std::vector<std::size_t> &sizes = on_gpu ? gpu_sizes : host_sizes;
    Lanes lanes(communicator, sizes.back());
    if (on_gpu) {
        limits.launch = measure_launch(communicator, graph);
        limits.launch_host = host_seconds(communicator, launches, [&] { gpu::launch_empty(communicator.stream()); });
    }
    limits.flight = measure_flight(communicator, lanes);
    for (const Traffic traffic : patterns) {
        for (const std::size_t bytes : sizes) {
            limits.copies[traffic].push_back(measure_copies(communicator, lanes, traffic, bytes));
        }
    }
    describe(limits, communicator, graph);
    return limits;
}

}  // namespace baton::bench
