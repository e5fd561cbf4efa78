#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace baton::core {

/// What a handle stands for. C takes streams and windows for one another, because one of the two types is void *.
enum class HandleOf : std::uint64_t {
    communicator = 0,
    window = 1,
    host_stream = 2
};

/// The layout of a handle. Bit 0 is set, so none is aligned like the address of a real object. Generations count from
/// 1, so none is a small number like CUDA's cudaStreamLegacy.
struct HandleBits {
    static constexpr int index_at = 3;
    static constexpr int generation_at = 24;
};

/// Whether `pointer` could be a handle of some kind. No pointer of the system's or of CUDA's could.
inline bool may_be_handle(const void *pointer) {
    const auto bits = reinterpret_cast<std::uint64_t>(pointer);
    return (bits & 1) != 0 && bits >> HandleBits::generation_at != 0;
}

/// Handles of the C API and the objects behind them. A handle is a kind of object, a slot number and the slot's
/// generation, as a pointer. So a handle used after its object's destruction, or in the place of another kind, is
/// recognised instead of followed. Thread-safe; find() keeps the object alive for its caller.
template <HandleOf kind, class Handle, class Object>
class HandleTable {
public:
    /// A place for an object that is still to be made. Where all ranks make theirs together, none may find afterwards
    /// that there is no memory for its handle. The table must outlive it.
    class Reservation {
    public:
        explicit Reservation(HandleTable &table) : table_(table), index_(table.reserve()) {}
        ~Reservation() { table_.give_back(index_); }
        Reservation(const Reservation &) = delete;
        Reservation &operator=(const Reservation &) = delete;

        /// To be called once.
        Handle fill(std::shared_ptr<Object> object) noexcept { return table_.fill(index_, std::move(object)); }

    private:
        HandleTable &table_;
        const std::size_t index_;
    };

    /// Returns nullptr for a handle that was never valid, or is no longer.
    std::shared_ptr<Object> find(Handle handle) const {
        const std::lock_guard lock(mutex_);
        const std::size_t index = index_of(handle);
        if (index >= entries_.size() || encode(index, entries_[index].generation) != handle) return nullptr;
        return entries_[index].object;
    }

    /// Takes the object out: the handle becomes invalid.
    std::shared_ptr<Object> remove(Handle handle) {
        const std::lock_guard lock(mutex_);
        const std::size_t index = index_of(handle);
        if (index >= entries_.size() || encode(index, entries_[index].generation) != handle) return nullptr;
        return std::move(entries_[index].object);
    }

    /// Takes out all objects that `belongs` says yes to.
    template <class Belongs>
    void remove_if(const Belongs &belongs) {
        const std::lock_guard lock(mutex_);
        for (Entry &entry : entries_) {
            if (entry.object && belongs(*entry.object)) entry.object.reset();
        }
    }

private:
    struct Entry {
        std::shared_ptr<Object> object;
        std::uint64_t generation = 0;
        bool reserved = false;  // by a Reservation
    };
    std::size_t reserve() {
        const std::lock_guard lock(mutex_);
        std::size_t index = 0;
        while (index < entries_.size() && (entries_[index].object || entries_[index].reserved)) ++index;
        if (index == entries_.size()) entries_.emplace_back();
        entries_[index].reserved = true;
        return index;
    }
    void give_back(std::size_t index) noexcept {
        const std::lock_guard lock(mutex_);
        entries_[index].reserved = false;
    }
    Handle fill(std::size_t index, std::shared_ptr<Object> object) noexcept {
        const std::lock_guard lock(mutex_);
        entries_[index].object = std::move(object);
        return encode(index, ++entries_[index].generation);
    }

    static constexpr std::uint64_t low_bits = static_cast<std::uint64_t>(kind) << 1 | 1;
    static Handle encode(std::size_t index, std::uint64_t generation) {
        return reinterpret_cast<Handle>(generation << HandleBits::generation_at |
                                        static_cast<std::uint64_t>(index) << HandleBits::index_at | low_bits);
    }
    static std::size_t index_of(Handle handle) {
        const auto bits = reinterpret_cast<std::uint64_t>(handle);
        constexpr std::uint64_t kind_mask = (1ull << HandleBits::index_at) - 1;
        constexpr std::uint64_t index_mask = (1ull << (HandleBits::generation_at - HandleBits::index_at)) - 1;
        return (bits & kind_mask) != low_bits ? SIZE_MAX
                                              : static_cast<std::size_t>(bits >> HandleBits::index_at & index_mask);
    }

    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace baton::core
