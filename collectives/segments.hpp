#pragma once

#include "transport/transport.hpp"

namespace baton::core {

/// How an operation goes through staging: in segments, each channel with its part of every segment. From credits or
/// signals a channel learns only what peers have read of what it has sent itself. So its part of a slot must be the
/// same in all steps: what lies in another channel's part may still be read.
class Segments {
public:
    /// `bytes`: the most that any rank has for any other.
    template <class Engine>
    BATON_HD Segments(const Engine &engine, std::uint64_t bytes)
        : bytes_(bytes < engine.segment_bytes() ? bytes : engine.segment_bytes()),
          part_(engine.share(bytes_, copy_granule)) {}

    BATON_HD std::uint64_t bytes() const { return bytes_; }
    /// This channel's part of a segment, which may be shorter: `rest` bytes are left from its start on.
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

}  // namespace baton::core
