#pragma once

#include "call.hpp"
#include "offers.hpp"
#include "programs_order.hpp"

namespace baton::core::contract {

/// Data in lines, with the variants of Packets and three more:
/// - one: rank `shift` alone has data; a part of it goes to each of the others, which relay it.
/// - sums: block p of `send` to rank p, whose result goes on to all: `recv` becomes the reduction of all blocks.
/// - passed: from rank `shift` on, from rank to rank. passed_first: the same before signals.
struct Lines {
    static constexpr int sums = 5, passed = 6, passed_first = 7;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        bool began = false;
        if constexpr (HasLines<E>) {
            began = call.variant == Packets::one ? relay(engine, call)
                    : call.variant >= passed     ? pass(engine, call)
                                                 : move(engine, call);
        }
        const bool finished = engine.finish();
        observe(observed.began, began);
        observe(observed.finished, finished);
    }

private:
    template <class E>
    static BATON_HD bool pass(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        const int before = engine.peer_at(engine.size() - 1), after = engine.peer_at(1);
        const bool began = engine.begin(call.arrival);
        engine.verify_arrivals();
        const bool first = engine.rank() == call.shift, last = after == call.shift;
        engine.pass_lines({first ? no_rank : before, last ? no_rank : after, call.send + part.begin,
                           call.recv + part.begin, part.bytes});
        if constexpr (HasPairs<E>) {
            const bool signals = call.variant == passed_first && before != after;
            for (std::uint64_t step = 1; signals && step <= static_cast<std::uint64_t>(call.steps); ++step) {
                if (!first) engine.wait(before, step);
                if (!last) engine.signal(after, step);
            }
        }
        return began;
    }

    template <class E>
    static BATON_HD bool move(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        const auto block = [&](std::byte *of, int rank) {
            return of + static_cast<std::uint64_t>(rank) * call.bytes + part.begin;
        };
        const bool reduced = call.variant == Packets::scatter || call.variant == Packets::gather;
        const bool blocks = call.variant == Packets::scatter || call.variant == Packets::blocks;
        const auto to_send = [&](int index) {
            const int peer = engine.peer_at(index + 1);
            const bool kept = peer == engine.rank() && !reduced;
            return LinePart{peer, part.bytes, blocks ? block(call.send, peer) : call.send + part.begin,
                            kept ? block(call.recv, peer) : nullptr};
        };
        const auto to_take = [&](int index) {
            const int peer = engine.peer_at(index + 1);
            return LinePart{peer, part.bytes, nullptr, block(call.recv, peer)};
        };
        if (call.variant == sums) return move_sums(engine, call, part);
        const int parts = reduced ? engine.size() - 1 : engine.size();
        const bool began = engine.begin_with_lines(call.arrival, parts, part.bytes, to_send);
        engine.verify_arrivals();
        if (!reduced) {
            engine.take_lines(engine.size() - 1, part.bytes, to_take);
            return began;
        }
        const std::byte *own =
            call.variant == Packets::scatter ? block(call.send, engine.rank()) : call.send + part.begin;
        if (call.type == BATON_FLOAT32) {
            engine.template reduce_lines_to<float>(call.recv + part.begin, own, part.bytes / sizeof(float), call.op);
        } else {
            engine.template reduce_lines_to<std::uint8_t>(call.recv + part.begin, own, part.bytes, call.op);
        }
        return began;
    }

    template <class E>
    static BATON_HD bool move_sums(E &engine, const Call &call, const Range &part) {
        const auto block = [&](std::byte *of, int rank) {
            return of + static_cast<std::uint64_t>(rank) * call.bytes + part.begin;
        };
        const auto to_send = [&](int index) {
            const int peer = engine.peer_at(index + 1);
            return LinePart{peer, part.bytes, block(call.send, peer), nullptr};
        };
        const auto to_take = [&](int index) {
            const int peer = engine.peer_at(index + 1);
            return LinePart{peer, part.bytes, nullptr, block(call.recv, peer), part.bytes};
        };
        const bool began = engine.begin_with_lines(call.arrival, engine.size() - 1, part.bytes, to_send);
        engine.verify_arrivals();
        std::byte *const result = block(call.recv, engine.rank());
        const std::byte *const own = block(call.send, engine.rank());
        if (call.type == BATON_FLOAT32) {
            engine.template reduce_and_relay_lines<float>(result, own, part.bytes / sizeof(float), call.op, part.bytes);
        } else {
            engine.template reduce_and_relay_lines<std::uint8_t>(result, own, part.bytes, call.op, part.bytes);
        }
        engine.take_lines(engine.size() - 1, part.bytes, to_take);
        return began;
    }

    /// The parts start anywhere, and the last may be short or empty. The rank that has the data keeps none of it.
    template <class E>
    static BATON_HD bool relay(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        const int others = engine.size() - 1;
        const auto rank_of = [&](int index) { return (call.shift + 1 + index) % engine.size(); };
        const auto range_of = [&](int index) {
            const Range range = split(part.bytes, 1, others, index);
            return Range{part.begin + range.begin, range.bytes};
        };
        if (others == 0) return engine.begin(call.arrival);
        const std::uint64_t most = range_of(0).bytes;
        if (engine.rank() == call.shift) {
            const bool began = engine.begin_with_lines(call.arrival, others, most, [&](int index) {
                return LinePart{rank_of(index), range_of(index).bytes, call.send + range_of(index).begin, nullptr};
            });
            engine.verify_arrivals();
            return began;
        }
        const bool began = engine.begin(call.arrival);
        engine.verify_arrivals();
        const int mine = (engine.rank() - call.shift - 1 + engine.size()) % engine.size();
        engine.relay_lines(call.shift, call.recv + range_of(mine).begin, range_of(mine).bytes);
        engine.take_lines(others - 1, most, [&](int index) {
            const int of = index < mine ? index : index + 1;
            return LinePart{rank_of(of), range_of(of).bytes, nullptr, call.recv + range_of(of).begin};
        });
        return began;
    }
};

}  // namespace baton::core::contract
