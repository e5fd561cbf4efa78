#pragma once

#include "call.hpp"
#include "offers.hpp"

/// Programs that meet failures: what every engine that acts at once does then.
namespace baton::core::contract {

/// Calls every method of an operation that fails at await_all. Nothing may happen to `recv`, `out` or any peer's
/// memory.
struct GoOnAfterFailure {
    template <class E>
    struct Lists {
        const typename E::Remote *sources;
        const typename E::Remote *destinations;
    };

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const bool met = engine.await_all();
        observe(observed.began, began);
        observe(observed.met, met);
        const int next = engine.size() > 1 ? engine.peer_at(1) : engine.rank();
        engine.copy(engine.local(call.out), call.send, call.bytes);
        engine.copy(engine.recv_of(next), call.send, call.bytes);
        const auto lists = [&] {
            return Lists<E>{engine.sources(engine.size(), [&](int) { return engine.local(call.send); }),
                            engine.destinations(
                                2, [&](int at) { return at == 0 ? engine.local(call.out) : engine.recv_of(next); })};
        };
        const Lists<E> first = lists();
        engine.template reduce<std::uint8_t>(first.destinations, 2, first.sources, call.bytes, BATON_SUM);
        engine.signal_all(1);
        bool waited = engine.wait_all(1);
        engine.credit_all(1);
        bool credited = engine.wait_credits(1);
        if constexpr (HasPairs<E>) {
            engine.signal(next, 1);
            waited = engine.wait(next, 1) || waited;
            engine.credit(next, 1);
            credited = engine.wait_credit(next, 1) || credited;
        }
        if constexpr (HasParts<E>) {
            const Lists<E> again = lists();
            engine.template accumulate<std::uint8_t>(engine.local(call.out), nullptr, again.sources, 1, call.bytes,
                                                     BATON_SUM);
            engine.template complete<std::uint8_t>(again.destinations, 2, call.send, again.sources, 1, call.bytes,
                                                   BATON_SUM);
        }
        if constexpr (HasPackets<E>) {
            engine.verify_arrivals();
            engine.take_packets_from_each(call.out, 0, call.bytes);
            engine.take_packets_from(next, call.out, call.bytes);
            engine.template reduce_packets_to<std::uint8_t>(call.out, call.send, call.bytes, BATON_SUM);
        }
        if constexpr (HasLines<E>) {
            const auto part_of = [&](int) { return LinePart{next, call.bytes, nullptr, call.out}; };
            engine.relay_lines(next, call.out, call.bytes);
            engine.pass_lines({next, next, nullptr, call.out, call.bytes});
            engine.take_lines(1, call.bytes, part_of);
            engine.template reduce_and_relay_lines<std::uint8_t>(call.out, call.send, call.bytes, BATON_SUM, 0);
            engine.template reduce_lines_to<std::uint8_t>(call.out, call.send, call.bytes, BATON_SUM);
        }
        const bool met_again = engine.await_all();
        const bool finished = engine.finish();
        observe(observed.waited, waited || met_again);
        observe(observed.credited, credited);
        observe(observed.finished, finished);
    }
};

/// Rank `shift` stops before it does what the others wait for.
struct StopShort {
    // Variants: what the others wait for. For `arrival` rank `shift` does not take part at all.
    static constexpr int arrival = 0, signal = 1, one_signal = 2, credit = 3, one_credit = 4, one_packets = 5,
                         lines_relayed = 6, packets = 7, packets_reduced = 8, lines = 9, lines_reduced = 10,
                         lines_passed = 11, lines_not_passed = 12;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool stops = engine.rank() == call.shift;
        if (call.variant >= lines_passed && !stops) return wait_in_pass(engine, call, observed);
        const bool in_lines = call.variant == lines_relayed || call.variant == lines || call.variant == lines_reduced;
        if (in_lines && !stops) return wait_for_lines(engine, call, observed);
        if (call.variant >= one_packets && !stops) return wait_for_packets(engine, call, observed);
        observe(observed.began, engine.begin(call.arrival));
        if (call.variant == arrival) {
            tell_started(call);
            observe(observed.met, engine.await_all());
        } else if (call.variant == one_signal || call.variant == one_credit) {
            observe(observed.met, engine.await_all());
            tell_started(call);
            if constexpr (HasPairs<E>) {
                if (!stops && call.variant == one_signal) observe(observed.waited, engine.wait(call.shift, 1));
                if (!stops && call.variant == one_credit) observe(observed.credited, engine.wait_credit(call.shift, 1));
            }
        } else if (call.variant == signal || call.variant == credit) {
            observe(observed.met, engine.await_all());
            if (call.variant == credit || !stops) engine.signal_all(1);
            if (call.variant == signal && !stops) tell_started(call);
            if (call.variant == credit || !stops) observe(observed.waited, engine.wait_all(1));
            if (call.variant == credit && !stops) {
                engine.credit_all(1);
                tell_started(call);
                observe(observed.credited, engine.wait_credits(1));
            }
        }
        if (!stops) observe(observed.finished, engine.finish());
    }

private:
    template <class E>
    static BATON_HD void wait_for_packets(E &engine, const Call &call, Observed &observed) {
        if constexpr (HasPackets<E>) {
            const bool began = engine.begin_with_packets(call.arrival, call.send, 0, call.bytes, nullptr);
            engine.verify_arrivals();
            tell_started(call);
            if (call.variant == packets_reduced) {
                engine.template reduce_packets_to<std::uint8_t>(call.out, call.send, call.bytes, BATON_SUM);
            } else if (call.variant == one_packets) {
                engine.take_packets_from(call.shift, call.out, call.bytes);
            } else {
                engine.take_packets_from_each(call.out, 0, call.bytes);
            }
            const bool finished = engine.finish();
            observe(observed.began, began);
            observe(observed.finished, finished);
        }
    }

    /// Passes lines from rank to rank: from `shift` on, which does not send, or to it, which takes none, more than
    /// there is place for.
    template <class E>
    static BATON_HD void wait_in_pass(E &engine, const Call &call, Observed &observed) {
        if constexpr (HasLines<E>) {
            const int before = engine.peer_at(engine.size() - 1), after = engine.peer_at(1);
            const bool to_it = call.variant == lines_not_passed;
            const bool began = engine.begin(call.arrival);
            engine.verify_arrivals();
            tell_started(call);
            engine.pass_lines({to_it && before == call.shift ? no_rank : before,
                               !to_it && after == call.shift ? no_rank : after, call.send, call.out, call.bytes});
            const bool finished = engine.finish();
            observe(observed.began, began);
            observe(observed.finished, finished);
        }
    }

    template <class E>
    static BATON_HD void wait_for_lines(E &engine, const Call &call, Observed &observed) {
        if constexpr (HasLines<E>) {
            const auto part_of = [&](int index) {
                return LinePart{engine.peer_at(index + 1), call.bytes, call.send, nullptr};
            };
            const auto to_take = [&](int index) {
                return LinePart{engine.peer_at(index + 1), call.bytes, nullptr, call.out};
            };
            const bool began = engine.begin_with_lines(call.arrival, engine.size() - 1, call.bytes, part_of);
            engine.verify_arrivals();
            tell_started(call);
            if (call.variant == lines_reduced) {
                engine.template reduce_lines_to<std::uint8_t>(call.out, call.send, call.bytes, BATON_SUM);
            } else if (call.variant == lines_relayed) {
                engine.relay_lines(call.shift, call.out, call.bytes);
            } else {
                engine.take_lines(engine.size() - 1, call.bytes, to_take);
            }
            const bool finished = engine.finish();
            observe(observed.began, began);
            observe(observed.finished, finished);
        }
    }
};

}  // namespace baton::core::contract
