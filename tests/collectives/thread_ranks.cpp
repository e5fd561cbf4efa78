#include "thread_ranks.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <thread>

#include "bootstrap/thread_bootstrap.hpp"
#include "support/seed.hpp"

namespace baton::test {
namespace {

/// A table in which hosts write to each other instead of reading.
std::string pushing(int size) {
    const char *const push = R"([{"up_to": 8192, "algorithm": "packet", "mover": "host"},
                                 {"algorithm": "push", "mover": "host"}])";
    return fmt::format(
        R"({{"version": 1, "tables": [{{"gpu": "host", "link": "shared memory", "ranks": {}, "operations": {{
                       "allgather": {}, "alltoall": {}, "broadcast": {}, "send": {},
                       "allreduce": [{{"algorithm": "two_shot", "mover": "host"}}]}}}}]}})",
        size, push, push, push, push);
}

/// A table in which the others read whatever is not small.
std::string pulling(int size) {
    const char *const pull =
        R"([{"up_to": 8192, "algorithm": "packet", "mover": "host"}, {"algorithm": "pull", "mover": "host"}])";
    return fmt::format(
        R"({{"version": 1, "tables": [{{"gpu": "host", "link": "shared memory", "ranks": {}, "operations": {{
                       "allgather": {}, "alltoall": {}, "broadcast": {}, "allreduce": {}}}}}]}})",
        size, pull, pull, pull, pull);
}

/// A table in which messages go by lines, and are read if they are longer than the lines' buffers hold.
std::string messages_by_lines(int size) {
    return fmt::format(
        R"({{"version": 1, "tables": [{{"gpu": "host", "link": "shared memory", "ranks": {}, "operations": {{
                       "send": [{{"up_to": 65536, "algorithm": "line", "mover": "host"}},
                                {{"algorithm": "pull", "mover": "host"}}]}}}}]}})",
        size);
}

/// Shuts the communicator down, unless the body has done so or tried to.
void shut_down(core::Communicator &comm) {
    try {
        comm.turn_unless_destroyed().shut_down();
    } catch (const core::Failure &failure) {
        if (failure.code() != BATON_ERR_ARGUMENT) throw;
    }
}

}  // namespace

ThreadConfig thread_config(int size, HostWay way) {
    return {.size = size,
            .single_copy = way != HostWay::staged,
            .push = way == HostWay::push,
            .pull = way == HostWay::pull,
            .lines = way == HostWay::line};
}

const char *name_of(HostWay way) {
    switch (way) {
        case HostWay::pull:
            return "Pull";
        case HostWay::push:
            return "Push";
        case HostWay::line:
            return "Line";
        case HostWay::staged:
            return "Staged";
    }
    return "";
}

void with_ranks(const ThreadConfig &config, const std::function<void(core::Communicator &)> &body) {
    baton_config settings;
    baton_config_init(&settings);
    settings.transport = BATON_TRANSPORT_HOST;
    settings.p2p = config.single_copy ? BATON_P2P_AUTO : BATON_P2P_OFF;
    settings.timeout_seconds = config.timeout_seconds;
    settings.segment_bytes = config.segment_bytes;
    const std::string tuning = config.push    ? pushing(config.size)
                               : config.lines ? messages_by_lines(config.size)
                               : config.pull  ? pulling(config.size)
                                              : "none";
    settings.tuning = tuning.c_str();
    auto ends = core::ThreadBootstrap::make(config.size);
    std::vector<std::exception_ptr> errors(ends.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                core::Communicator comm(std::move(ends[rank]), &settings);
                try {
                    body(comm);
                } catch (...) {
                    errors[rank] = std::current_exception();
                    comm.abort();  // the others must not wait for this rank
                }
                shut_down(comm);
            } catch (...) {
                errors[rank] = std::current_exception();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    for (const std::exception_ptr &error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

std::uint64_t test_seed() {
    static const std::uint64_t seed = draw_seed();
    return seed;
}

void allgather(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type) {
    const core::Turn turn = comm.turn();
    turn.issuer().run(core::check_allgather(turn, send, recv, count, type), nullptr);
}
void alltoall(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type) {
    const core::Turn turn = comm.turn();
    turn.issuer().run(core::check_alltoall(turn, send, recv, count, type), nullptr);
}
void broadcast(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type, int root) {
    const core::Turn turn = comm.turn();
    turn.issuer().run(core::check_broadcast(turn, send, recv, count, type, root), nullptr);
}
void reduce_scatter(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type,
                    baton_op op) {
    const core::Turn turn = comm.turn();
    turn.issuer().run(core::check_reduce_scatter(turn, send, recv, count, type, op), nullptr);
}
void allreduce(core::Communicator &comm, const void *send, void *recv, std::size_t count, baton_type type,
               baton_op op) {
    const core::Turn turn = comm.turn();
    turn.issuer().run(core::check_allreduce(turn, send, recv, count, type, op), nullptr);
}
void barrier(core::Communicator &comm) {
    core::Request request;
    request.operation = BATON_BARRIER;
    comm.turn().issuer().run(request, nullptr);
}
core::Request send_request(core::Communicator &comm, const void *buffer, std::size_t bytes, int peer) {
    return core::check_message(comm.turn(), BATON_SEND, buffer, bytes, BATON_UINT8, peer, {});
}
core::Request recv_request(core::Communicator &comm, void *buffer, std::size_t bytes, int peer) {
    return core::check_message(comm.turn(), BATON_RECV, buffer, bytes, BATON_UINT8, peer, {});
}
void run(core::Communicator &comm, const std::vector<core::Request> &messages) {
    comm.turn().issuer().run_messages(messages, nullptr);
}

}  // namespace baton::test
