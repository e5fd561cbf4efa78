#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "collectives/allgather/line.hpp"
#include "collectives/allgather/packet.hpp"
#include "collectives/allgather/pull.hpp"
#include "collectives/allgather/push.hpp"
#include "collectives/allgather/ring.hpp"
#include "collectives/allgather/staged.hpp"
#include "collectives/allgather/two_level.hpp"
#include "collectives/allreduce/chain.hpp"
#include "collectives/allreduce/line.hpp"
#include "collectives/allreduce/packet.hpp"
#include "collectives/allreduce/pull.hpp"
#include "collectives/allreduce/push.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/allreduce/two_phase.hpp"
#include "collectives/allreduce/two_shot.hpp"
#include "collectives/allreduce/two_shot_line.hpp"
#include "collectives/alltoall/line.hpp"
#include "collectives/alltoall/packet.hpp"
#include "collectives/alltoall/pull.hpp"
#include "collectives/alltoall/push.hpp"
#include "collectives/alltoall/staged.hpp"
#include "collectives/barrier/arrive.hpp"
#include "collectives/broadcast/line.hpp"
#include "collectives/broadcast/packet.hpp"
#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/pipeline_line.hpp"
#include "collectives/broadcast/pull.hpp"
#include "collectives/broadcast/push.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/reduce_scatter/chain.hpp"
#include "collectives/reduce_scatter/line.hpp"
#include "collectives/reduce_scatter/packet.hpp"
#include "collectives/reduce_scatter/pull.hpp"
#include "collectives/reduce_scatter/push.hpp"
#include "collectives/reduce_scatter/staged.hpp"
#include "collectives/reduce_scatter/two_level.hpp"
#include "collectives/request.hpp"
#include "collectives/route.hpp"
#include "collectives/ways.hpp"
#include "transport/element/dispatch.hpp"

/// Which function each algorithm of a collective is, for all engines; and how a plan leads to one of them.
namespace baton::core {

template <class>
inline constexpr bool always_false = false;

template <Algorithm algorithm, class Engine, class Args>
BATON_HD void run_allgather(Engine &engine, const Args &args) {
    if constexpr (algorithm == Algorithm::packet) {
        allgather_packet(engine, args);
    } else if constexpr (algorithm == Algorithm::line) {
        allgather_line(engine, args);
    } else if constexpr (algorithm == Algorithm::push) {
        allgather_push(engine, args);
    } else if constexpr (algorithm == Algorithm::pull) {
        allgather_pull(engine, args);
    } else if constexpr (algorithm == Algorithm::ring) {
        AllgatherRing<Engine>(engine, args).run();
    } else if constexpr (algorithm == Algorithm::two_level) {
        AllgatherTwoLevel<Engine>(engine, args).run();
    } else if constexpr (algorithm == Algorithm::staged) {
        allgather_staged(engine, args);
    } else {
        static_assert(always_false<Engine>, "not an algorithm of the operation");
    }
}

template <Algorithm algorithm, class Engine, class Args>
BATON_HD void run_alltoall(Engine &engine, const Args &args) {
    if constexpr (algorithm == Algorithm::packet) {
        alltoall_packet(engine, args);
    } else if constexpr (algorithm == Algorithm::line) {
        alltoall_line(engine, args);
    } else if constexpr (algorithm == Algorithm::push) {
        alltoall_push(engine, args);
    } else if constexpr (algorithm == Algorithm::pull) {
        alltoall_pull(engine, args);
    } else if constexpr (algorithm == Algorithm::staged) {
        alltoall_staged(engine, args);
    } else {
        static_assert(always_false<Engine>, "not an algorithm of the operation");
    }
}

template <Algorithm algorithm, class Engine, class Args>
BATON_HD void run_broadcast(Engine &engine, const Args &args) {
    if constexpr (algorithm == Algorithm::packet) {
        broadcast_packet(engine, args);
    } else if constexpr (algorithm == Algorithm::line) {
        broadcast_line(engine, args);
    } else if constexpr (algorithm == Algorithm::push) {
        BroadcastPush<Engine>(engine, args).run();
    } else if constexpr (algorithm == Algorithm::pipeline) {
        broadcast_pipeline(engine, args);
    } else if constexpr (algorithm == Algorithm::pipeline_line) {
        broadcast_pipeline_line(engine, args);
    } else if constexpr (algorithm == Algorithm::pull) {
        broadcast_pull(engine, args);
    } else if constexpr (algorithm == Algorithm::staged) {
        broadcast_staged(engine, args);
    } else {
        static_assert(always_false<Engine>, "not an algorithm of the operation");
    }
}

template <Algorithm algorithm, class T, class Engine, class Args>
BATON_HD void run_reduce_scatter(Engine &engine, const Args &args) {
    if constexpr (algorithm == Algorithm::packet) {
        reduce_scatter_packet<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::line) {
        reduce_scatter_line<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::pull) {
        reduce_scatter_pull<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::push) {
        reduce_scatter_push<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::chain) {
        ReduceScatterChain<T, Engine>(engine, args).run();
    } else if constexpr (algorithm == Algorithm::two_level) {
        reduce_scatter_two_level<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::staged) {
        reduce_scatter_staged<T>(engine, args);
    } else {
        static_assert(always_false<Engine>, "not an algorithm of the operation");
    }
}

template <Algorithm algorithm, class T, class Engine, class Args>
BATON_HD void run_allreduce(Engine &engine, const Args &args) {
    if constexpr (algorithm == Algorithm::packet) {
        allreduce_packet<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::line) {
        allreduce_line<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::two_shot) {
        allreduce_two_shot<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::two_shot_line) {
        allreduce_two_shot_line<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::two_phase) {
        allreduce_two_phase<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::pull) {
        allreduce_pull<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::push) {
        allreduce_push<T>(engine, args);
    } else if constexpr (algorithm == Algorithm::staged) {
        allreduce_staged<T>(engine, args);
    } else if constexpr (is_routed(algorithm)) {
        AllreduceChain<T, Engine>(engine, args).run();
    } else {
        static_assert(always_false<Engine>, "not an algorithm of the operation");
    }
}

/// Runs an algorithm on an engine. T: the element type, if the operation reduces. Args: RoutedArgs if the algorithm
/// is_routed(), otherwise CollectiveArgs suffices.
template <baton_operation operation, Algorithm algorithm, class T, class Engine, class Args>
BATON_HD void run_algorithm(Engine &engine, const Args &args) {
    if constexpr (operation == BATON_ALLGATHER) {
        run_allgather<algorithm>(engine, args);
    } else if constexpr (operation == BATON_ALLTOALL) {
        run_alltoall<algorithm>(engine, args);
    } else if constexpr (operation == BATON_BROADCAST) {
        run_broadcast<algorithm>(engine, args);
    } else if constexpr (operation == BATON_REDUCE_SCATTER) {
        run_reduce_scatter<algorithm, T>(engine, args);
    } else if constexpr (operation == BATON_ALLREDUCE) {
        run_allreduce<algorithm, T>(engine, args);
    } else {
        static_assert(operation == BATON_BARRIER && algorithm == Algorithm::arrive);
        barrier_arrive(engine, args);
    }
}

/// Calls body.template operator()<A, T>() for `algorithm`, if the operation has it by `mover` and it is `wanted`. T is
/// the type's, or void if the operation does not reduce. Returns false if there is no such way.
template <baton_operation operation, Mover mover, bool (*wanted)(Algorithm), class Body>
bool dispatch_way(Algorithm algorithm, baton_type type, const Body &body) {
    const auto try_way = [&]<std::size_t index>() {
        constexpr Way way = ways<operation>[index];
        if constexpr (way.mover == mover && wanted(way.algorithm)) {
            if (way.algorithm != algorithm) return false;
            if constexpr (reduces(operation)) {
                dispatch_type(type, [&]<class T>() { body.template operator()<way.algorithm, T>(); });
            } else {
                body.template operator()<way.algorithm, void>();
            }
            return true;
        }
        return false;
    };
    return [&]<std::size_t... index>(std::index_sequence<index...>) {
        return (try_way.template operator()<index>() || ...);
    }
    (std::make_index_sequence<ways<operation>.size()>{});
}

template <baton_operation operation>
constexpr bool runs_on_one_engine(Algorithm algorithm) {
    return !combines_pushed(operation, algorithm);
}

/// Runs a collective by one of the mover's ways on its engine. Selection plans no others.
template <Mover mover, class Engine>
void run_collective(Engine &engine, baton_operation operation, Algorithm algorithm, baton_type type,
                    const RoutedArgs &args) {
    const auto run = [&]<baton_operation one>() {
        return operation == one &&
               dispatch_way<one, mover, runs_on_one_engine<one>>(
                   algorithm, type, [&]<Algorithm way, class T>() { run_algorithm<one, way, T>(engine, args); });
    };
    const bool found = run.template operator()<BATON_BARRIER>() || run.template operator()<BATON_ALLGATHER>() ||
                       run.template operator()<BATON_ALLTOALL>() || run.template operator()<BATON_BROADCAST>() ||
                       run.template operator()<BATON_REDUCE_SCATTER>() || run.template operator()<BATON_ALLREDUCE>();
    if (!found) throw std::logic_error(std::string(algorithm_name(algorithm)) + " was planned, which there is not");
}

}  // namespace baton::core
