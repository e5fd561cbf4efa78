#pragma once

#include <array>
#include <cstddef>

#include "util/limits.hpp"

namespace baton::core {

/// sources() and destinations() of transport.hpp, for an engine that one thread calls.
template <class Remote>
class RemoteLists {
public:
    template <class F>
    const Remote *sources(int count, const F &remote_of) {
        return listed(sources_, count, remote_of);
    }
    template <class F>
    const Remote *destinations(int count, const F &remote_of) {
        return listed(destinations_, count, remote_of);
    }

private:
    using List = std::array<Remote, max_ranks>;

    template <class F>
    static const Remote *listed(List &list, int count, const F &remote_of) {
        for (int at = 0; at < count; ++at) list[static_cast<std::size_t>(at)] = remote_of(at);
        return list.data();
    }

    List sources_{};
    List destinations_{};
};

}  // namespace baton::core
