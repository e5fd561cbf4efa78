#include <algorithm>

#include "clauses.hpp"

namespace baton::core::contract {
namespace {

/// Blocks of all ranks in all steps of a call: [step][rank].
std::vector<std::vector<Contents>> draw_blocks(Rank &rank, int steps, std::size_t bytes) {
    const std::uint64_t key = rank.common().next();
    std::vector<std::vector<Contents>> blocks;
    for (int step = 0; step < steps; ++step) {
        blocks.emplace_back();
        for (int of = 0; of < rank.size(); ++of) {
            blocks.back().push_back(random_bytes(key + static_cast<std::uint64_t>(step * max_ranks + of), bytes));
        }
    }
    return blocks;
}

/// What Rounds and Credits have in common: `send` holds this rank's blocks, `out` gets the sums.
Call stepped_call(Rank &rank, std::size_t k, const std::vector<std::vector<Contents>> &blocks, const Place &recv) {
    Memory &memory = rank.memory();
    const std::size_t bytes = blocks[0][0].size();
    const bool aligned = rank.common().chance(50);
    const Place send = memory.take(blocks.size() * bytes, aligned, "send of call " + std::to_string(k));
    const Place out = memory.take(blocks.size() * bytes, aligned, "sums of call " + std::to_string(k));
    Call call = rank.call(BATON_ALLREDUCE, bytes, send, recv);
    call.steps = static_cast<int>(blocks.size());
    call.out = memory.at(out);
    for (std::size_t step = 0; step < blocks.size(); ++step) {
        memory.fill(send.part(step * bytes, bytes), blocks[step][static_cast<std::size_t>(rank.rank())]);
        memory.expect(out.part(step * bytes, bytes), sum_of(blocks[step]));
    }
    return call;
}

void finish(Rank &rank, Program program, const std::vector<Call> &calls) {
    expect_success(rank, rank.run(program, calls));
    EXPECT_TRUE(rank.memory_as_expected()) << "rank " << rank.rank();
}

/// Many operations of many steps over the same `recv`: where data have not come yet, earlier data are found.
void signals_make_data_visible(Rank &rank, int /*variant*/) {
    constexpr int steps = 24;
    constexpr std::size_t most = 400;
    const auto n = static_cast<std::size_t>(rank.size());
    const Place recv = rank.memory().take(steps * n * most, true, "recv");
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(30); ++k) {
        const std::size_t bytes = 1 + rank.common().below(most);
        const auto blocks = draw_blocks(rank, steps, bytes);
        calls.push_back(stepped_call(rank, calls.size(), blocks, recv));
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t of = 0; of < n; ++of) {
                rank.memory().expect(recv.part((step * n + of) * bytes, bytes), blocks[step][of]);
            }
        }
    }
    finish(rank, Program::rounds, calls);
}

/// Operations of many steps over the same `recv`: a rank that passes a step on too early passes on earlier data.
void one_lets_relay(Rank &rank, int variant) {
    constexpr int steps = 24;
    constexpr std::size_t most = 400;
    Memory &memory = rank.memory();
    const Place recv = memory.take(steps * most, true, "recv");
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(60); ++k) {
        const std::size_t bytes = 1 + rank.common().below(most);
        const Contents data = random_bytes(rank.common().next(), steps * bytes);
        const Place send = memory.take(data.size(), rank.common().chance(50), "send of call " + std::to_string(k));
        const Place out = memory.take(data.size(), rank.common().chance(50), "out of call " + std::to_string(k));
        memory.fill(send, data);
        Call call = rank.call(BATON_ALLGATHER, bytes, send, recv);
        call.out = memory.at(out);
        call.steps = steps;
        call.variant = variant;
        call.shift = static_cast<int>(rank.common().below(static_cast<std::size_t>(rank.size())));
        if (call.shift != rank.rank() && variant != Relays::slots) memory.expect(recv.part(0, data.size()), data);
        if (call.shift != rank.rank() && variant == Relays::slots) {
            memory.expect(out, data);
            for (std::size_t step = steps - 1; step <= steps; ++step) {
                const auto from = data.begin() + static_cast<std::ptrdiff_t>((step - 1) * bytes);
                memory.expect(recv.part((step & 1) * bytes, bytes), {from, from + static_cast<std::ptrdiff_t>(bytes)});
            }
        }
        calls.push_back(call);
    }
    finish(rank, Program::relays, calls);
}

void slots_are_kept(Rank &rank, int variant) {
    const auto n = static_cast<std::size_t>(rank.size());
    const bool in_recv = (variant & ~Credits::in_turn) == Credits::in_recv;
    const std::size_t most = in_recv ? 900 : rank.view().layout.segment_bytes;
    const Place recv = rank.memory().take(2 * n * most, true, "slots");
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(40); ++k) {
        const int steps = 1 + static_cast<int>(rank.common().below(40));
        const std::size_t bytes = k == 0 ? most : 1 + draw_size(rank.common(), most / 8);
        const auto blocks = draw_blocks(rank, steps, bytes);
        calls.push_back(stepped_call(rank, calls.size(), blocks, recv));
        calls.back().variant = variant;
        for (std::size_t step = 1; in_recv && step <= blocks.size(); ++step) {
            for (std::size_t of = 0; of < n; ++of) {
                if (of == static_cast<std::size_t>(rank.rank())) continue;  // own blocks are not sent
                rank.memory().expect(recv.part(((step & 1) * n + of) * bytes, bytes), blocks[step - 1][of]);
            }
        }
    }
    finish(rank, Program::credits, calls);
}

void early_staging_is_kept(Rank &rank, int variant) {
    const Place recv = rank.memory().take(1, true, "recv");
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(150); ++k) {
        const auto channels = 1 + rank.common().below(static_cast<std::size_t>(rank.view().layout.channels));
        const std::size_t most = channels * rank.view().layout.early_bytes;
        const std::size_t bytes = k % 8 == 0 ? most : 1 + draw_size(rank.common(), most);
        calls.push_back(stepped_call(rank, calls.size(), draw_blocks(rank, 1, bytes), recv));
        calls.back().channels = static_cast<int>(channels);
        calls.back().variant = variant;
    }
    finish(rank, Program::early, calls);
}

}  // namespace

std::vector<Clause> order_clauses() {
    return {
        {.name = "signals_make_data_visible", .body = signals_make_data_visible},
        {.name = "signals_of_one_let_relay",
         .body = one_lets_relay,
         .variant = Relays::to_all,
         .needs = {.wait = true}},
        {.name = "signals_to_one_let_relay",
         .body = one_lets_relay,
         .variant = Relays::to_one,
         .needs = {.pairs = true}},
        {.name = "credits_of_one_keep_slots",
         .body = one_lets_relay,
         .variant = Relays::slots,
         .needs = {.pairs = true, .at_once = true}},
        {.name = "credits_keep_slots", .body = slots_are_kept, .variant = Credits::in_recv},
        {.name = "credits_keep_staging",
         .body = slots_are_kept,
         .variant = Credits::in_staging,
         .needs = {.staging = true}},
        {.name = "credits_keep_own_staging",
         .body = slots_are_kept,
         .variant = Credits::in_own_staging,
         .needs = {.own_staging = true}},
        {.name = "signals_keep_slots",
         .body = slots_are_kept,
         .variant = Credits::in_recv | Credits::in_turn,
         .needs = {.at_once = true}},
        {.name = "signals_keep_staging",
         .body = slots_are_kept,
         .variant = Credits::in_staging | Credits::in_turn,
         .needs = {.staging = true, .at_once = true}},
        {.name = "signals_keep_own_staging",
         .body = slots_are_kept,
         .variant = Credits::in_own_staging | Credits::in_turn,
         .needs = {.own_staging = true, .at_once = true}},
        {.name = "epochs_keep_early_staging",
         .body = early_staging_is_kept,
         .variant = Early::verify,
         .needs = {.own_staging = true, .at_once = true}},
        {.name = "epochs_keep_early_staging_of_the_met",
         .body = early_staging_is_kept,
         .variant = Early::await,
         .needs = {.own_staging = true, .at_once = true}},
    };
}

}  // namespace baton::core::contract
