#pragma once

#include "call.hpp"
#include "offers.hpp"

/// Programs about what orders data between ranks: signals, credits, packets.
namespace baton::core::contract {

/// Many steps of one operation. In each, every rank copies its block of the step to its own place in everybody's
/// `recv`, and after the wait sums the blocks of all ranks up into `out`: at once, so that it misses what a signal does
/// not make visible.
struct Rounds {
    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const bool met = engine.await_all();
        const Range part = engine.share(call.bytes, 16);
        const auto slot = [&](std::uint64_t step, int of) {
            const std::uint64_t index = (step - 1) * static_cast<std::uint64_t>(engine.size());
            return (index + static_cast<std::uint64_t>(of)) * call.bytes + part.begin;
        };
        bool waited = true;
        for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(call.steps); ++step) {
            std::byte *const block = call.send + (step - 1) * call.bytes + part.begin;
            for (int at = 1; at < engine.size(); ++at) {
                engine.copy(engine.recv_of(engine.peer_at(at)) + slot(step, engine.rank()), block, part.bytes);
            }
            engine.copy(engine.local(call.recv + slot(step, engine.rank())), block, part.bytes);
            engine.signal_all(step);
            waited = engine.wait_all(step) && waited;
            const auto *const sources = engine.sources(engine.size(), [&](int of) {
                // Enqueued copies within a rank are not ordered before its reductions: the contract says so.
                const bool enqueued = !acts_at_once<E> && of == engine.rank();
                return engine.local(enqueued ? block : call.recv + slot(step, of));
            });
            const typename E::Remote destination[1] = {engine.local(call.out + (step - 1) * call.bytes + part.begin)};
            engine.template reduce<std::uint8_t>(destination, 1, sources, part.bytes, BATON_SUM);
        }
        const bool finished = engine.finish();
        observe(observed, began, met, waited, finished);
    }
};

/// Many steps of one operation through a chain of ranks that starts at rank `shift`. The first copies its block of the
/// step from `send` to the same place in the next one's `recv`, and every rank passes on what has come, at once.
struct Relays {
    // Variants: who hears of a step. `slots`: only the next rank, as with `to_one`; the step lies in one of two places
    // of `recv`, from where it is copied to `out` before it is credited.
    static constexpr int to_all = 0, to_one = 1, slots = 2;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const bool met = engine.await_all();
        bool waited = true;
        bool credited = true;
        if constexpr (HasWait<E>) {
            if (call.variant == to_all) pass_on_telling_all(engine, call, waited);
        }
        if constexpr (HasPairs<E>) {
            if (call.variant != to_all) pass_on(engine, call, waited, credited);
        }
        const bool finished = engine.finish();
        observe(observed.began, began);
        observe(observed.met, met);
        observe(observed.waited, waited);
        observe(observed.credited, credited);
        observe(observed.finished, finished);
    }

private:
    /// A rank's place in the chain.
    struct Link {
        template <class E>
        BATON_HD Link(const E &engine, const Call &call)
            : next((engine.rank() + 1) % engine.size()),
              before((engine.rank() + engine.size() - 1) % engine.size()),
              first(engine.rank() == call.shift),
              last(next == call.shift) {}
        int next, before;
        bool first, last;
    };

    template <class E>
    static BATON_HD void pass_on_telling_all(E &engine, const Call &call, bool &waited) {
        const Range part = engine.share(call.bytes, 16);
        const Link link(engine, call);
        for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(call.steps); ++step) {
            if (!link.first) waited = engine.wait(link.before, step) && waited;
            const std::uint64_t block = (step - 1) * call.bytes + part.begin;
            const std::byte *from = (link.first ? call.send : call.recv) + block;
            if (!link.last) engine.copy(engine.recv_of(link.next) + block, from, part.bytes);
            engine.signal_all(step);
        }
    }

    template <class E>
    static BATON_HD void pass_on(E &engine, const Call &call, bool &waited, bool &credited) {
        const Range part = engine.share(call.bytes, 16);
        const Link link(engine, call);
        for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(call.steps); ++step) {
            if (!link.first) waited = engine.wait(link.before, step) && waited;
            const std::uint64_t block = (step - 1) * call.bytes + part.begin;
            const std::uint64_t place = call.variant == slots ? (step & 1) * call.bytes + part.begin : block;
            const std::byte *from = link.first ? call.send + block : call.recv + place;
            if (call.variant == slots && step > 2 && !link.last)
                credited = engine.wait_credit(link.next, step - 2) && credited;
            if (!link.last) engine.copy(engine.recv_of(link.next) + place, from, part.bytes);
            if (!link.last) engine.signal(link.next, step);
            if (call.variant != slots || link.first) continue;
            engine.copy(engine.local(call.out + block), from, part.bytes);
            engine.credit(link.before, step);
        }
        if (call.variant != to_one) return;
        // Nobody finishes before the last has read: else an engine whose data come late could get away with it.
        const auto end = static_cast<std::uint64_t>(call.steps) + 1;
        engine.signal_all(end);
        waited = engine.wait_all(end) && waited;
    }
};

/// Steps through two slots: in `recv`, in staging at the peers, or, once for all of them, in its own. A rank sends a
/// step before it has read the step before, so only the credits keep it from writing over a block that a peer has still
/// to read. With in_turn it sends after reading: then the signals do, and there are no credits.
struct Credits {
    static constexpr int in_recv = 0, in_staging = 1, in_own_staging = 2;  // variants
    static constexpr int in_turn = 4;                                      // added to one of them

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const bool met = engine.await_all();
        const Range part = engine.share(call.bytes, 16);
        const auto steps = static_cast<std::uint64_t>(call.steps);
        bool waited = true;
        bool credited = true;
        for (std::uint64_t step = 1; in_turns(call) && step <= steps; ++step) {
            send(engine, call, part, step);
            engine.signal_all(step);
            waited = engine.wait_all(step) && waited;
            combine(engine, call, part, step);
        }
        for (std::uint64_t step = 1; !in_turns(call) && step <= steps + 1; ++step) {
            if (step <= steps) {
                if (step > 2) credited = engine.wait_credits(step - 2) && credited;
                send(engine, call, part, step);
                engine.signal_all(step);
            }
            if (step == 1) continue;
            waited = engine.wait_all(step - 1) && waited;
            combine(engine, call, part, step - 1);
            engine.credit_all(step - 1);
        }
        const bool finished = engine.finish();
        observe(observed.began, began);
        observe(observed.met, met);
        observe(observed.waited, waited);
        observe(observed.credited, credited);
        observe(observed.finished, finished);
    }

private:
    static BATON_HD bool in_turns(const Call &call) { return (call.variant & in_turn) != 0; }
    static BATON_HD int place(const Call &call) { return call.variant & ~in_turn; }

    template <class E>
    static BATON_HD std::uint64_t slot(const E &engine, const Call &call, std::uint64_t step, int of) {
        return ((step & 1) * static_cast<std::uint64_t>(engine.size()) + static_cast<std::uint64_t>(of)) * call.bytes;
    }

    template <class E>
    static BATON_HD void send(E &engine, const Call &call, const Range &part, std::uint64_t step) {
        const std::byte *const block = call.send + (step - 1) * call.bytes + part.begin;
        const int parity = static_cast<int>(step & 1);
        if constexpr (HasOwnStaging<E>) {
            if (place(call) == in_own_staging)
                return engine.copy(engine.staging_of(engine.rank(), parity) + part.begin, block, part.bytes);
        }
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            if constexpr (HasStaging<E>) {
                if (place(call) == in_staging) {
                    engine.copy(engine.staging_at(peer, parity) + part.begin, block, part.bytes);
                    continue;
                }
            }
            engine.copy(engine.recv_of(peer) + slot(engine, call, step, engine.rank()) + part.begin, block, part.bytes);
        }
    }

    /// Own blocks come straight out of `send`.
    template <class E>
    static BATON_HD void combine(E &engine, const Call &call, const Range &part, std::uint64_t step) {
        const int parity = static_cast<int>(step & 1);
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            if constexpr (HasOwnStaging<E>) {
                if (place(call) == in_own_staging) return engine.staging_of(of, parity) + part.begin;
            }
            const std::byte *from = call.recv + slot(engine, call, step, of);
            if constexpr (HasStaging<E>) {
                if (place(call) == in_staging) from = engine.staging_from(of, parity);
            }
            if (of == engine.rank()) from = call.send + (step - 1) * call.bytes;
            return engine.local(from + part.begin);
        });
        const typename E::Remote destination[1] = {engine.local(call.out + (step - 1) * call.bytes + part.begin)};
        engine.template reduce<std::uint8_t>(destination, 1, sources, part.bytes, BATON_SUM);
    }
};

/// Data as packets.
struct Packets {
    // Variants:
    // - take: `send` to all, taken out into `recv`
    // - blocks: block p of `send` to rank p, taken out into `recv` (in both this rank's own part goes there at once)
    // - scatter: block p of `send` to rank p; `recv` becomes the reduction of what came and the own block
    // - gather: `send` to all; `recv` becomes the reduction of all `send`
    // - one: rank `shift` alone puts `send`, the others take it out into `recv`
    static constexpr int take = 0, scatter = 1, gather = 2, one = 3, blocks = 4;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        bool began = false;
        if constexpr (HasPackets<E>) began = move(engine, call);
        const bool finished = engine.finish();
        observe(observed.began, began);
        observe(observed.finished, finished);
    }

private:
    template <class E>
    static BATON_HD bool move(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        const auto block = [&](std::byte *of, int rank) {
            return of + static_cast<std::uint64_t>(rank) * call.bytes + part.begin;
        };
        if (call.variant == one) return move_one(engine, call, part);
        const bool reduced = call.variant == scatter || call.variant == gather;
        const std::uint64_t stride = call.variant == scatter || call.variant == blocks ? call.bytes : 0;
        const bool began = engine.begin_with_packets(call.arrival, call.send + part.begin, stride, part.bytes,
                                                     reduced ? nullptr : block(call.recv, engine.rank()));
        engine.verify_arrivals();
        if (reduced) {
            const std::byte *own = call.variant == scatter ? block(call.send, engine.rank()) : call.send + part.begin;
            if (call.type == BATON_FLOAT32) {
                engine.template reduce_packets_to<float>(call.recv + part.begin, own, part.bytes / sizeof(float),
                                                         call.op);
            } else {
                engine.template reduce_packets_to<std::uint8_t>(call.recv + part.begin, own, part.bytes, call.op);
            }
        } else {
            engine.take_packets_from_each(call.recv + part.begin, call.bytes, part.bytes);
        }
        return began;
    }

    template <class E>
    static BATON_HD bool move_one(E &engine, const Call &call, const Range &part) {
        const bool puts = engine.rank() == call.shift;
        const bool began = puts
                               ? engine.begin_with_packets(call.arrival, call.send + part.begin, 0, part.bytes, nullptr)
                               : engine.begin(call.arrival);
        engine.verify_arrivals();
        if (!puts) engine.take_packets_from(call.shift, call.recv + part.begin, part.bytes);
        return began;
    }
};

}  // namespace baton::core::contract
