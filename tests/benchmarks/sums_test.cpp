// Judging sums whose order is not known: right ones in any order pass, a missing or doubled input does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "reference.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::bench {
namespace {

constexpr std::size_t count = 5000;
constexpr int ranks = 8;

/// The ranks' inputs added in `order`, each step rounded to T, without the rank `left_out` (-1: with all).
template <class T>
std::vector<T> sums(baton_type type, const std::vector<int> &order, int left_out) {
    std::vector<std::vector<T>> inputs;
    for (int rank = 0; rank < ranks; ++rank) {
        inputs.emplace_back(count);
        fill_host(make_pattern(type, rank, 3), inputs.back().data(), count * sizeof(T));
    }
    using Element = core::Element<T>;
    std::vector<T> result(count);
    for (std::size_t i = 0; i < count; ++i) {
        T sum = Element::store(0);
        for (const int rank : order) {
            if (rank != left_out) {
                const T input = inputs[static_cast<std::size_t>(rank)][i];
                sum = Element::store(Element::load(sum) + Element::load(input));
            }
        }
        result[i] = sum;
    }
    return result;
}

Reduction any_order(baton_type type) {
    Reduction reduction = make_reduction(type, BATON_SUM, ranks, 3);
    reduction.any_order = true;
    return reduction;
}

/// Whether sums in another order may differ, so that it is judged how far they do.
template <class T>
constexpr bool is_judged() {
    return rounding<T> != 0;
}

class Sums : public testing::TestWithParam<baton_type> {};

TEST_P(Sums, AnyOrderIsRight) {
    const baton_type type = GetParam();
    core::dispatch_type(type, [&]<class T>() {
        if constexpr (is_judged<T>()) {
            for (const std::vector<int> &order :
                 {std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {3, 1, 4, 0, 5, 7, 2, 6}}) {
                const std::vector<T> result = sums<T>(type, order, -1);
                EXPECT_EQ(check_reduction_host(any_order(type), type, 0, result.data(), count).wrong, 0U);
            }
        } else {
            ADD_FAILURE() << "exact";
        }
    });
}

TEST_P(Sums, AMissingInputIsSeen) {
    const baton_type type = GetParam();
    core::dispatch_type(type, [&]<class T>() {
        if constexpr (is_judged<T>()) {
            for (int missing = 0; missing < ranks; ++missing) {
                const std::vector<T> result = sums<T>(type, {0, 1, 2, 3, 4, 5, 6, 7}, missing);
                const Check check = check_reduction_host(any_order(type), type, 0, result.data(), count);
                // bfloat16 rounds so much that small inputs may be missing unseen, but not many of 5000.
                EXPECT_GT(check.wrong, sizeof(T) == 2 ? count / 2 : count * 99 / 100);
            }
        } else {
            ADD_FAILURE() << "exact";
        }
    });
}

TEST_P(Sums, OtherElementsAndNansAreSeen) {
    const baton_type type = GetParam();
    core::dispatch_type(type, [&]<class T>() {
        if constexpr (is_judged<T>()) {
            std::vector<T> result = sums<T>(type, {0, 1, 2, 3, 4, 5, 6, 7}, -1);
            result[17] = core::Element<T>::store(std::numeric_limits<float>::quiet_NaN());
            const Check check = check_reduction_host(any_order(type), type, 0, result.data(), count);
            EXPECT_EQ(check.wrong, 1U);
            EXPECT_EQ(check.first, 17U);
            EXPECT_GT(check_reduction_host(any_order(type), type, 1, result.data(), count).wrong, count / 2);
        } else {
            ADD_FAILURE() << "exact";
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Types, Sums, testing::Values(BATON_FLOAT16, BATON_BFLOAT16, BATON_FLOAT32, BATON_FLOAT64),
                         [](const auto &type) { return std::string(baton_type_name(type.param)); });

TEST(SumsOfOthers, IntegersAndMinimaStayExact) {
    Reduction reduction = make_reduction(BATON_INT32, BATON_SUM, 1, 3);
    reduction.any_order = true;
    std::vector<std::uint32_t> data(count);
    fill_host(make_pattern(BATON_INT32, 0, 3), data.data(), count * 4);
    EXPECT_EQ(check_reduction_host(reduction, BATON_INT32, 0, data.data(), count).wrong, 0U);
    data[99] ^= 1;
    EXPECT_EQ(check_reduction_host(reduction, BATON_INT32, 0, data.data(), count).wrong, 1U);

    Reduction minimum = make_reduction(BATON_FLOAT32, BATON_MIN, 1, 3);
    minimum.any_order = true;
    fill_host(make_pattern(BATON_FLOAT32, 0, 3), data.data(), count * 4);
    data[98] ^= 1;
    EXPECT_EQ(check_reduction_host(minimum, BATON_FLOAT32, 0, data.data(), count).wrong, 1U);
}

}  // namespace
}  // namespace baton::bench
