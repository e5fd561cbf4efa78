#pragma once

#include <array>
#include <cstddef>

#include "baton/baton.h"
#include "collectives/plan.hpp"

namespace baton::core {

/// Which of the callers' buffers peers read or write themselves, so that these have to be found for them. In a
/// broadcast the root sends and the others receive; a send receives nothing.
enum class Touches {
    nothing,
    sends,
    recvs,
    both
};
constexpr bool touches_send(Touches touches) { return touches == Touches::sends || touches == Touches::both; }
constexpr bool touches_recv(Touches touches) { return touches == Touches::recvs || touches == Touches::both; }

/// What a call in place needs.
enum class InPlace {
    safe,
    result_apart,  // the result is made elsewhere and copied: peers still read what it would be written over
    input_copied   // peers may store over it before it has been sent
};

/// A way to run an operation.
struct Way {
    Algorithm algorithm;
    Mover mover;
    Touches touches = Touches::nothing;
    InPlace in_place = InPlace::safe;
    int most_channels = 0;  // that the algorithm can use; 0: any number (a host has one)
    int most_ranks = 0;     // 0: any number
    // If false, the operation does without a recv buffer that peers cannot reach, instead of staging it.
    bool needs_recv = true;
};

constexpr bool serves(const Way &way, int ranks) { return way.most_ranks == 0 || ranks <= way.most_ranks; }

/// Whether a kernel runs it, maybe with copy engines that do a part.
constexpr bool has_kernel(baton_operation operation, const Way &way) {
    return way.mover == Mover::kernel || (way.mover == Mover::copy_engine && combines_pushed(operation, way.algorithm));
}

/// All ways to run an operation; selection tries them in this order where no row of a table is possible. Send stands
/// for recv too, since both sides must agree. A new algorithm needs a name and a line of needs_reach() in plan.hpp, an
/// entry here, a branch in algorithms.hpp (for messages p2p/algorithms.hpp), and rows in default_tuning.json.
template <baton_operation operation>
inline constexpr std::array<Way, 0> ways{};

inline constexpr Way ways_of_barrier[] = {{Algorithm::arrive, Mover::kernel}, {Algorithm::arrive, Mover::host}};
template <>
inline constexpr auto ways<BATON_BARRIER> = std::to_array(ways_of_barrier);

// What most collectives share.
inline constexpr Way packets_and_lines[] = {{Algorithm::packet, Mover::kernel},
                                            {Algorithm::packet, Mover::host},
                                            {Algorithm::line, Mover::kernel},
                                            {Algorithm::line, Mover::host}};
inline constexpr Way push_or_pull[] = {{Algorithm::push, Mover::kernel, Touches::recvs},
                                       {Algorithm::pull, Mover::host, Touches::sends},
                                       {Algorithm::push, Mover::host, Touches::recvs},
                                       {Algorithm::push, Mover::copy_engine, Touches::recvs}};
inline constexpr Way through_staging[] = {{Algorithm::staged, Mover::kernel}, {Algorithm::staged, Mover::host}};

/// The lists, one behind the other.
template <std::size_t... counts>
constexpr auto joined(const Way (&...lists)[counts]) {
    std::array<Way, (counts + ...)> all{};
    std::size_t next = 0;
    const auto append = [&](const auto &list) {
        for (const Way &way : list) all[next++] = way;
    };
    (append(lists), ...);
    return all;
}

inline constexpr Way routed_ways_of_allgather[] = {{Algorithm::ring, Mover::kernel, Touches::recvs},
                                                   {Algorithm::ring, Mover::host, Touches::recvs},
                                                   {Algorithm::two_level, Mover::kernel, Touches::recvs},
                                                   {Algorithm::two_level, Mover::host, Touches::recvs}};
template <>
inline constexpr auto ways<BATON_ALLGATHER> = joined(packets_and_lines, push_or_pull, routed_ways_of_allgather,
                                                     through_staging);
inline constexpr Way direct_ways_of_alltoall[] = {
    {Algorithm::push, Mover::kernel, Touches::recvs, InPlace::input_copied},
    {Algorithm::pull, Mover::host, Touches::sends, InPlace::result_apart},
    {Algorithm::push, Mover::host, Touches::recvs, InPlace::input_copied},
    {Algorithm::push, Mover::copy_engine, Touches::recvs, InPlace::input_copied}};
template <>
inline constexpr auto ways<BATON_ALLTOALL> = joined(packets_and_lines, direct_ways_of_alltoall, through_staging);
inline constexpr Way routed_ways_of_broadcast[] = {{Algorithm::pipeline, Mover::kernel, Touches::recvs},
                                                   {Algorithm::pipeline, Mover::host, Touches::recvs}};
// Behind staging, since lines that go round are possible for all sizes and any buffers.
inline constexpr Way last_ways_of_broadcast[] = {{Algorithm::pipeline_line, Mover::kernel},
                                                 {Algorithm::pipeline_line, Mover::host}};
template <>
inline constexpr auto ways<BATON_BROADCAST> = joined(packets_and_lines, push_or_pull, routed_ways_of_broadcast,
                                                     through_staging, last_ways_of_broadcast);
inline constexpr Way more_ways_of_reduce_scatter[] = {
    {Algorithm::pull, Mover::kernel, Touches::sends, InPlace::result_apart},
    {Algorithm::pull, Mover::host, Touches::sends, InPlace::result_apart},
    {Algorithm::chain, Mover::kernel, Touches::recvs},
    {Algorithm::chain, Mover::host, Touches::recvs},
    {Algorithm::two_level, Mover::kernel, Touches::both},
    {Algorithm::two_level, Mover::host, Touches::both},
    {.algorithm = Algorithm::push,
     .mover = Mover::copy_engine,
     .touches = Touches::both,
     .in_place = InPlace::result_apart,
     .most_ranks = 2,
     .needs_recv = false},
    {Algorithm::staged, Mover::copy_engine, Touches::nothing, InPlace::result_apart, 1},
    {Algorithm::staged, Mover::kernel, Touches::nothing, InPlace::result_apart},
    {Algorithm::staged, Mover::host, Touches::nothing, InPlace::result_apart}};
template <>
inline constexpr auto ways<BATON_REDUCE_SCATTER> = joined(packets_and_lines, more_ways_of_reduce_scatter);
inline constexpr Way more_ways_of_allreduce[] = {{Algorithm::two_shot, Mover::kernel, Touches::both},
                                                 {Algorithm::pull, Mover::host, Touches::both},
                                                 {Algorithm::two_shot, Mover::host, Touches::both},
                                                 {Algorithm::two_shot_line, Mover::kernel},
                                                 {Algorithm::two_shot_line, Mover::host},
                                                 {Algorithm::two_phase, Mover::kernel, Touches::both},
                                                 {Algorithm::push, Mover::copy_engine, Touches::both},
                                                 {Algorithm::chain, Mover::kernel, Touches::recvs},
                                                 {Algorithm::chain, Mover::host, Touches::recvs},
                                                 {Algorithm::two_level, Mover::kernel, Touches::both},
                                                 {Algorithm::two_level, Mover::host, Touches::both}};
template <>
inline constexpr auto ways<BATON_ALLREDUCE> = joined(packets_and_lines, more_ways_of_allreduce, through_staging);
// Staging comes last: a message goes that way only where a row says so, or nothing else is possible.
inline constexpr Way buffered_ways_of_send[] = {{Algorithm::line, Mover::kernel},
                                                {Algorithm::line, Mover::host},
                                                {Algorithm::packet, Mover::kernel},
                                                {Algorithm::packet, Mover::host}};
template <>
inline constexpr auto ways<BATON_SEND> = joined(push_or_pull, buffered_ways_of_send, through_staging);
inline constexpr Way ways_of_put[] = {
    {Algorithm::direct, Mover::kernel}, {Algorithm::direct, Mover::host}, {Algorithm::direct, Mover::copy_engine}};
template <>
inline constexpr auto ways<BATON_PUT> = std::to_array(ways_of_put);
template <>
inline constexpr auto ways<BATON_GET> = ways<BATON_PUT>;

/// Whether ways by the same algorithm do the same with the callers' buffers, whoever moves the data.
template <baton_operation operation>
constexpr bool agrees_with_algorithms() {
    for (const Way &way : ways<operation>) {
        if (needs_reach(way.algorithm) != (way.touches != Touches::nothing)) return false;
        for (const Way &other : ways<operation>) {
            const bool alike =
                other.touches == way.touches && other.in_place == way.in_place && other.needs_recv == way.needs_recv;
            if (other.algorithm == way.algorithm && !alike) return false;
        }
    }
    return true;
}
static_assert(agrees_with_algorithms<BATON_ALLGATHER>() && agrees_with_algorithms<BATON_ALLTOALL>() &&
              agrees_with_algorithms<BATON_BROADCAST>() && agrees_with_algorithms<BATON_REDUCE_SCATTER>() &&
              agrees_with_algorithms<BATON_ALLREDUCE>() && agrees_with_algorithms<BATON_SEND>() &&
              agrees_with_algorithms<BATON_PUT>() && agrees_with_algorithms<BATON_GET>());

}  // namespace baton::core
