#include "util/kept.hpp"

#include <mutex>
#include <utility>

namespace baton::core {

void Kept::keep(std::unique_ptr<Kept> kept) noexcept {
    static std::mutex mutex;
    static Kept *last = nullptr;
    const std::lock_guard lock(mutex);
    kept->kept_before_ = std::exchange(last, kept.get());
    static_cast<void>(kept.release());
}

}  // namespace baton::core
