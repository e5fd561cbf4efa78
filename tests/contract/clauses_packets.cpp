#include <algorithm>
#include <utility>

#include "clauses.hpp"
#include "programs.hpp"
#include "support/reference.hpp"
#include "sync/packet.hpp"

namespace baton::core::contract {
namespace {

/// The programs for packets and for lines have the same variants.
bool in_lines(Program program) { return program == Program::lines; }

/// The most bytes that a rank may put to another on `channels` channels: what their packets or lines hold.
std::size_t limit_of(const Rank &rank, Program program, int channels, std::size_t parts) {
    const ArenaLayout &layout = rank.view().layout;
    const std::size_t one = in_lines(program) ? layout.lines_per_channel / parts * DataLine::payload
                                              : layout.packets_per_channel * packet_payload;
    return channels == 1 ? one : static_cast<std::size_t>(channels) * (one / 16 * 16);
}

/// Draws sizes at the limits and the edges of packets and lines as often as those in between.
std::size_t draw_flagged_size(Rank &rank, Program program, int channels, std::size_t parts) {
    const std::size_t limit = limit_of(rank, program, channels, parts);
    const std::size_t around[] = {0,   1,   7,   8,   9,         15,        16,        17,        24,   60,
                                  119, 120, 121, 480, limit / 2, limit - 9, limit - 8, limit - 1, limit};
    const std::size_t chosen = around[rank.common().below(std::size(around))];
    return rank.common().chance(50) && chosen <= limit ? chosen : rank.common().below(limit + 1);
}

/// A call with its number of channels and a size for it, of which `parts` go to a peer.
Call flagged_call(Rank &rank, Program program, bool floats, std::size_t parts = 1) {
    Call call = rank.call(BATON_ALLREDUCE, 0);
    call.bytes = draw_flagged_size(rank, program, call.channels, parts);
    if (floats) call.bytes = call.bytes / sizeof(float) * sizeof(float);
    call.arrival.signature.count = call.bytes;
    call.type = floats ? BATON_FLOAT32 : BATON_UINT8;
    call.op = floats && rank.common().chance(30) ? BATON_AVG : BATON_SUM;
    return call;
}

Call take_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, false);
    const bool aligned = rank.common().chance(30);
    const std::uint64_t key = rank.common().next();
    const Place send = memory.take(call.bytes, aligned, named("send", k));
    const Place recv = memory.take(call.bytes * static_cast<std::size_t>(rank.size()), aligned, named("recv", k));
    call.variant = Packets::take;
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    for (std::size_t of = 0; of < static_cast<std::size_t>(rank.size()); ++of) {
        const Contents data = random_bytes(key + of, call.bytes);
        if (of == static_cast<std::size_t>(rank.rank())) memory.fill(send, data);
        memory.expect(recv.part(of * call.bytes, call.bytes), data);
    }
    return call;
}

/// Like take_call(), with a block for each rank; sometimes over the input.
Call blocks_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, false);
    const auto n = static_cast<std::size_t>(rank.size());
    const auto own = static_cast<std::size_t>(rank.rank());
    const bool aligned = rank.common().chance(30);
    const std::uint64_t key = rank.common().next();
    const Place send = memory.take(call.bytes * n, aligned, named("send", k));
    const Place recv = rank.common().chance(30) ? send : memory.take(call.bytes * n, aligned, named("recv", k));
    for (std::size_t other = 0; other < n; ++other) {
        memory.fill(send.part(other * call.bytes, call.bytes), random_bytes(key + own * n + other, call.bytes));
    }
    for (std::size_t other = 0; other < n; ++other) {
        memory.expect(recv.part(other * call.bytes, call.bytes), random_bytes(key + other * n + own, call.bytes));
    }
    call.variant = Packets::blocks;
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    return call;
}

/// Block `to` of what rank `from` sends; gather has one block for all.
Contents block_of(const Call &call, std::uint64_t key, int from, int to) {
    const std::size_t count = call.bytes / test::width_of(static_cast<baton_type>(call.type));
    return test::make_input(static_cast<baton_type>(call.type), static_cast<baton_op>(call.op),
                            key + static_cast<std::uint64_t>(to), from, count);
}

/// What comes to rank `to`, combined in the order of ranks.
Contents combined(const Rank &rank, const Call &call, std::uint64_t key, int to) {
    std::vector<Contents> inputs;
    for (int from = 0; from < rank.size(); ++from) inputs.push_back(block_of(call, key, from, to));
    return reduce_in_order(static_cast<baton_type>(call.type), static_cast<baton_op>(call.op), inputs);
}

/// The result goes to a buffer of its own, over the own block, or over a block that has been sent to a peer, which
/// begin_with_packets() or begin_with_lines() has read.
Call scatter_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, rank.common().chance(70));
    const auto n = static_cast<std::size_t>(rank.size());
    const bool aligned = rank.common().chance(30);
    const std::uint64_t key = rank.common().next();
    const Place send = memory.take(call.bytes * n, aligned, named("send", k));
    for (int to = 0; to < rank.size(); ++to) {
        memory.fill(send.part(static_cast<std::size_t>(to) * call.bytes, call.bytes),
                    block_of(call, key, rank.rank(), to));
    }
    const bool over_input = rank.common().chance(60);
    const std::size_t block = (static_cast<std::size_t>(rank.rank()) + rank.common().below(n)) % n;
    const Place recv =
        over_input ? send.part(block * call.bytes, call.bytes) : memory.take(call.bytes, aligned, named("recv", k));
    memory.expect(recv, combined(rank, call, key, rank.rank()));
    call.variant = Packets::scatter;
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    return call;
}

/// Every rank gets the reductions of all blocks; sometimes over its input.
Call sums_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, rank.common().chance(70), 2);
    const auto n = static_cast<std::size_t>(rank.size());
    const bool aligned = rank.common().chance(30);
    const std::uint64_t key = rank.common().next();
    const Place send = memory.take(call.bytes * n, aligned, named("send", k));
    const Place recv = rank.common().chance(50) ? send : memory.take(call.bytes * n, aligned, named("recv", k));
    for (int to = 0; to < rank.size(); ++to) {
        const std::size_t at = static_cast<std::size_t>(to) * call.bytes;
        memory.fill(send.part(at, call.bytes), block_of(call, key, rank.rank(), to));
        memory.expect(recv.part(at, call.bytes), combined(rank, call, key, to));
    }
    call.variant = Lines::sums;
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    return call;
}

Call gather_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, rank.common().chance(70));
    const bool aligned = rank.common().chance(30);
    const std::uint64_t key = rank.common().next();
    const Place send = memory.take(call.bytes, aligned, named("send", k));
    const Place recv = rank.common().chance(50) ? send : memory.take(call.bytes, aligned, named("recv", k));
    memory.fill(send, block_of(call, key, rank.rank(), 0));
    memory.expect(recv, combined(rank, call, key, 0));
    call.variant = Packets::gather;
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    return call;
}

/// From one rank, another one each time. Lines go by way of the others.
Call one_call(Rank &rank, Program program, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, false);
    const bool aligned = rank.common().chance(30);
    const Contents data = random_bytes(rank.common().next(), call.bytes);
    const Place send = memory.take(call.bytes, aligned, named("send", k));
    const Place recv = memory.take(call.bytes, aligned, named("recv", k));
    call.variant = Packets::one;
    call.shift = static_cast<int>(rank.common().below(static_cast<std::size_t>(rank.size())));
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    memory.fill(send, data);
    if (call.shift != rank.rank()) memory.expect(recv, data);
    return call;
}

/// From rank to rank, beginning at one: up to many times what lies in lines at once; sometimes over the input. An
/// engine that is half a channel is tested in tests/emulation instead: after a pass it has signals in the words that
/// say what has been taken.
Call pass_call(Rank &rank, Program program, int variant, std::size_t k) {
    Memory &memory = rank.memory();
    Call call = flagged_call(rank, program, false);
    call.bytes *= rank.common().chance(50) ? 1 + rank.common().below(20) : 1;
    call.arrival.signature.count = call.bytes;
    const bool aligned = rank.common().chance(30);
    const Contents data = random_bytes(rank.common().next(), call.bytes);
    const Place send = memory.take(call.bytes, aligned, named("send", k));
    const Place recv = rank.common().chance(30) ? send : memory.take(call.bytes, aligned, named("recv", k));
    call.variant = variant;
    call.steps = 1 + static_cast<int>(rank.common().below(40));
    call.shift = static_cast<int>(rank.common().below(static_cast<std::size_t>(rank.size())));
    call.send = memory.at(send);
    call.recv = memory.at(recv);
    if (call.shift == rank.rank()) memory.fill(send, data);
    memory.expect(recv, data);
    return call;
}

/// Only the epochs in the data order these operations, and a fast rank is two ahead of what a slow one reads.
void flagged(Rank &rank, Program program, int variant) {
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(500); ++k) {
        const std::size_t number = calls.size();
        calls.push_back(variant == Packets::take      ? take_call(rank, program, number)
                        : variant == Packets::one     ? one_call(rank, program, number)
                        : variant == Packets::blocks  ? blocks_call(rank, program, number)
                        : variant == Lines::sums      ? sums_call(rank, program, number)
                        : variant >= Lines::passed    ? pass_call(rank, program, variant, number)
                        : variant == Packets::scatter ? scatter_call(rank, program, number)
                                                      : gather_call(rank, program, number));
    }
    const Results results = rank.run(program, calls);
    expect_success(rank, results);
    EXPECT_TRUE(rank.memory_as_expected()) << "rank " << rank.rank();
}

void packets(Rank &rank, int variant) { flagged(rank, Program::packets, variant); }
void lines(Rank &rank, int variant) { flagged(rank, Program::lines, variant); }

}  // namespace

std::vector<Clause> packet_clauses() {
    struct Variant {
        int variant;
        const char *of_packets, *of_lines;
    };
    // Twice what ranks on the host need, which draw the most calls.
    constexpr std::size_t areas = std::size_t{8} << 20;
    std::vector<Clause> clauses;
    for (const auto &[variant, of_packets, of_lines] :
         {Variant{Packets::take, "packets_taken", "lines_taken"},
          Variant{Packets::one, "packets_taken_of_one", "lines_relayed"},
          Variant{Packets::blocks, "packets_in_blocks", "lines_in_blocks"},
          Variant{Packets::scatter, "packets_scattered", "lines_scattered"},
          Variant{Packets::gather, "packets_gathered", "lines_gathered"}}) {
        clauses.push_back(
            {.name = of_packets, .body = packets, .variant = variant, .needs = {.packets = true}, .area_bytes = areas});
        clauses.push_back(
            {.name = of_lines, .body = lines, .variant = variant, .needs = {.lines = true}, .area_bytes = areas});
    }
    for (const auto &[variant, name] : {std::pair{Lines::sums, "lines_of_sums"},
                                        {Lines::passed, "lines_passed"},
                                        {Lines::passed_first, "lines_passed_before_signals"}}) {
        clauses.push_back(
            {.name = name, .body = lines, .variant = variant, .needs = {.lines = true}, .area_bytes = areas});
    }
    return clauses;
}

}  // namespace baton::core::contract
