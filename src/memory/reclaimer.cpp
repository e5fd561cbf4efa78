#include "memory/reclaimer.hpp"

#include <algorithm>
#include <utility>

namespace baton::core {

Reclaimer &Reclaimer::of_process() {
    // Never destroyed: an application may still call from its own static destructors.
    static auto *const reclaimer = new Reclaimer;
    return *reclaimer;
}

void Reclaimer::join(const void *who, Member member) {
    const std::lock_guard lock(mutex_);
    members_[who] = std::move(member);
}

void Reclaimer::leave(const void *who) {
    const std::lock_guard lock(mutex_);
    members_.erase(who);
}

void Reclaimer::unmap_if_idle() {
    const std::unique_lock nothing_issued(issuing_, std::try_to_lock);
    if (!nothing_issued) return;
    const std::lock_guard lock(mutex_);
    if (!std::all_of(members_.begin(), members_.end(), [](const auto &one) { return one.second.idle(); })) return;
    for (const auto &[who, member] : members_) member.unmap();
}

}  // namespace baton::core
