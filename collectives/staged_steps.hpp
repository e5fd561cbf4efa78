#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

namespace baton::core {

/// How an operation goes through staging, a step at a time: first what fits in early staging, which a rank may fill
/// before anybody has arrived, then segments, in turn through two slots. A rank signals a step after it has read those
/// before. So once all signals of a step have come, the slot of the step before that may be filled again; credits are
/// needed only where no signal comes back.
template <class Engine>
class StagedSteps {
public:
    using Remote = typename Engine::Remote;
    static constexpr bool has_early = requires(const Engine &engine) { engine.early_of(0); };

    /// `bytes`: the most that any rank has for any other. `places`: how many places a rank's early staging is divided
    /// into: one for each peer, one for what it has for all, or both; 0 if it is not used.
    BATON_HD StagedSteps(const Engine &engine, std::uint64_t bytes, int places)
        : engine_(engine),
          bytes_(bytes),
          places_(places),
          early_bytes_(early_bytes(engine, bytes, places)),
          segments_(engine, bytes - early_bytes_),
          piece_(early_bytes_ > 0 ? Segments(engine, early_bytes_) : segments_) {}

    BATON_HD bool more() const { return offset_ < bytes_; }
    BATON_HD void next() {
        offset_ += piece_.bytes();
        ++step_;
        piece_ = segments_;
    }
    BATON_HD std::uint64_t step() const { return step_; }
    /// Awaits the arrivals: before the first step or, if that is early, behind what is staged in it.
    BATON_HD bool await_arrivals(Engine &engine) const {
        if constexpr (has_early) {
            if (early_bytes_ == bytes_) {  // no slots are used
                engine.verify_arrivals();
                return true;
            }
        }
        return engine.await_all([](int) { return false; });
    }
    BATON_HD bool is_early() const { return offset_ < early_bytes_; }
    BATON_HD int slot() const { return static_cast<int>(step_ & 1); }

    /// This channel's part of the step, in the bytes of a rank that has `bytes` of them.
    BATON_HD Range part_of(std::uint64_t bytes) const {
        const std::uint64_t begin = offset_ < bytes ? offset_ : bytes;
        const Range part = piece_.part(bytes - begin);
        return {begin + part.begin, part.bytes};
    }
    BATON_HD Range part() const { return part_of(bytes_); }

    /// Where this channel's part is staged: what rank `of` has for all, what this rank has for a peer, and what a peer
    /// has for this rank.
    BATON_HD Remote place_of(int of, int slot) const {
        return is_early() ? early_place(of, places_ - 1) : engine_.staging_of(of, slot) + segments_.begin();
    }
    BATON_HD Remote place_for(int peer, int slot) const {
        return is_early() ? early_place(engine_.rank(), before(engine_.rank(), peer))
                          : engine_.staging_at(peer, slot) + segments_.begin();
    }
    BATON_HD Remote place_from(int peer, int slot) const {
        return is_early() ? early_place(peer, before(peer, engine_.rank()))
                          : engine_.local(engine_.staging_from(peer, slot) + segments_.begin());
    }

    /// Whether the slot has held a segment before, and whether it will hold another: the first two steps and the last
    /// two need no credit.
    BATON_HD bool refills() const { return offset_ >= early_bytes_ + 2 * segments_.bytes(); }
    BATON_HD bool is_refilled() const { return !is_early() && offset_ + 2 * segments_.bytes() < bytes_; }

private:
    BATON_HD static std::uint64_t early_bytes(const Engine &engine, std::uint64_t bytes, int places) {
        if constexpr (has_early) {
            const std::uint64_t room = places == 0 ? 0 : engine.early_bytes(places);
            return Segments(engine, room < bytes ? room : bytes).bytes();
        } else {
            return 0;
        }
    }
    BATON_HD Remote early_place(int owner, int index) const {
        if constexpr (has_early) {
            const std::uint64_t place = round_up(piece_.part(early_bytes_).bytes, copy_granule);
            return engine_.early_of(owner) + static_cast<std::uint64_t>(index) * place;
        } else {
            return {};
        }
    }
    /// How many peers' places lie before the reader's. The first place is for the rank after the owner.
    BATON_HD int before(int owner, int reader) const {
        return reader > owner ? reader - owner - 1 : reader - owner - 1 + engine_.size();
    }

    const Engine &engine_;
    const std::uint64_t bytes_;
    const int places_;
    const std::uint64_t early_bytes_;
    const Segments segments_;
    Segments piece_;  // of the step
    std::uint64_t offset_ = 0;
    std::uint64_t step_ = 1;
};

}  // namespace baton::core
