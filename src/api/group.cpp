#include "api/group.hpp"

#include <algorithm>
#include <numeric>

namespace baton::core {

Group &Group::of_this_thread() {
    thread_local Group group;
    return group;
}

void Group::add_message(Check check, const std::shared_ptr<Communicator> &comm, const Request &request,
                        const std::shared_ptr<void> &stream) {
    const std::size_t collected = std::accumulate(
        messages_.begin(), messages_.end(), std::size_t{0},
        [&](std::size_t sum, const Messages &one) { return one.comm == comm ? sum + one.requests.size() : sum; });
    if (collected >= BATON_GROUP_LIMIT) {
        fail(BATON_ERR_ARGUMENT, "the group holds {} sends and recvs of this communicator already, the most it may",
             collected);
    }
    auto place = std::find_if(messages_.begin(), messages_.end(),
                              [&](const Messages &one) { return one.comm == comm && one.stream == stream; });
    if (place == messages_.end()) place = messages_.insert(place, {std::move(check), comm, stream, {}});
    place->requests.push_back(request);
}

void Group::end() {
    if (depth_ == 0) fail(BATON_ERR_ARGUMENT, "no group is open on this thread");
    if (--depth_ > 0) return;
    const std::vector<Messages> messages = std::move(messages_);
    const std::vector<Call> calls = std::move(calls_);
    messages_.clear();
    calls_.clear();
    for (const Messages &one : messages) one.check();
    for (const Call &call : calls) call.check();
    for (const Messages &one : messages) {
        const auto turn = one.comm->turn();
        one.comm->run_messages(one.requests, one.stream.get());
    }
    for (const Call &call : calls) call.run();
}

}  // namespace baton::core
