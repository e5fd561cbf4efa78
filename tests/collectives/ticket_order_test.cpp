#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "transport/host/host_stream.hpp"

namespace baton::core {
namespace {

/// A ticket that nobody could take has no turn: later tickets do not wait for it.
TEST(TicketOrder, ATicketThatCouldNotBeTakenIsGivenAgain) {
    TicketOrder order;
    EXPECT_EQ(order.issue([](std::uint64_t) {}), 0u);
    EXPECT_THROW(order.issue([](std::uint64_t) { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_EQ(order.issued(), 1u);
    EXPECT_FALSE(order.has_run(1));
    int done = 0;
    order.run(0, [&] { ++done; });
    EXPECT_TRUE(order.has_run(1));
    EXPECT_FALSE(order.has_run(2));
    order.run(order.issue([](std::uint64_t ticket) { EXPECT_EQ(ticket, 1u); }), [&] { ++done; });
    order.drain();
    EXPECT_EQ(done, 2);
}

/// Threads that come in the opposite order run in the order of their tickets, also past one that throws.
TEST(TicketOrder, RunsByTickets) {
    constexpr std::uint64_t tickets = 8;
    TicketOrder order;
    for (std::uint64_t i = 0; i < tickets; ++i) order.issue([](std::uint64_t) {});
    std::vector<std::uint64_t> ran;
    std::vector<std::thread> threads;
    for (std::uint64_t i = tickets; i-- > 0;) {
        threads.emplace_back([&order, &ran, i] {
            try {
                order.run(i, [&] {
                    ran.push_back(i);
                    if (i == 3) throw 1;
                });
            } catch (int) {
                return;
            }
        });
    }
    order.drain();
    for (std::thread &thread : threads) thread.join();
    ASSERT_EQ(ran.size(), tickets);
    for (std::uint64_t i = 0; i < tickets; ++i) EXPECT_EQ(ran[i], i);
}

/// Whoever has waited in drain() may destroy the object: the thread of the last turn has let go of it by then.
TEST(TicketOrder, MayBeDestroyedOnceDrained) {
    for (int round = 0; round < 200; ++round) {
        auto order = std::make_unique<TicketOrder>();
        const std::uint64_t ticket = order->issue([](std::uint64_t) {});
        std::thread thread([&order = *order, ticket] { order.run(ticket, [] {}); });
        order->drain();
        order.reset();
        thread.join();
    }
}

}  // namespace
}  // namespace baton::core
