#pragma once

#include <array>

#include "baton/baton.h"
#include "collectives/plan.hpp"

namespace baton::core {

/// A way to run an operation.
struct Way {
    Algorithm algorithm;
    Mover mover;
    int most_channels = 0;  // that the algorithm can use; 0: any number
};

/// All ways that there are to run an operation; selection tries them in this order where no row of a table is possible.
/// Send stands for recv too, since both sides must agree. A new algorithm is an entry here, a branch in algorithms.hpp,
/// and rows of default_tuning.json.
template <baton_operation operation>
inline constexpr std::array<Way, 0> ways{};

template <>
inline constexpr auto ways<BATON_BARRIER> = std::to_array<Way>({{Algorithm::arrive, Mover::kernel},
                                                                {Algorithm::arrive, Mover::host}});
template <>
inline constexpr auto ways<BATON_ALLGATHER> = std::to_array<Way>({{Algorithm::packet, Mover::kernel},
                                                                  {Algorithm::packet, Mover::host},
                                                                  {Algorithm::line, Mover::kernel},
                                                                  {Algorithm::line, Mover::host},
                                                                  {Algorithm::push, Mover::kernel},
                                                                  {Algorithm::pull, Mover::host},
                                                                  {Algorithm::push, Mover::host},
                                                                  {Algorithm::push, Mover::copy_engine},
                                                                  {Algorithm::ring, Mover::kernel},
                                                                  {Algorithm::ring, Mover::host},
                                                                  {Algorithm::two_level, Mover::kernel},
                                                                  {Algorithm::two_level, Mover::host},
                                                                  {Algorithm::staged, Mover::kernel},
                                                                  {Algorithm::staged, Mover::host, 1}});
template <>
inline constexpr auto ways<BATON_ALLTOALL> = std::to_array<Way>({{Algorithm::packet, Mover::kernel},
                                                                 {Algorithm::packet, Mover::host},
                                                                 {Algorithm::line, Mover::kernel},
                                                                 {Algorithm::line, Mover::host},
                                                                 {Algorithm::push, Mover::kernel},
                                                                 {Algorithm::pull, Mover::host},
                                                                 {Algorithm::push, Mover::host},
                                                                 {Algorithm::push, Mover::copy_engine},
                                                                 {Algorithm::staged, Mover::kernel},
                                                                 {Algorithm::staged, Mover::host, 1}});
template <>
inline constexpr auto ways<BATON_BROADCAST> = std::to_array<Way>({{Algorithm::packet, Mover::kernel},
                                                                  {Algorithm::packet, Mover::host},
                                                                  {Algorithm::line, Mover::kernel},
                                                                  {Algorithm::line, Mover::host},
                                                                  {Algorithm::push, Mover::kernel},
                                                                  {Algorithm::pull, Mover::host},
                                                                  {Algorithm::push, Mover::host},
                                                                  {Algorithm::push, Mover::copy_engine},
                                                                  {Algorithm::staged, Mover::kernel},
                                                                  {Algorithm::staged, Mover::host, 1}});
template <>
inline constexpr auto ways<BATON_REDUCE_SCATTER> = std::to_array<Way>({{Algorithm::packet, Mover::kernel},
                                                                       {Algorithm::packet, Mover::host},
                                                                       {Algorithm::line, Mover::kernel},
                                                                       {Algorithm::line, Mover::host},
                                                                       {Algorithm::pull, Mover::kernel},
                                                                       {Algorithm::pull, Mover::host},
                                                                       {Algorithm::ring, Mover::kernel},
                                                                       {Algorithm::ring, Mover::host},
                                                                       {Algorithm::two_level, Mover::kernel},
                                                                       {Algorithm::two_level, Mover::host},
                                                                       {Algorithm::staged, Mover::copy_engine, 1},
                                                                       {Algorithm::staged, Mover::kernel},
                                                                       {Algorithm::staged, Mover::host, 1}});
template <>
inline constexpr auto ways<BATON_ALLREDUCE> = std::to_array<Way>({{Algorithm::packet, Mover::kernel},
                                                                  {Algorithm::packet, Mover::host},
                                                                  {Algorithm::line, Mover::kernel},
                                                                  {Algorithm::line, Mover::host},
                                                                  {Algorithm::two_shot, Mover::kernel},
                                                                  {Algorithm::pull, Mover::host},
                                                                  {Algorithm::two_shot, Mover::host},
                                                                  {Algorithm::two_shot_line, Mover::kernel},
                                                                  {Algorithm::two_shot_line, Mover::host},
                                                                  {Algorithm::two_phase, Mover::kernel},
                                                                  {Algorithm::two_phase, Mover::copy_engine},
                                                                  {Algorithm::ring, Mover::kernel},
                                                                  {Algorithm::ring, Mover::host},
                                                                  {Algorithm::two_level, Mover::kernel},
                                                                  {Algorithm::two_level, Mover::host},
                                                                  {Algorithm::staged, Mover::kernel},
                                                                  {Algorithm::staged, Mover::host, 1}});
// Staging comes last: a message goes that way only where a row says so, staging pays, or nothing else is possible.
template <>
inline constexpr auto ways<BATON_SEND> = std::to_array<Way>({{Algorithm::push, Mover::kernel},
                                                             {Algorithm::pull, Mover::host},
                                                             {Algorithm::push, Mover::host},
                                                             {Algorithm::push, Mover::copy_engine},
                                                             {Algorithm::line, Mover::kernel},
                                                             {Algorithm::line, Mover::host, 1},
                                                             {Algorithm::packet, Mover::kernel},
                                                             {Algorithm::packet, Mover::host, 1},
                                                             {Algorithm::staged, Mover::kernel},
                                                             {Algorithm::staged, Mover::host, 1}});
template <>
inline constexpr auto ways<BATON_PUT> = std::to_array<Way>({{Algorithm::direct, Mover::kernel},
                                                            {Algorithm::direct, Mover::host},
                                                            {Algorithm::direct, Mover::copy_engine}});
template <>
inline constexpr auto ways<BATON_GET> = ways<BATON_PUT>;

}  // namespace baton::core
