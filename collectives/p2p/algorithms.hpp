#pragma once

#include "collectives/p2p/line.hpp"
#include "collectives/p2p/packet.hpp"
#include "collectives/p2p/pull.hpp"
#include "collectives/p2p/push.hpp"
#include "collectives/p2p/staged.hpp"
#include "collectives/plan.hpp"

namespace baton::core {

/// Runs one side of a message by one of ways<BATON_SEND>: names the function of each way, in one place for kernels and
/// the host.
template <Algorithm algorithm, class Engine>
BATON_HD bool run_message(Engine &engine, const Message &message, [[maybe_unused]] MessageProgress &progress) {
    if constexpr (algorithm == Algorithm::packet) {
        return message.is_send ? send_packet(engine, message) : recv_packet(engine, message);
    } else if constexpr (algorithm == Algorithm::line) {
        return message.is_send ? send_line(engine, message) : recv_line(engine, message);
    } else if constexpr (algorithm == Algorithm::push) {
        return message.is_send ? send_push(engine, message, progress) : recv_push(engine, message, progress);
    } else if constexpr (algorithm == Algorithm::pull) {
        return message.is_send ? send_pull(engine, message, progress) : recv_pull(engine, message, progress);
    } else {
        static_assert(algorithm == Algorithm::staged);
        return message.is_send ? send_staged(engine, message, progress) : recv_staged(engine, message, progress);
    }
}

}  // namespace baton::core
