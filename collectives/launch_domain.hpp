#pragma once

#include <algorithm>
#include <vector>

#include "collectives/message_launch.hpp"
#include "collectives/plan.hpp"
#include "transport/kernel/launch.hpp"

namespace baton::core {

/// The domain of a kernel that runs this algorithm. Algorithms that tables have for few bytes, up to 4 MiB, stay in the
/// stream's domain, since a longer launch would show in the time of such a call.
constexpr SyncDomain domain_of(Algorithm algorithm) {
    const bool of_few_bytes = goes_in_packets(algorithm) || lies_in_lines(algorithm) || algorithm == Algorithm::arrive;
    return of_few_bytes ? SyncDomain::of_stream : SyncDomain::remote;
}

/// The domain of a launch of several messages. A launch that takes the larger batch may have hundreds of messages of a
/// MiB each in lines, and takes long already.
inline SyncDomain domain_of(const std::vector<MessageCall> &calls) {
    const bool of_few_bytes =
        calls.size() <= few_messages && std::all_of(calls.begin(), calls.end(), [](const MessageCall &call) {
            return domain_of(call.plan.algorithm) == SyncDomain::of_stream;
        });
    return of_few_bytes ? SyncDomain::of_stream : SyncDomain::remote;
}

}  // namespace baton::core
