#include "comm/machine.hpp"

#include "topology/discover.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

topology::Snapshot read() {
    topology::Snapshot snapshot = topology::discover();
    for (const std::string &gap : snapshot.gaps) log(LogLevel::debug, -1, "topology: {}", gap);
    return snapshot;
}

}  // namespace

// Never destroyed, since an application may create communicators until its end.
const topology::Snapshot &machine() {
    static const auto *snapshot = new topology::Snapshot(read());
    return *snapshot;
}

}  // namespace baton::core
