#include "memory/reclaimer.hpp"

#include <algorithm>
#include <utility>

namespace baton::core {

Reclaimer &Reclaimer::of_process() {
    // Never destroyed: an application may still call from its own static destructors.
    static auto *const reclaimer = new Reclaimer;
    return *reclaimer;
}

Reclaimer::Membership Reclaimer::join(Member member) {
    const std::lock_guard lock(mutex_);
    members_.emplace(++last_number_, std::move(member));
    return {*this, last_number_};
}

void Reclaimer::Membership::leave() {
    if (of_ == nullptr) return;
    const std::lock_guard lock(of_->mutex_);
    of_->members_.erase(number_);
    of_ = nullptr;
}

void Reclaimer::if_idle(const std::function<void()> &unmap) {
    const std::unique_lock nothing_issued(issuing_, std::try_to_lock);
    if (!nothing_issued) return;
    const std::lock_guard lock(mutex_);
    if (!std::all_of(members_.begin(), members_.end(), [](const auto &one) { return one.second.idle(); })) return;
    unmap();
}

void Reclaimer::unmap_if_idle() {
    if_idle([this] {
        for (const auto &[number, member] : members_) member.unmap();
    });
}

void Reclaimer::forget(const PointerInfo &freed) {
    const std::lock_guard lock(mutex_);
    for (const auto &[number, member] : members_) member.forget(freed);
}

}  // namespace baton::core
