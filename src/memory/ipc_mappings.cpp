#include "memory/ipc_mappings.hpp"

#include <random>

namespace baton::core {

void *IpcMappings::open(const IpcPlace &place, std::uint64_t size, const Open &open) {
    const std::lock_guard lock(mutex_);
    void *address = open();
    const bool opened = address != nullptr;
    if (!opened) {
        const auto found = newest_.find(place);
        if (found == newest_.end() || mappings_.at(found->second).size < size) return nullptr;
        address = found->second;
    }
    Mapping &mapping = mappings_[address];
    mapping.place = place;
    if (mapping.users == 0) mapping.size = size;
    ++mapping.users;
    mapping.opened += opened ? 1 : 0;
    newest_[place] = address;
    return address;
}

void IpcMappings::close(void *address, const Close &close) {
    int times = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto found = mappings_.find(address);
        if (found == mappings_.end() || --found->second.users > 0) return;
        times = found->second.opened;
        const auto newest = newest_.find(found->second.place);
        if (newest != newest_.end() && newest->second == address) newest_.erase(newest);
        mappings_.erase(found);
    }
    for (int i = 0; i < times; ++i) close(address);
}

std::uint64_t process_number() {
    static const std::uint64_t number = [] {
        std::random_device random;
        return std::uint64_t{random()} << 32 | random();
    }();
    return number;
}

}  // namespace baton::core
