#pragma once

#include "transport/transport.hpp"

namespace baton::core {

/// How an operation goes through staging: in segments, and each channel with its part of every segment. A channel
/// learns, by credits or signals, what peers have read of what it has sent itself, so its part of a slot must be the
/// same in all steps: what lies in another's part may still be read.
class Segments {
public:
    /// `bytes`: the most that any rank has for any other.
    template <class Engine>
    BATON_HD Segments(const Engine &engine, std::uint64_t bytes)
        : bytes_(bytes < engine.segment_bytes() ? bytes : engine.segment_bytes()),
          part_(engine.share(bytes_, copy_granule)) {}

    BATON_HD std::uint64_t bytes() const { return bytes_; }
    /// This channel's part of a segment, of which there may be fewer bytes: `rest` from its start on.
    BATON_HD Range part(std::uint64_t rest) const {
        const std::uint64_t begin = part_.begin < rest ? part_.begin : rest;
        return {begin, rest - begin < part_.bytes ? rest - begin : part_.bytes};
    }

    /// Where this channel's part begins in every slot.
    BATON_HD std::uint64_t begin() const { return part_.begin; }

private:
    std::uint64_t bytes_;
    Range part_;
};

/// The beginning of what a rank has for all, which it stages before anybody has arrived, as step 1: a segment, or what
/// there is room for. There is none on the host, where ranks meet before they know that they stage.
class EarlyPart {
public:
    template <class Engine>
    BATON_HD EarlyPart(const Engine &engine, std::uint64_t bytes)
        : bytes_(least(bytes, engine.early_bytes(), engine.segment_bytes())),
          part_(engine.share(bytes_, copy_granule)) {}

    /// Over all channels.
    BATON_HD std::uint64_t bytes() const { return bytes_; }
    /// This channel's part.
    BATON_HD Range part() const { return part_; }

private:
    BATON_HD static std::uint64_t least(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
        const std::uint64_t less = a < b ? a : b;
        return less < c ? less : c;
    }

    std::uint64_t bytes_;
    Range part_;
};

/// The segments in turn, a step each, through two slots. A step's signal is behind what its rank has read in the steps
/// before, so who has waited for all signals of a step may fill the slot of the step before that one again: only where
/// no signal comes back are slots asked for.
class SegmentSteps {
public:
    template <class Engine>
    BATON_HD SegmentSteps(const Engine &engine, std::uint64_t bytes)
        : segments_(engine, bytes), bytes_(bytes), offset_(0), step_(1), first_(1) {}
    /// Behind an early part, which is step 1.
    template <class Engine>
    BATON_HD SegmentSteps(const Engine &engine, std::uint64_t bytes, const EarlyPart &early)
        : segments_(engine, bytes - early.bytes()), bytes_(bytes), offset_(early.bytes()), step_(2), first_(2) {}

    BATON_HD bool more() const { return offset_ < bytes_; }
    BATON_HD void next() {
        offset_ += segments_.bytes();
        ++step_;
    }
    BATON_HD std::uint64_t step() const { return step_; }
    BATON_HD int slot() const { return static_cast<int>(step_ & 1); }
    /// This channel's part of the segment: where in a slot, and where in the bytes of a rank that has so many.
    BATON_HD std::uint64_t staged() const { return segments_.begin(); }
    BATON_HD Range part_of(std::uint64_t bytes) const {
        const std::uint64_t begin = offset_ < bytes ? offset_ : bytes;
        const Range part = segments_.part(bytes - begin);
        return {begin + part.begin, part.bytes};
    }
    BATON_HD Range part() const { return part_of(bytes_); }

    /// Whether the slot held a segment before, and will hold another one: the first and the last two need no credit.
    BATON_HD bool refills() const { return step_ >= first_ + 2; }
    BATON_HD bool is_refilled() const { return offset_ + 2 * segments_.bytes() < bytes_; }

private:
    const Segments segments_;
    const std::uint64_t bytes_;
    std::uint64_t offset_;
    std::uint64_t step_;
    const std::uint64_t first_;
};

}  // namespace baton::core
