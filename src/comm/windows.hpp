#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "comm/breakage.hpp"
#include "comm/issuer.hpp"
#include "comm/meetings.hpp"
#include "comm/parts.hpp"
#include "memory/region.hpp"

namespace baton::core {

/// A window: equally many bytes of each rank's memory, mapped by all ranks.
struct Window {
    int index = 0;  // the same on all ranks
    std::uint64_t bytes = 0;
    std::vector<std::byte *> pointers;    // by rank; this rank's own among them
    std::vector<PublishedRegion> places;  // likewise
};

/// The windows of a communicator. The caller has its turn.
class Windows {
public:
    Windows(CommParts &parts, Bootstrap &bootstrap, Meetings &meetings, Breakage &breakage, Issuer &issuer)
        : parts_(parts), bootstrap_(bootstrap), meetings_(meetings), breakage_(breakage), issuer_(issuer) {}

    /// Collective. `check` throws if this rank's arguments are wrong; then no rank gets a window.
    std::shared_ptr<Window> create(std::size_t bytes, const std::function<void()> &check);
    /// Collective unless the communicator is broken. Throws what broke it while this rank waited for the others; the
    /// window is destroyed all the same.
    void destroy(const std::shared_ptr<Window> &window);

private:
    int free_index() const;
    void give_memory(Window &window);
    void clear_signals(int index);
    std::string described(std::uint64_t index) const;
    void meet_to_destroy(const Window &window);
    void unmap_peers(const Window &window);

    CommParts &parts_;
    Bootstrap &bootstrap_;
    Meetings &meetings_;
    Breakage &breakage_;
    Issuer &issuer_;
    std::vector<std::shared_ptr<Window>> windows_;  // by index
};

}  // namespace baton::core
