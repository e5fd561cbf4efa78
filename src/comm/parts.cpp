#include "comm/parts.hpp"

#include "util/failure.hpp"

namespace baton::core {

CommParts::~CommParts() {
    if (!peers) return;
    peers->leave();
    peers->stop();
}

std::vector<std::byte *> CommParts::addresses_of(const std::vector<PublishedRegion> &all, void *own) const {
    std::vector<std::byte *> addresses;
    for (int peer = 0; peer < view.size; ++peer) {
        void *address = peer == view.rank ? own : peers->address(peer, all[static_cast<std::size_t>(peer)]);
        if (address == nullptr) fail(BATON_ERR_INTERNAL, "memory that rank {} has published is not mapped", peer);
        addresses.push_back(static_cast<std::byte *>(address));
    }
    return addresses;
}

std::size_t CommParts::shared_bytes() const {
    return peers->shared_bytes() + (rendezvous ? rendezvous->shared_bytes() : 0) +
           (idle_words ? idle_words->shared_bytes() : 0);
}

}  // namespace baton::core
