#include <gtest/gtest.h>

#include <thread>

#include "cases.hpp"
#include "reduce_reference.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/host/move.hpp"

namespace baton::test {
namespace {

using core::Packet;

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
    for (const std::size_t bytes : {0, 1, 2, 7, 8, 9, 15, 16, 63, 64, 65, 255, 256, 257, 1021}) {
        for (std::size_t offset = 0; offset <= 16; ++offset) {
            const Layout layout(3, bytes, {offset, 5});
            Bytes memory(layout.size(), 0xA5);
            fill_random_bytes(memory.data() + layout.at(0), bytes, random);
            std::vector<Packet> wires[2];
            for (auto &wire : wires) wire.assign(core::packets_for(bytes), Packet{~0ULL, 0});
            Packet *to[] = {wires[0].data(), wires[1].data()};
            Bytes expected = memory;
            for (const int d : {1, 2}) std::memcpy(expected.data() + layout.at(d), memory.data() + layout.at(0), bytes);
            core::put_packets(to, 2, memory.data() + layout.at(0), bytes, ++epoch);
            for (const int d : {1, 2}) {
                EXPECT_TRUE(core::take_packets(memory.data() + layout.at(d), to[d - 1], bytes, epoch, never));
            }
            EXPECT_TRUE(memory == expected) << bytes << " bytes, offset " << offset;
        }
    }
}

TEST(Packets, OldOnesAreNotTakenAndTheWaitEnds) {
    std::uint64_t data = 42;
    std::uint64_t result = 7;
    Packet wire{0, 0};
    Packet *to[] = {&wire};
    core::put_packets(to, 1, &data, sizeof data, 3);
    Limited limited{5};
    EXPECT_FALSE(core::take_packets(&result, &wire, sizeof data, 4, limited));
    EXPECT_EQ(limited.left, -1);
    EXPECT_EQ(result, 7U);
    const auto packets_of = [&](int rank) { return rank == 0 ? &wire : nullptr; };
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
    std::vector<std::vector<Packet>> wires(static_cast<std::size_t>(ranks));
    std::vector<const Packet *> sources;
    for (int r = 0; r < ranks; ++r) {
        auto &wire = wires[static_cast<std::size_t>(r)];
        wire.assign(core::packets_for(bytes), Packet{~0ULL, 0});
        fill_random<T>(memory.data() + layout.at(r), count, random);
        Packet *to[] = {wire.data()};
        core::put_packets(to, 1, memory.data() + layout.at(r), bytes, 9);
        sources.push_back(r == own ? nullptr : wire.data());
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
    const auto packets_of = [&](int rank) { return sources[static_cast<std::size_t>(rank)]; };
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
                for (const std::size_t count : {1, 2, 9, 67}) {
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
    constexpr std::size_t bytes = 597;  // three groups of the host's, the last one short
    std::vector<Packet> there(core::packets_for(bytes));
    std::vector<Packet> back(core::packets_for(bytes));
    std::thread echo([&] {
        Yielding spin;
        unsigned char data[bytes];
        Packet *to[] = {back.data()};
        for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
            core::take_packets(data, there.data(), bytes, epoch, spin);
            for (unsigned char &byte : data) ++byte;
            core::put_packets(to, 1, data, bytes, epoch);
        }
    });
    Yielding spin;
    unsigned char sent[bytes];
    unsigned char got[bytes];
    Packet *to[] = {there.data()};
    std::size_t wrong = 0;
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
        for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<unsigned char>(i * epoch);
        core::put_packets(to, 1, sent, bytes, epoch);
        core::take_packets(got, back.data(), bytes, epoch, spin);
        for (std::size_t i = 0; i < bytes; ++i) wrong += got[i] != static_cast<unsigned char>(sent[i] + 1);
    }
    echo.join();
    EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace baton::test
