#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "cases.hpp"
#include "reduce_reference.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/host/move.hpp"

namespace baton::test {
namespace {

using core::HostPackets;
using core::Packet;

/// Memory for the packets of `bytes`, full of old packets.
class Wire {
public:
    explicit Wire(std::size_t bytes)
        : memory_(core::packets_for(bytes) + core::host_packet_epochs, Packet{~0ULL, ~0ULL}) {
        memory_.back() = {0, 0};
    }
    HostPackets packets() const { return HostPackets::in(const_cast<Packet *>(memory_.data()), memory_.size()); }

private:
    std::vector<Packet> memory_;
};

struct Yielding {
    bool operator()() {
        std::this_thread::yield();
        return true;
    }
};

struct Limited {
    int left;
    bool operator()() { return left-- > 0; }
};

TEST(Packets, CarryAnySizeFromAndToAnyAddress) {
    std::mt19937_64 random(7);
    Limited never{0};
    std::uint64_t epoch = 0;
    for (const std::size_t bytes : {0, 1, 2, 7, 8, 9, 15, 16, 63, 64, 65, 1021, 1023, 1024, 1025, 5000}) {
        for (std::size_t offset = 0; offset <= 16; ++offset) {
            const Layout layout(2, bytes, {offset, 5});
            Bytes memory(layout.size(), 0xA5);
            fill_random_bytes(memory.data() + layout.at(0), bytes, random);
            const Wire wire(bytes);
            Bytes expected = memory;
            std::memcpy(expected.data() + layout.at(1), memory.data() + layout.at(0), bytes);
            core::put_packets(wire.packets(), memory.data() + layout.at(0), bytes, ++epoch);
            EXPECT_TRUE(core::take_packets(memory.data() + layout.at(1), wire.packets(), bytes, epoch, never));
            EXPECT_TRUE(memory == expected) << bytes << " bytes, offset " << offset;
        }
    }
}

TEST(Packets, OldOnesAreNotTakenAndTheWaitEnds) {
    std::uint64_t data = 42;
    std::uint64_t result = 7;
    const Wire wire(sizeof data);
    core::put_packets(wire.packets(), &data, sizeof data, 3);
    Limited limited{5};
    EXPECT_FALSE(core::take_packets(&result, wire.packets(), sizeof data, 4, limited));
    EXPECT_EQ(limited.left, -1);
    EXPECT_EQ(result, 7U);
    const auto packets_of = [&](int rank) { return rank == 0 ? wire.packets() : HostPackets{}; };
    Limited again{5};
    EXPECT_FALSE(core::reduce_packets<std::uint64_t>(&result, packets_of, &data, 2, 1, BATON_SUM, 4, again));
    EXPECT_EQ(result, 7U);
}

/// Rank `own` contributes from its own memory, the others by packets.
template <class T>
void check_reduce_packets(int op, int ranks, int own, std::size_t count, Placement placement, bool in_place) {
    std::mt19937_64 random(count + 1);
    const std::size_t bytes = count * sizeof(T);
    const Layout layout(ranks + 1, bytes, placement);
    Bytes memory(layout.size(), 0xA5);
    const std::vector<Wire> wires(static_cast<std::size_t>(ranks), Wire(bytes));
    for (int r = 0; r < ranks; ++r) {
        fill_random<T>(memory.data() + layout.at(r), count, random);
        core::put_packets(wires[static_cast<std::size_t>(r)].packets(), memory.data() + layout.at(r), bytes, 9);
    }
    Bytes expected = memory;
    const std::size_t target = layout.at(in_place ? own : ranks);
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<T> elements(static_cast<std::size_t>(ranks));
        for (int r = 0; r < ranks; ++r) {
            std::memcpy(&elements[static_cast<std::size_t>(r)], memory.data() + layout.at(r) + i * sizeof(T),
                        sizeof(T));
        }
        const T result = reference_reduce<T>(op, elements);
        std::memcpy(expected.data() + target + i * sizeof(T), &result, sizeof(T));
    }
    const auto packets_of = [&](int rank) {
        return rank == own ? HostPackets{} : wires[static_cast<std::size_t>(rank)].packets();
    };
    Limited never{0};
    EXPECT_TRUE(core::reduce_packets<T>(reinterpret_cast<T *>(memory.data() + target), packets_of,
                                        reinterpret_cast<const T *>(memory.data() + layout.at(own)), ranks, count, op,
                                        9, never));
    EXPECT_TRUE(memory == expected) << ranks << " ranks, own " << own << ", " << count << " elements, "
                                    << describe(placement);
}

class ReducePackets : public ::testing::TestWithParam<int> {};

TEST_P(ReducePackets, EqualsTheReference) {
    core::dispatch_type(static_cast<baton_type>(GetParam()), [&]<class T>() {
        for (int op = 0; op < BATON_OP_COUNT; ++op) {
            if (!core::op_defined(static_cast<baton_type>(GetParam()), static_cast<baton_op>(op))) continue;
            SCOPED_TRACE(op);
            for (const int ranks : {1, 2, 3, 8, 9, 17}) {
                for (const std::size_t count : {1, 2, 9, 67, 1100}) {
                    check_reduce_packets<T>(op, ranks, ranks / 2, count, {0, 0}, false);
                    check_reduce_packets<T>(op, ranks, ranks - 1, count, {sizeof(T), 0}, true);
                }
            }
            for (std::size_t offset = 1; offset <= 16; ++offset)
                check_reduce_packets<T>(op, 3, 0, 13, {offset, 1}, false);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Types, ReducePackets, ::testing::Range(0, static_cast<int>(BATON_TYPE_COUNT)));

TEST(Packets, TwoThreadsPassThemBackAndForth) {
    // A packet may be written again because the other side has answered it: the same words serve every epoch.
    constexpr std::uint64_t epochs = 2000;
    // One group and several; what was payload at one size is none at another.
    constexpr std::size_t most = 2597;
    const auto bytes_in = [](std::uint64_t epoch) {
        constexpr std::size_t sizes[] = {most, 1, 1025, 8, 1024};
        return sizes[epoch % 5];
    };
    const Wire there(most);
    const Wire back(most);
    std::thread echo([&] {
        Yielding spin;
        unsigned char data[most];
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
            const std::size_t bytes = bytes_in(epoch);
            core::take_packets(data, there.packets(), bytes, epoch, spin);
            for (std::size_t i = 0; i < bytes; ++i) ++data[i];
            core::put_packets(back.packets(), data, bytes, epoch);
        }
    });
    Yielding spin;
    unsigned char sent[most];
    unsigned char got[most];
    std::size_t wrong = 0;
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
        const std::size_t bytes = bytes_in(epoch);
        for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<unsigned char>(i * epoch);
        core::put_packets(there.packets(), sent, bytes, epoch);
        core::take_packets(got, back.packets(), bytes, epoch, spin);
        for (std::size_t i = 0; i < bytes; ++i) wrong += got[i] != static_cast<unsigned char>(sent[i] + 1);
    }
    echo.join();
    EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace baton::test
