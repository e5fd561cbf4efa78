#pragma once

#include <algorithm>
#include <vector>

#include "collectives/message_launch.hpp"
#include "collectives/plan.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::core {

/// The domain of a kernel that runs this algorithm. What tables have for so few bytes, up to 4 MiB, that a longer
/// launch would be seen in a call's time stays in the stream's.
constexpr SyncDomain domain_of(Algorithm algorithm) {
    const bool of_few_bytes = goes_in_packets(algorithm) || lies_in_lines(algorithm) || algorithm == Algorithm::arrive;
    return of_few_bytes ? SyncDomain::of_stream : SyncDomain::remote;
}

/// That of a launch of several messages. So many that they take the larger batch may be hundreds of lines of a MiB
/// each, and their launch is a long one already.
inline SyncDomain domain_of(const std::vector<MessageCall> &calls) {
    const bool of_few_bytes =
        calls.size() <= few_messages && std::all_of(calls.begin(), calls.end(), [](const MessageCall &call) {
            return domain_of(call.plan.algorithm) == SyncDomain::of_stream;
        });
    return of_few_bytes ? SyncDomain::of_stream : SyncDomain::remote;
}

}  // namespace baton::core
