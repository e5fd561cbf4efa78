#include "api/calls.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

namespace baton::core {
namespace {

constexpr const char no_group[] = "no group is open on this thread";

}  // namespace

Group &Group::of_this_thread() {
    thread_local Group group;
    return group;
}

void Group::add_messages(const On &on, std::span<const Request> requests, std::span<const Names> names) {
    std::vector<Messages> &messages = collected_.messages;
    const std::size_t collected = std::accumulate(
        messages.begin(), messages.end(), std::size_t{0},
        [&](std::size_t sum, const Messages &one) { return one.on.comm == on.comm ? sum + one.requests.size() : sum; });
    if (collected + requests.size() > BATON_GROUP_LIMIT) {
        fail(BATON_ERR_ARGUMENT, "the group holds {} sends and recvs of this communicator already; it may hold {}",
             collected, BATON_GROUP_LIMIT);
    }
    for (const Request &request : requests) require_one_stream(on, request);
    auto place = std::find_if(messages.begin(), messages.end(), [&](const Messages &one) {
        return one.on.comm == on.comm && one.on.stream == on.stream;
    });
    if (place == messages.end()) place = messages.insert(place, {on, {}, {}});
    try {
        place->names.insert(place->names.end(), names.begin(), names.end());
        place->requests.insert(place->requests.end(), requests.begin(), requests.end());
    } catch (...) {  // no memory: all of the messages are there, or none
        place->names.resize(place->requests.size());
        if (place->requests.empty()) messages.erase(place);
        throw;
    }
}

/// Messages between two ranks are numbered as they are issued, stream by stream.
void Group::require_one_stream(const On &on, const Request &request) const {
    for (const Messages &one : collected_.messages) {
        if (one.on.comm != on.comm || one.on.stream == on.stream) continue;
        const bool there = std::any_of(one.requests.begin(), one.requests.end(), [&](const Request &other) {
            return other.operation == request.operation && other.peer == request.peer;
        });
        if (!there) continue;
        fail(BATON_ERR_ARGUMENT,
             "stream is not that of the group's other {} rank {}: messages between two ranks keep their order on one "
             "stream only",
             request.operation == BATON_SEND ? "sends to" : "recvs from", request.peer);
    }
}

void Group::add_call(Check check, const std::shared_ptr<Communicator> &comm, Call call) {
    collected_.checks.push_back(std::move(check));
    try {
        collected_.calls.push_back({comm, std::move(call)});
    } catch (...) {
        collected_.checks.pop_back();
        throw;
    }
}

void Group::end() {
    if (depth_ == 0) fail(BATON_ERR_ARGUMENT, no_group);
    if (--depth_ > 0) return;
    const Collected collected = std::exchange(collected_, {});
    for (const Messages &one : collected.messages) {
        check_again(one);
        require_apart(one);
    }
    for (const Check &check : collected.checks) check();
    std::vector<Step> steps;
    for (const Messages &one : collected.messages)
        steps.push_back(
            {one.on.comm, [&one](const Turn &turn) { turn.issuer().run_messages(one.requests, one.on.stream.get()); }});
    steps.insert(steps.end(), collected.calls.begin(), collected.calls.end());
    issue(steps);
}

void Group::drop() {
    if (depth_ == 0) fail(BATON_ERR_ARGUMENT, no_group);
    depth_ = 0;
    const Collected dropped = std::exchange(collected_, {});
    const auto abort = [](Communicator &comm) {
        comm.break_with(failure_of(BATON_ERR_ABORTED,
                                   "rank {} dropped a group with calls on this communicator (baton_group_drop)",
                                   comm.rank()));
    };
    for (const Messages &one : dropped.messages) abort(*one.on.comm);
    for (const Step &call : dropped.calls) abort(*call.comm);
}

/// Types, counts and ranks are still what they were; handles and memory may not be.
void Group::check_again(const Messages &messages) {
    std::size_t at = 0;
    try {
        const std::shared_ptr<Communicator> comm = find_comm(messages.on.comm_handle);
        const auto turn = comm->turn_unless_destroyed();
        find_stream(*comm, messages.on.stream_handle);
        for (; at < messages.requests.size(); ++at) {
            const Request &request = messages.requests[at];
            const char *const buffer = messages.names[at].buffer;
            if (turn.buffers().check(request.send, request.bytes, buffer) != request.send_info)
                fail(BATON_ERR_ARGUMENT, "{} {}", buffer, replaced_memory);
        }
    } catch (const Failure &failure) {
        refuse_collected(messages.names[at].call, failure);
    }
}

/// The buffers of a send and a recv must not overlap. Those of recvs may: bandwidth tests do that.
void Group::require_apart(const Messages &messages) {
    const auto place_of = [&](std::size_t at) { return reinterpret_cast<std::uintptr_t>(messages.requests[at].send); };
    std::vector<std::size_t> by_place(messages.requests.size());
    std::iota(by_place.begin(), by_place.end(), std::size_t{0});
    std::erase_if(by_place, [&](std::size_t at) { return messages.requests[at].bytes == 0; });
    std::sort(by_place.begin(), by_place.end(),
              [&](std::size_t a, std::size_t b) { return place_of(a) < place_of(b); });
    const auto end_of = [&](std::size_t at) { return place_of(at) + messages.requests[at].bytes; };
    std::array<std::optional<std::size_t>, 2> last;  // of earlier sends and of earlier recvs: the one that ends last
    for (const std::size_t at : by_place) {
        const bool is_recv = messages.requests[at].operation == BATON_RECV;
        const std::optional<std::size_t> other = last[is_recv ? 0 : 1];
        if (other && end_of(*other) > place_of(at)) {
            fail(BATON_ERR_ARGUMENT, "{}'s {} {} overlaps {}'s {} {}; nothing of the group was started",
                 messages.names[at].call, messages.names[at].buffer,
                 static_cast<const void *>(messages.requests[at].send), messages.names[*other].call,
                 messages.names[*other].buffer, static_cast<const void *>(messages.requests[*other].send));
        }
        std::optional<std::size_t> &own = last[is_recv ? 1 : 0];
        if (!own || end_of(*own) < end_of(at)) own = at;
    }
}

void refuse_collected(const char *call, const Failure &reason) {
    fail(reason.code(), "{} was collected, but now its {}; nothing of the group was started", call, reason.what());
}

void Group::issue(std::vector<Step> &steps) {
    std::exception_ptr first;
    for (auto step = steps.begin(); step != steps.end(); ++step) {
        const auto has = [&](Step::State state) {
            return std::any_of(steps.begin(), step, [&](const Step &earlier) {
                return earlier.comm == step->comm && earlier.state == state;
            });
        };
        if (first && has(Step::State::refused)) continue;
        try {
            step->issue(step->comm->turn());
            step->state = Step::State::issued;
        } catch (const std::exception &failure) {
            step->state = Step::State::refused;
            if (has(Step::State::issued)) step->comm->break_with(failure);
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace baton::core
