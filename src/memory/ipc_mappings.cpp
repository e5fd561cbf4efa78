#include "memory/ipc_mappings.hpp"

#include <utility>

#include "util/random.hpp"

namespace baton::core {

void *IpcMappings::open(const IpcPlace &place, std::uint64_t size, const Open &open) {
    const std::lock_guard lock(mutex_);
    // Allocates the entries first, so that what the driver has opened is always noted.
    Mappings made_mapping{{nullptr, {place, size}}};
    Newest made_newest{{place, nullptr}};
    void *address = open();
    const bool opened = address != nullptr;
    if (!opened) {
        const auto found = newest_.find(place);
        if (found == newest_.end() || mappings_.at(found->second).size < size) return nullptr;
        address = found->second;
    }
    auto node = made_mapping.extract(made_mapping.begin());
    node.key() = address;
    Mapping &mapping = mappings_.insert(std::move(node)).position->second;  // or the one that is there
    newest_.merge(made_newest);
    newest_.find(place)->second = address;
    mapping.place = place;
    ++mapping.users;
    mapping.opened += opened ? 1 : 0;
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
    static const std::uint64_t number = random_number();
    return number;
}

}  // namespace baton::core
