#pragma once

#include <vector>

namespace baton::core {

/// sources() and destinations() of transport.hpp, for an engine that one thread calls. Costs nothing in operations
/// without lists, which are the small ones.
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
    template <class F>
    static const Remote *listed(std::vector<Remote> &list, int count, const F &remote_of) {
        list.clear();
        for (int at = 0; at < count; ++at) list.push_back(remote_of(at));
        return list.data();
    }

    std::vector<Remote> sources_;
    std::vector<Remote> destinations_;
};

}  // namespace baton::core
