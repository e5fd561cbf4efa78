#include <cstdint>

#include "cases.hpp"
#include "gpu_support.cuh"
#include "transport/element/dispatch.hpp"
#include "transport/host/move.hpp"
#include "transport/kernel/packet_move.cuh"

/// Packets on a GPU: blocks of one kernel are the sender and the receiver. Reductions are compared with the host's.
namespace baton::test {
namespace {

using core::Packet;
constexpr int threads = 128;

struct Limited {
    long long left;
    __host__ __device__ bool operator()() { return left-- > 0; }
};
/// Polls after which a wait counts as hung in these tests; they take seconds.
constexpr long long patience = 10'000'000;

/// Block 0 sends source to both wires, blocks 1 and 2 take them. *gave_up counts the threads whose waits were ended.
__global__ void pass_packets(Packet *const *wires, const void *source, void *const *destinations, std::size_t bytes,
                             std::uint64_t epoch, int *gave_up) {
    if (blockIdx.x == 0) {
        for (int wire = 0; wire < 2; ++wire) core::on_device::put_packets(wires[wire], source, bytes, epoch);
        return;
    }
    Limited spin{patience};
    const unsigned index = blockIdx.x - 1;
    if (!core::on_device::take_packets(destinations[index], wires[index], bytes, epoch, blockDim.x, spin))
        atomicAdd(gave_up, 1);
}

__global__ void take_only(void *destination, const Packet *wire, std::size_t bytes, std::uint64_t epoch, int *gave_up) {
    Limited spin{100};
    if (!core::on_device::take_packets(destination, wire, bytes, epoch, blockDim.x - 32, spin)) atomicAdd(gave_up, 1);
}

template <class T>
__global__ void reduce_kernel(T *destination, const Packet *const *sources, const T *own, int ranks, std::size_t count,
                              int op, std::uint64_t epoch, int *gave_up) {
    Limited spin{patience};
    const auto packets_of = [&](int rank) { return sources[rank]; };
    if (!core::on_device::reduce_packets<T>(destination, packets_of, own, ranks, count, op, epoch, blockDim.x, spin)) {
        atomicAdd(gave_up, 1);
    }
}

class PacketsGpu : public OnGpu {};

TEST_F(PacketsGpu, CarryAnySizeFromAndToAnyAddress) {
    std::mt19937_64 random(7);
    std::uint64_t epoch = 0;
    const DeviceArray<int> gave_up(std::vector<int>{0});
    const DeviceArray<Packet> wire_memory(2 * core::packets_for(20011));
    check_cuda(cudaMemset(wire_memory.data(), 0, wire_memory.size() * sizeof(Packet)), "cudaMemset");
    DevicePointers<Packet *> wires;
    DevicePointers<void *> destinations;
    for (const std::size_t bytes : {0, 1, 2, 7, 8, 9, 15, 16, 63, 64, 65, 1021, 20011}) {
        for (std::size_t offset = 0; offset <= 16; ++offset) {
            const Layout layout(3, bytes, {offset, 5});
            Bytes memory(layout.size(), 0xA5);
            fill_random_bytes(memory.data() + layout.at(0), bytes, random);
            DeviceArray<unsigned char> arena(memory.size());
            arena.upload(memory.data());
            pass_packets<<<3, threads>>>(wires.set({wire_memory.data(), wire_memory.data() + core::packets_for(20011)}),
                                         arena.data() + layout.at(0),
                                         destinations.set({arena.data() + layout.at(1), arena.data() + layout.at(2)}),
                                         bytes, ++epoch, gave_up.data());
            finish_kernel("pass_packets");
            for (const int d : {1, 2}) std::memcpy(memory.data() + layout.at(d), memory.data() + layout.at(0), bytes);
            Bytes got(memory.size());
            arena.download(got.data());
            EXPECT_TRUE(got == memory) << bytes << " bytes, offset " << offset;
        }
    }
    EXPECT_EQ(gave_up.values()[0], 0);
}

TEST_F(PacketsGpu, OldOnesAreNotTakenAndTheWaitEnds) {
    const DeviceArray<int> gave_up(std::vector<int>{0});
    const DeviceArray<Packet> wire(std::vector<Packet>{{1, 3}, {2, 3}});
    const DeviceArray<std::uint64_t> result(std::vector<std::uint64_t>{7, 7});
    take_only<<<1, threads>>>(result.data(), wire.data(), 16, 4, gave_up.data());
    finish_kernel("take_only");
    EXPECT_EQ(gave_up.values()[0], 2);  // the two threads that had a packet to wait for
    EXPECT_EQ(result.values(), (std::vector<std::uint64_t>{7, 7}));
}

template <class T>
void check_reduce_packets(int op, int ranks, int own, std::size_t count, Placement placement, bool in_place) {
    std::mt19937_64 random(count + 1);
    const std::size_t bytes = count * sizeof(T);
    const std::size_t packets = core::packets_for(bytes);
    const Layout layout(ranks + 1, bytes, placement);
    Bytes memory(layout.size(), 0xA5);
    std::vector<Packet> host_wires(packets * static_cast<std::size_t>(ranks));
    const DeviceArray<Packet> device_wires(host_wires.size());
    std::vector<const T *> host_sources;
    std::vector<const Packet *> device_sources;
    for (int r = 0; r < ranks; ++r) {
        const std::size_t at = packets * static_cast<std::size_t>(r);
        fill_random<T>(memory.data() + layout.at(r), count, random);
        for (std::size_t i = 0; i < packets; ++i) {
            Packet &packet = host_wires[at + i] = {0, 9};
            std::memcpy(&packet.payload, memory.data() + layout.at(r) + i * core::packet_payload,
                        std::min(core::packet_payload, bytes - i * core::packet_payload));
        }
        host_sources.push_back(reinterpret_cast<const T *>(memory.data() + layout.at(r)));
        device_sources.push_back(r == own ? nullptr : device_wires.data() + at);
    }
    check_cuda(
        cudaMemcpy(device_wires.data(), host_wires.data(), host_wires.size() * sizeof(Packet), cudaMemcpyHostToDevice),
        "upload of packets");
    DeviceArray<unsigned char> arena(memory.size());
    arena.upload(memory.data());
    const std::size_t target = layout.at(in_place ? own : ranks);
    const DeviceArray<int> gave_up(std::vector<int>{0});
    DevicePointers<const Packet *> sources;
    reduce_kernel<T><<<1, threads>>>(reinterpret_cast<T *>(arena.data() + target), sources.set(device_sources),
                                     reinterpret_cast<const T *>(arena.data() + layout.at(own)), ranks, count, op, 9,
                                     gave_up.data());
    finish_kernel("reduce_packets");
    core::on_host::reduce_block<T>(reinterpret_cast<T *>(memory.data() + target), host_sources.data(), ranks, count,
                                   op);
    Bytes got(memory.size());
    arena.download(got.data());
    EXPECT_TRUE(got == memory) << "op " << op << ", " << ranks << " ranks, own " << own << ", " << count
                               << " elements, " << describe(placement) << ", in place " << in_place;
    EXPECT_EQ(gave_up.values()[0], 0);
}

class ReducePacketsGpu : public OnGpu, public ::testing::WithParamInterface<int> {};

TEST_P(ReducePacketsGpu, GivesTheBitsOfTheHost) {
    core::dispatch_type(static_cast<baton_type>(GetParam()), [&]<class T>() {
        for (int op = 0; op < BATON_OP_COUNT; ++op) {
            if (!core::op_defined(static_cast<baton_type>(GetParam()), static_cast<baton_op>(op))) continue;
            for (const int ranks : {1, 2, 3, 8, 9, 17}) {
                check_reduce_packets<T>(op, ranks, ranks / 2, 1, {0, 0}, false);
                check_reduce_packets<T>(op, ranks, ranks - 1, 1021, {sizeof(T), 0}, true);
            }
        }
        for (std::size_t offset = 1; offset <= 16; ++offset) {
            check_reduce_packets<T>(BATON_SUM, 3, 0, 131, {offset, 1}, false);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Types, ReducePacketsGpu, ::testing::Range(0, static_cast<int>(BATON_TYPE_COUNT)));

}  // namespace
}  // namespace baton::test
