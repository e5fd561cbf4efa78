// How a side of a row is timed, on a library that only takes time.
#include "perf/side.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "perf/comparison.hpp"

namespace baton::bench::perf {
namespace {

/// A library whose calls do nothing, except that one of them sleeps.
class Hiccup final : public Library {
public:
    explicit Hiccup(int slow_call) : slow_call_(slow_call) {}

    Buffers buffers() const override { return {send_, recv_, nullptr}; }
    void issue(const Call &) override {
        if (++issued_ == slow_call_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    }
    int issued() const { return issued_; }

private:
    alignas(64) mutable std::byte send_[64];
    alignas(64) mutable std::byte recv_[64];
    const int slow_call_;
    int issued_ = 0;
};

class Sides : public testing::Test {
protected:
    /// How many calls, at most 10, a round of 20 ms has after a warm-up of `warm_up` calls.
    int calls_after(int warm_up, Hiccup &library) const {
        const Shape shape{Kind::sendrecv, BATON_FLOAT32, BATON_SUM, 16, InPlaceForm::no};
        Side side(communicator_, shape, Mode::eager, verifier_, library);
        return calls_for(0.02, side.warm_up(warm_up), 10);
    }

    const World world_;
    const Communicator communicator_{world_, MemorySpace::host};
    const Verifier verifier_{communicator_};
};

TEST_F(Sides, ASlowCallOfTheWarmUpDoesNotDecideHowManyFollow) {
    for (const int slow_call : {1, 2, 3, 4, 5}) {
        Hiccup library(slow_call);
        EXPECT_EQ(calls_after(5, library), 10) << slow_call;
        EXPECT_EQ(library.issued(), 5);
    }
}

TEST_F(Sides, AWarmUpHasTheCallsThatItWasToldTo) {
    for (const int calls : {0, 1, 2, 3, 8, 100}) {
        Hiccup library(-1);
        calls_after(calls, library);
        EXPECT_EQ(library.issued(), calls);
    }
}

}  // namespace
}  // namespace baton::bench::perf
