#pragma once

#include <string>
#include <vector>

#include "collectives/selection.hpp"
#include "collectives/tuning_file.hpp"

/// The requests that the tests of select() make, and their communicators.
namespace baton::core {

inline constexpr const char *gpu_table = R"({"version": 1, "tables": [{
    "gpu": "NVIDIA H200", "link": "NVSwitch", "ranks": 8, "operations": {
        "allgather": [{"up_to": 65536, "algorithm": "packet", "mover": "kernel", "grain": 256},
                      {"up_to": 8388607, "algorithm": "push", "mover": "kernel", "grain": 8192},
                      {"algorithm": "push", "mover": "copy_engine", "channels": 24}],
        "reduce_scatter": [{"up_to": 65536, "algorithm": "packet", "mover": "kernel", "grain": 256},
                           {"algorithm": "pull", "mover": "kernel", "grain": 8192}],
        "allreduce": [{"up_to": 65536, "algorithm": "packet", "mover": "kernel", "grain": 256},
                      {"algorithm": "two_shot", "mover": "kernel", "grain": 65536}],
        "send": [{"up_to": 8192, "algorithm": "packet", "mover": "kernel", "channels": 1},
                 {"up_to": 65536, "algorithm": "packet", "mover": "kernel", "grain": 4096},
                 {"algorithm": "push", "mover": "kernel", "grain": 16384}],
        "put": [{"up_to": 8388607, "algorithm": "direct", "mover": "kernel", "grain": 65536},
                {"algorithm": "direct", "mover": "copy_engine"}]}}]})";

inline constexpr const char *host_table = R"({"version": 1, "tables": [{
    "gpu": "host", "link": "shared memory", "ranks": 4, "operations": {
        "allgather": [{"up_to": 8192, "algorithm": "packet", "mover": "host"}, {"algorithm": "push", "mover": "host"}],
        "send": [{"algorithm": "push", "mover": "host"}]}}]})";

inline Capabilities gpu(int size) {
    Capabilities capabilities;
    capabilities.size = size;
    capabilities.on_gpu = true;
    capabilities.reaches_buffers = true;
    capabilities.reach_reason = "mapped";
    capabilities.channels = 32;
    capabilities.packet_bytes = 65536;
    capabilities.packet_channel_bytes = 2064;
    capabilities.message_bytes = 65536;
    capabilities.segment_bytes = 1 << 20;
    capabilities.tuning = parse_tuning(gpu_table, "test");
    return capabilities;
}

/// GPUs that do not reach each other.
inline Capabilities gpu_apart(int size) {
    Capabilities capabilities = gpu(size);
    capabilities.reaches_buffers = false;
    capabilities.message_staged_bytes = 2 << 20;
    return capabilities;
}

inline Capabilities host() {
    Capabilities capabilities;
    capabilities.size = 4;
    capabilities.packet_bytes = 8192;
    capabilities.packet_channel_bytes = 8208;
    capabilities.message_bytes = 16384;
    capabilities.message_staged_bytes = 65536;
    capabilities.reach_reason = "refused";
    capabilities.tuning = parse_tuning(host_table, "test");
    return capabilities;
}

inline Request request(baton_operation operation, std::uint64_t bytes) {
    Request made;
    made.operation = operation;
    made.count = bytes;
    made.bytes = bytes;
    return made;
}

inline Plan plan_for(baton_operation operation, std::uint64_t bytes, const Capabilities &capabilities) {
    return select(request(operation, bytes), capabilities);
}
inline std::string text_for(baton_operation operation, std::uint64_t bytes, const Capabilities &capabilities) {
    const Request asked = request(operation, bytes);
    return describe(select(asked, capabilities), asked, capabilities);
}

/// A machine that the compiled-in tables were not measured on.
inline Capabilities linked(Capabilities capabilities, const Links &links) {
    capabilities.links = links;
    for (TuningTable &table : capabilities.tuning) table.built_in = true;
    return capabilities;
}
inline Links ring_of(const std::vector<int> &order) { return {Links::Shape::ring, order, {}, "a ring of NVLinks"}; }
inline Links islands_of(const std::vector<int> &island) {
    return {Links::Shape::islands, {}, island, "2 NVLink islands"};
}

}  // namespace baton::core
