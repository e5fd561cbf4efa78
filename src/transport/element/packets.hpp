#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/packet.hpp"
#include "transport/element/lanes.hpp"

namespace baton::core {

inline constexpr std::size_t packet_payload = sizeof(Packet::payload);

constexpr BATON_HD std::size_t packets_for(std::size_t bytes) {
    return bytes / packet_payload + (bytes % packet_payload != 0 ? 1 : 0);
}

/// Of kernels; the host looks at groups of packets (host/move.hpp).
/// Waits until the packets at where[0..count-1] carry `epoch` and takes their payloads; a null entry is skipped and its
/// payload left alone. A round of polls issues all loads that are still missing before it looks at one of them, so that
/// packets which are there cost one flight together. `spin` is asked after every round that missed something; false
/// ends the wait, and then payloads must not be used.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <int count, class Spin>
BATON_HD inline bool poll_packets(const Packet *const (&where)[count], std::uint64_t (&payload)[count],
                                  std::uint64_t epoch, Spin &spin) {
    bool missing[count];
    BATON_UNROLL
    for (int k = 0; k < count; ++k) missing[k] = where[k] != nullptr;
    for (;;) {
        Packet seen[count] = {};
        BATON_UNROLL
        for (int k = 0; k < count; ++k) {
            if (missing[k]) seen[k] = load_packet(where[k]);
        }
        bool any = false;
        BATON_UNROLL
        for (int k = 0; k < count; ++k) {
            if (!missing[k]) continue;
            missing[k] = seen[k].epoch != epoch;
            if (!missing[k]) payload[k] = seen[k].payload;
            any |= missing[k];
        }
        if (!any) return true;
        if (!spin()) return false;
    }
}

/// How many packets one thread polls at once where there are many: enough to hide a flight, few enough for registers.
inline constexpr int packet_batch = 8;

/// Word `index` of a reduction: polls the packets of all ranks, of which packets_of(rank) is the first, or null for
/// this rank, whose word is `own`; combines in the order of ranks, `batch` of them polled at once. False if a wait was
/// ended by `spin`.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class T, int batch, class PacketsOf, class Spin>
BATON_HD inline bool reduce_packet_word(const PacketsOf &packets_of, int ranks, std::size_t index, std::uint64_t own,
                                        int op, std::uint64_t epoch, Spin &spin, std::uint64_t &result) {
    Lanes<T, std::uint64_t> lanes{};
    for (int first = 0; first < ranks; first += batch) {
        const Packet *where[batch];
        std::uint64_t words[batch];
        BATON_UNROLL
        for (int k = 0; k < batch; ++k) {
            const Packet *source = first + k < ranks ? packets_of(first + k) : nullptr;
            where[k] = source != nullptr ? source + index : nullptr;
            words[k] = own;
        }
        if (!poll_packets(where, words, epoch, spin)) return false;
        with_op(op, [&](auto constant) {
            BATON_UNROLL
            for (int k = 0; k < batch; ++k) {
                if (first + k == 0) {
                    lanes.start(words[k]);
                } else if (first + k < ranks) {
                    lanes.join(constant, words[k]);
                }
            }
        });
    }
    result = lanes.result(op, ranks);
    return true;
}

}  // namespace baton::core
