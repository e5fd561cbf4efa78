// Lines that go from rank to rank. One rank's kernel runs here; its neighbour is slow.
#include "emulation/cuda.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "emulation/node.hpp"
#include "support/random_bytes.hpp"
#include "support/seed.hpp"
#include "transport/kernel/engine.cuh"

namespace baton::emulation {
namespace {

constexpr std::size_t run_bytes = core::lines_of_run * core::DataLine::payload;

/// Stores a run word by word, like eight threads: whoever polls reads meanwhile.
void put_run(core::DataLine *lines, const std::byte *data, std::uint64_t epoch) {
    for (unsigned line = 0; line < core::lines_of_run; ++line) {
        for (std::size_t at = 0; at < core::DataLine::payload; at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, data + line * core::DataLine::payload + at, sizeof(word));
            core::store_relaxed(reinterpret_cast<std::uint64_t *>(lines[line].data + at), word);
        }
        core::store_release(&lines[line].epoch, epoch);
    }
}

/// The whole pass takes longer than the timeout, but none of its waits does.
TEST(EmulatedLinePass, EveryWaitHasATimeoutOfItsOwn) {
    const std::uint64_t seed = test::draw_seed();
    Node::Settings settings;
    settings.channels = 1;
    settings.limits = {.packets = 64, .lines = 4096};
    settings.timeout_seconds = 2;
    Node node(2, settings);
    constexpr std::uint64_t runs = 6;
    const std::vector<std::byte> data = test::random_bytes(seed, runs * run_bytes);
    const core::Arrival arrival{core::Signature::make(BATON_BROADCAST, BATON_UINT8, 0, data.size()), {}, {}};
    const core::CommView &view = node.view(1);
    bool finished = false;

    std::thread receiver([&] {
        run_grid(1, 64, seed, [&] {
            __shared__ core::KernelShared shared;
            core::KernelEngine engine(view, shared, 0, 1);
            engine.begin(arrival);
            engine.verify_arrivals();
            engine.pass_lines({0, core::no_rank, nullptr, node.memory(1), data.size()});
            const bool done = engine.finish();
            if (threadIdx.x == 0) finished = done;
        });
    });
    const core::Arena there = view.own();
    for (int word = 0; word < core::Arrival::words; ++word)
        core::store_arrival_word(there.arrival(1, 0, 0), arrival, word, 1);
    const std::uint64_t places = 2 * view.layout.lines_per_channel / core::lines_of_run;
    ASSERT_LT(places, runs) << "so that the ring is gone round";
    const std::uint64_t *const taken = node.view(0).own().credit(0, 1);
    for (std::uint64_t run = 0; run < runs; ++run) {
        std::this_thread::sleep_for(std::chrono::milliseconds(450));
        while (core::step_of(core::load_acquire(taken)) + places <= run) std::this_thread::yield();
        put_run(there.lines(1, 0, 0) + run % places * core::lines_of_run, data.data() + run * run_bytes,
                core::epoch_of_round(1, run / places));
    }
    receiver.join();
    EXPECT_TRUE(finished);
    EXPECT_TRUE(node.errors().empty());
    EXPECT_EQ(std::memcmp(node.memory(1), data.data(), data.size()), 0);
    EXPECT_EQ(core::load_acquire(taken), core::step_value(1, runs));
}

}  // namespace
}  // namespace baton::emulation
