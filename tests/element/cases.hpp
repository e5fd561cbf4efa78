#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "transport/element/reduce.hpp"

/// What the tests of moving and reducing share between host and GPU: buffers at chosen addresses and random elements.
namespace baton::test {

/// Offsets of buffers from a 256-byte boundary: all the same (`skew` 0) or all different.
struct Placement {
    std::size_t offset;
    std::size_t skew;
    std::size_t of(int buffer) const { return (offset + skew * static_cast<std::size_t>(buffer)) % 17; }
};

inline std::string describe(const Placement &placement) {
    return "offset " + std::to_string(placement.offset) + ", skew " + std::to_string(placement.skew);
}

/// Several buffers of `bytes` each in one allocation, between guards, at 256-byte boundaries plus their placement.
class Layout {
public:
    Layout(int buffers, std::size_t bytes, Placement placement)
        : placement_(placement),
          pitch_((bytes + guard + 32 + 255) / 256 * 256 + 256),
          size_(pitch_ * static_cast<std::size_t>(buffers)) {}
    std::size_t size() const { return size_; }
    std::size_t at(int buffer) const {
        return pitch_ * static_cast<std::size_t>(buffer) + guard + placement_.of(buffer);
    }

private:
    static constexpr std::size_t guard = 256;
    Placement placement_;
    std::size_t pitch_;
    std::size_t size_;
};

/// A byte vector whose data begins at a 256-byte boundary.
class Bytes {
public:
    explicit Bytes(std::size_t size, unsigned char fill = 0) : storage_(size + 256, fill), size_(size) {
        shift_ = (256 - reinterpret_cast<std::uintptr_t>(storage_.data()) % 256) % 256;
    }
    Bytes(const Bytes &other) : Bytes(other.size_) { std::memcpy(data(), other.data(), size_); }
    Bytes &operator=(const Bytes &) = delete;
    unsigned char *data() { return storage_.data() + shift_; }
    const unsigned char *data() const { return storage_.data() + shift_; }
    std::size_t size() const { return size_; }
    bool operator==(const Bytes &other) const {
        return size_ == other.size_ && std::memcmp(data(), other.data(), size_) == 0;
    }

private:
    std::vector<unsigned char> storage_;
    std::size_t size_;
    std::size_t shift_;
};

/// Integers and one floating-point element in eight have any bits, so they may be NaNs and infinities. The others have
/// magnitudes at which sums round.
template <class T>
T random_element(std::mt19937_64 &random) {
    const std::uint64_t bits = random();
    T element;
    if (!core::is_floating_element<T> || bits % 8 == 0) {
        const std::uint64_t any = random();
        std::memcpy(&element, &any, sizeof(T));
        return element;
    }
    using Value = core::Accumulator<T>;
    if constexpr (core::is_floating_element<T>) {
        const auto mantissa = static_cast<Value>(static_cast<std::int64_t>(bits >> 8) >> 20);
        const Value scale = std::bit_cast<float>(static_cast<std::uint32_t>(127 - 36 + (bits >> 3) % 8) << 23);
        element = core::Element<T>::store(mantissa * scale);
    }
    return element;
}

inline void fill_random_bytes(unsigned char *at, std::size_t bytes, std::mt19937_64 &random) {
    for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(random());
}

template <class T>
void fill_random(unsigned char *at, std::size_t count, std::mt19937_64 &random) {
    for (std::size_t i = 0; i < count; ++i) {
        const T element = random_element<T>(random);
        std::memcpy(at + i * sizeof(T), &element, sizeof(T));
    }
}

}  // namespace baton::test
