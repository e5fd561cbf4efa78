#pragma once

#include "call.hpp"
#include "offers.hpp"
#include "transport/element/reduce.hpp"

/// Programs that move data: arrivals, shares, copies, reductions.
namespace baton::core::contract {

/// Arrivals and nothing else.
struct Meet {
    // Variants: whose buffers are found, all but those of rank `shift`, or no rank's.
    static constexpr int finding_all = 0, finding_others = 1, verifying = 2;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        observe(observed.began, engine.begin(call.arrival));
        if (call.variant == finding_all) {
            observe(observed.met, engine.await_all());
        } else if (call.variant == finding_others) {
            observe(observed.met, engine.await_all([&](int peer) { return peer != call.shift; }));
        } else if constexpr (HasPackets<E>) {
            engine.verify_arrivals();
        }
        observe(observed.part, engine.share(call.bytes, call.granule));
        observe(observed.finished, engine.finish());
    }
};

/// Every rank copies `send` to its place in everybody's `recv`, or reads everybody's `send` to its place in `recv`. If
/// the engine has the peers' send buffers, `out` becomes the sum of all `send`, element by element.
struct Exchange {
    // Variants: in which order the peers are written to; or they are read from.
    static constexpr int in_step = 0, spread = 1, reading = 2;

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const Range part = engine.share(call.bytes, call.granule);
        const std::uint64_t place = static_cast<std::uint64_t>(engine.rank()) * call.bytes + part.begin;
        const bool met = engine.await_all();
        engine.copy_own(call.recv + place, call.send + part.begin, part.bytes);
        for (int step = 1; step < engine.size(); ++step) {
            const int peer = call.variant == spread ? engine.spread_peer_at(step) : engine.peer_at(step);
            if constexpr (HasSources<E>) {
                const std::uint64_t theirs = static_cast<std::uint64_t>(peer) * call.bytes + part.begin;
                if (call.variant == reading)
                    engine.copy_from(call.recv + theirs, engine.send_of(peer) + part.begin, part.bytes);
            }
            if (call.variant != reading) engine.copy(engine.recv_of(peer) + place, call.send + part.begin, part.bytes);
        }
        if constexpr (HasSources<E>) {
            const auto *const sources = engine.sources(engine.size(), [&](int of) {
                return (of == engine.rank() ? engine.local(call.send) : engine.send_of(of)) + part.begin;
            });
            const typename E::Remote destination[1] = {engine.local(call.out + part.begin)};
            engine.template reduce<std::uint8_t>(destination, 1, sources, part.bytes, BATON_SUM);
        }
        engine.signal_all(1);
        const bool waited = engine.wait_all(1);
        const bool finished = engine.finish();
        observe(observed.part, part);
        observe(observed, began, met, waited, finished);
    }
};

/// Reductions of size() sources in an order that is not the ranks'.
struct Reduce {
    static constexpr int here = 0, across = 1, passed_on = 2, in_parts = 3;  // variants

    template <class E>
    static BATON_HD void run(E &engine, const Call &call, Observed &observed) {
        switch (call.type) {
            case BATON_FLOAT32:
                return typed<float>(engine, call, observed);
            case BATON_BFLOAT16:
                return typed<BFloat16>(engine, call, observed);
            default:
                return typed<std::uint8_t>(engine, call, observed);
        }
    }

private:
    template <class T, class E>
    static BATON_HD void typed(E &engine, const Call &call, Observed &observed) {
        const bool began = engine.begin(call.arrival);
        const bool met = engine.await_all();
        bool waited = true;
        if (call.variant == in_parts) {
            if constexpr (HasParts<E>) reduce_in_parts<T>(engine, call, waited);
        } else if (call.variant == here) {
            reduce_here<T>(engine, call);
        } else if constexpr (HasSources<E>) {
            call.variant == across ? reduce_across<T>(engine, call) : pass_on<T>(engine, call);
        }
        if (call.variant != in_parts) {
            engine.signal_all(1);
            waited = engine.wait_all(1);
        }
        const bool finished = engine.finish();
        observe(observed, began, met, waited, finished);
    }

    template <class E>
    static BATON_HD typename E::Remote block_of(const E &engine, const Call &call, int at) {
        return engine.local(call.send + static_cast<std::uint64_t>((at + call.shift) % engine.size()) * call.bytes);
    }

    /// Sources are the blocks of `send`, from block `shift` on; the destination is `recv`, which may be one of them.
    template <class T, class E>
    static BATON_HD void reduce_here(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        const auto *const sources =
            engine.sources(engine.size(), [&](int at) { return block_of(engine, call, at) + part.begin; });
        const typename E::Remote destination[1] = {engine.local(call.recv + part.begin)};
        engine.template reduce<T>(destination, 1, sources, part.bytes / sizeof(T), call.op);
    }

    /// Each rank begins one reduction and completes another. Sources are the blocks of `send` from block `shift` on,
    /// `steps` of them a part. After every part the next rank goes on with what it got in staging from the one before.
    /// The last part ends in `recv`, and in the next rank's `recv` behind that rank's own result.
    template <class T, class E>
    static BATON_HD void reduce_in_parts(E &engine, const Call &call, bool &waited) {
        const Range part = engine.share(call.bytes, 128);
        const std::uint64_t count = part.bytes / sizeof(T);
        const std::uint64_t place = part.begin / sizeof(T) * sizeof(Accumulator<T>);
        const int size = engine.size();
        const int next = (engine.rank() + 1) % size, before = (engine.rank() + size - 1) % size;
        const auto *const sources =
            engine.sources(size, [&](int at) { return block_of(engine, call, at) + part.begin; });
        const std::byte *partial = nullptr;
        std::uint64_t step = 1;
        int at = 0;
        for (; at + call.steps < size; at += call.steps, ++step) {
            const int slot = static_cast<int>(step & 1);
            if (step > 2) waited = engine.wait_credit(next, step - 2) && waited;
            engine.template accumulate<T>(engine.staging_at(next, slot) + place, partial, sources + at, call.steps,
                                          count, call.op);
            engine.signal(next, step);
            if (step > 1) engine.credit(before, step - 1);
            waited = engine.wait(before, step) && waited;
            partial = engine.staging_from(before, slot) + place;
        }
        const typename E::Remote destinations[2] = {
            engine.local(call.recv + part.begin),
            (next == engine.rank() ? engine.local(call.recv) : engine.recv_of(next)) + call.bytes + part.begin};
        engine.template complete<T>(destinations, 2, partial, sources + at, size - at, count, call.op);
        engine.signal(next, step);
        waited = engine.wait(before, step) && waited;
    }

    /// Reduces the blocks of `send`, from block `shift` on, into `out`, and copies that to this rank's place in
    /// everybody's `recv`; in two pieces, so that the second is reduced while the first is copied.
    template <class T, class E>
    static BATON_HD void pass_on(E &engine, const Call &call) {
        const Range part = engine.share(call.bytes, 16);
        for (int half = 0; half < 2; ++half) {
            const Range piece = split(part.bytes, 16, 2, half);
            const std::uint64_t offset = part.begin + piece.begin;
            const auto *const sources =
                engine.sources(engine.size(), [&](int at) { return block_of(engine, call, at) + offset; });
            const typename E::Remote destination[1] = {engine.local(call.out + offset)};
            engine.template reduce<T>(destination, 1, sources, piece.bytes / sizeof(T), call.op);
            engine.order_here();
            const std::uint64_t place = static_cast<std::uint64_t>(engine.rank()) * call.bytes + offset;
            engine.copy(engine.local(call.recv + place), call.out + offset, piece.bytes);
            for (int step = 1; step < engine.size(); ++step) {
                engine.copy(engine.recv_of(engine.peer_at(step)) + place, call.out + offset, piece.bytes);
            }
        }
    }

    /// Sources are all ranks' `send`, from rank `shift` on. Every rank combines its n-th, and stores it into all ranks'
    /// `recv`, which may equal `send`, and into its own `out`.
    template <class T, class E>
    static BATON_HD void reduce_across(E &engine, const Call &call) {
        const Range owned = split(call.bytes, 16, engine.size(), engine.rank());
        const Range part = engine.share(owned.bytes, 16);
        const std::uint64_t place = owned.begin + part.begin;
        const auto *const sources = engine.sources(engine.size(), [&](int at) {
            const int of = (at + call.shift) % engine.size();
            return (of == engine.rank() ? engine.local(call.send) : engine.send_of(of)) + place;
        });
        const auto *const destinations = engine.destinations(engine.size() + 1, [&](int at) {
            if (at == engine.size()) return engine.local(call.out + place);
            const int to = (at + engine.rank()) % engine.size();
            return (to == engine.rank() ? engine.local(call.recv) : engine.recv_of(to)) + place;
        });
        engine.template reduce<T>(destinations, engine.size() + 1, sources, part.bytes / sizeof(T), call.op);
    }
};

}  // namespace baton::core::contract
