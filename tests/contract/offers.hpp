#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"

/// What of the contract an engine offers, as facts of its class that the compiler checks.
namespace baton::core::contract {

/// What every engine has.
template <class E>
concept Engine = requires(E engine, const Arrival &arrival, typename E::Remote remote, std::byte *here,
                          const std::byte *source, std::uint64_t n, int peer, typename E::Remote (*remote_of)(int),
                          bool (*finds)(int)) {
    { engine.rank() } -> std::same_as<int>;
    { engine.size() } -> std::same_as<int>;
    { engine.peer_at(1) } -> std::same_as<int>;
    { engine.spread_peer_at(1) } -> std::same_as<int>;
    { engine.share(n, n) } -> std::same_as<Range>;
    { engine.begin(arrival) } -> std::same_as<bool>;
    { engine.await_all() } -> std::same_as<bool>;
    { engine.await_all(finds) } -> std::same_as<bool>;
    { engine.recv_of(peer) + n } -> std::same_as<typename E::Remote>;
    { engine.local(source) } -> std::same_as<typename E::Remote>;
    engine.copy(remote, source, n);
    { engine.sources(peer, remote_of) } -> std::same_as<const typename E::Remote *>;
    { engine.destinations(peer, remote_of) } -> std::same_as<const typename E::Remote *>;
    engine.copy_own(here, source, n);
    engine.template reduce<float>(&remote, 1, &remote, n, 0);
    engine.signal_all(n);
    { engine.wait_all(n) } -> std::same_as<bool>;
    engine.credit_all(n);
    { engine.wait_credits(n) } -> std::same_as<bool>;
    { engine.finish() } -> std::same_as<bool>;
};

/// What comes from one peer can be waited for, and passed on.
template <class E>
concept HasWait = requires(E engine, int peer, std::uint64_t n) {
    { engine.wait(peer, n) } -> std::same_as<bool>;
};

/// Signals, credits and waits of one peer.
template <class E>
concept HasPairs = HasWait<E> && requires(E engine, int peer, std::uint64_t n) {
    engine.signal(peer, n);
    engine.credit(peer, n);
    { engine.wait_credit(peer, n) } -> std::same_as<bool>;
};

/// Parts of reductions.
template <class E>
concept HasParts = requires(E engine, typename E::Remote remote, const std::byte *source, std::uint64_t n) {
    engine.template accumulate<float>(remote, source, &remote, 1, n, 0);
    engine.template complete<float>(&remote, 1, source, &remote, 1, n, 0);
};

/// Whether methods act when they are called. If not, they are enqueued: they return true whatever happens later, and
/// only what the contract names is ordered.
template <class E>
inline constexpr bool acts_at_once = true;

/// Copies from the peers' send buffers, and of what reduce() has made. The sources of reduce(), and any number of its
/// destinations, may lie at a peer.
template <class E>
concept HasSources = acts_at_once<E> &&
    requires(E engine, typename E::Remote remote, std::byte *here, std::uint64_t n, int peer) {
    { engine.send_of(peer) } -> std::same_as<typename E::Remote>;
    engine.copy_from(here, remote, n);
    engine.order_here();
};

template <class E>
concept HasStaging = requires(E engine, int peer) {
    { engine.segment_bytes() } -> std::same_as<std::uint64_t>;
    { engine.staging_at(peer, 0) } -> std::same_as<typename E::Remote>;
    { engine.staging_from(peer, 0) } -> std::same_as<std::byte *>;
};

template <class E>
concept HasOwnStaging = HasStaging<E> && requires(E engine, int rank) {
    { engine.staging_of(rank, 0) } -> std::same_as<typename E::Remote>;
    { engine.early_bytes(1) } -> std::same_as<std::uint64_t>;
    { engine.early_of(rank) } -> std::same_as<typename E::Remote>;
};

template <class E>
concept HasPackets = requires(E engine, const Arrival &arrival, std::byte *here, const std::byte *source,
                              std::uint64_t n, int peer) {
    { engine.begin_with_packets(arrival, source, n, n, here) } -> std::same_as<bool>;
    engine.verify_arrivals();
    engine.take_packets_from_each(here, n, n);
    engine.take_packets_from(peer, here, n);
    engine.template reduce_packets_to<float>(here, source, n, 0);
};

/// Stands for a part_of, whose type a concept cannot leave open.
struct AnyLinePart {
    BATON_HD LinePart operator()(int /*index*/) const { return {}; }
};
template <class E>
concept HasLines = requires(E engine, const Arrival &arrival, std::byte *here, const std::byte *source, std::uint64_t n,
                            int peer) {
    { engine.begin_with_lines(arrival, peer, n, AnyLinePart{}) } -> std::same_as<bool>;
    engine.take_lines(peer, n, AnyLinePart{});
    engine.relay_lines(peer, here, n);
    engine.pass_lines(LinePass{});
    engine.template reduce_lines_to<float>(here, source, n, 0);
    engine.template reduce_and_relay_lines<float>(here, source, n, 0, n);
};

/// The same for tests that are not templates.
struct Offers {
    bool wait = false;
    bool pairs = false;
    bool parts = false;
    bool sources = false;
    bool staging = false;
    bool own_staging = false;
    bool packets = false;
    bool lines = false;
    bool at_once = false;
    bool uniform = false;  // all ranks have the same engine

    constexpr bool covers(const Offers &needed) const {
        return (wait || !needed.wait) && (pairs || !needed.pairs) && (parts || !needed.parts) &&
               (sources || !needed.sources) && (staging || !needed.staging) && (own_staging || !needed.own_staging) &&
               (packets || !needed.packets) && (lines || !needed.lines) && (at_once || !needed.at_once) &&
               (uniform || !needed.uniform);
    }
    /// What ranks with different engines have in common.
    constexpr Offers operator&(const Offers &other) const {
        return {wait && other.wait,       pairs && other.pairs,
                parts && other.parts,     sources && other.sources,
                staging && other.staging, own_staging && other.own_staging,
                packets && other.packets, lines && other.lines,
                at_once && other.at_once, false};
    }
};

template <Engine E>
constexpr Offers offers_of() {
    return {HasWait<E>,       HasPairs<E>,   HasParts<E>, HasSources<E>,   HasStaging<E>,
            HasOwnStaging<E>, HasPackets<E>, HasLines<E>, acts_at_once<E>, true};
}

}  // namespace baton::core::contract
