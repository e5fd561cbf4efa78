#include "startup/measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <vector>

#include "api/calls.hpp"
#include "environment.hpp"
#include "gpu.hpp"
#include "topology/host.hpp"

namespace baton::bench::startup {

namespace {

constexpr std::size_t count = 1024;
constexpr std::int32_t contribution = 0x01010101;  // every rank's, to every element

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// What an allreduce adds up, and where the sums go.
struct Buffers {
    explicit Buffers(bool on_gpu) : host(on_gpu ? 0 : 2 * count, contribution) {
        if (!on_gpu) {
            return;
        }
        stream = gpu::create_stream();
        device = gpu::allocate(2 * count * sizeof(std::int32_t));
        gpu::set_bytes(device, contribution & 0xff, 2 * count * sizeof(std::int32_t), stream);
        gpu::synchronize(stream);
    }
    ~Buffers() {
        if (stream != nullptr) {
            gpu::release(device);
            gpu::destroy_stream(stream);
        }
    }
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;

    std::int32_t *send() { return device != nullptr ? static_cast<std::int32_t *>(device) : host.data(); }
    std::int32_t *recv() { return send() + count; }
    void wait() const {
        if (stream != nullptr) {
            gpu::synchronize(stream);
        }
    }
    bool right(int ranks) {
        std::vector<std::int32_t> result(recv(), recv() + (device == nullptr ? count : 0));
        if (device != nullptr) {
            result.resize(count);
            gpu::copy_out(result.data(), recv(), count * sizeof(std::int32_t), stream);
        }
        return std::all_of(result.begin(), result.end(), [=](std::int32_t sum) { return sum == ranks * contribution; });
    }

    std::vector<std::int32_t> host;
    void *device = nullptr;
    void *stream = nullptr;
};

}  // namespace

double process_age() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string skipped;
    for (int field = 3; field < 22; ++field) {
        fields >> skipped;
    }
    double ticks = 0;
    if (!(fields >> ticks)) {
        return 0;
    }
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double up = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    return std::max(0.0, up - ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

void create_and_call(const World &world, const Options &options, Start &start) {
    start.before.begin("GPU");
    const bool on_gpu = choose_memory_space(world, options.device) == MemorySpace::gpu;
    if (on_gpu) {
        select_gpu(world);
    }
    start.before.begin("wait for all ranks");
    world.barrier();
    start.before.end();

    const double before = resident_bytes();
    baton_config config;
    check(baton_config_init(&config));
    if (!on_gpu) {
        config.transport = host_transport();
    }
    baton_comm_t comm = nullptr;
    core::Phases calls;
    calls.begin("create");
    check(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
    calls.end();
    start.creation = core::find_comm(comm)->creation();
    start.info.struct_size = sizeof(start.info);
    check(baton_comm_info(comm, &start.info));
    {
        start.after.begin("buffers");
        Buffers buffers(on_gpu);
        start.after.begin("first call");
        check(baton_allreduce(buffers.send(), buffers.recv(), count, BATON_INT32, BATON_SUM, comm, buffers.stream));
        buffers.wait();
        start.after.end();
        start.age = process_age();
        start.right = buffers.right(start.info.size);
    }
    start.call_seconds = calls.seconds() + start.after.all().back().seconds;
    start.resident_growth = resident_bytes() - before;
    start.hwloc_loads = topology::hwloc_loads();
    check(baton_comm_destroy(comm));
}

}  // namespace baton::bench::startup
