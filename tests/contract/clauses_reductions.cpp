#include <algorithm>

#include "clauses.hpp"
#include "support/reference.hpp"

namespace baton::core::contract {
namespace {

/// What a reduction works on, drawn alike by all ranks.
struct Reduction {
    baton_type type;
    baton_op op;
    std::size_t count = 0;
    std::size_t bytes = 0;
    std::uint64_t key = 0;
    bool aligned = false;

    Contents input(int of) const { return test::make_input(type, op, key, of, count); }
};

Reduction draw_reduction(test::Random &random, std::size_t most_bytes = 4000) {
    static constexpr std::pair<baton_type, baton_op> combinations[] = {
        {BATON_FLOAT32, BATON_SUM},  {BATON_FLOAT32, BATON_SUM}, {BATON_FLOAT32, BATON_PROD},
        {BATON_FLOAT32, BATON_AVG},  {BATON_FLOAT32, BATON_MIN}, {BATON_BFLOAT16, BATON_SUM},
        {BATON_BFLOAT16, BATON_MAX}, {BATON_UINT8, BATON_SUM},   {BATON_UINT8, BATON_PROD}};
    const auto [type, op] = combinations[random.below(std::size(combinations))];
    Reduction drawn{.type = type, .op = op};
    const std::size_t width = test::width_of(type);
    drawn.count = draw_size(random, most_bytes) / width;
    drawn.bytes = drawn.count * width;
    drawn.key = random.next();
    drawn.aligned = random.chance(50);
    return drawn;
}

Call reduction_call(Rank &rank, const Reduction &drawn, const Place &send, const Place &recv, int variant) {
    Call call = rank.call(BATON_ALLREDUCE, drawn.bytes, send, recv);
    call.variant = variant;
    call.type = drawn.type;
    call.op = drawn.op;
    return call;
}

template <class Value>
std::vector<Value> rotated(std::vector<Value> values, std::size_t by) {
    std::rotate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(by), values.end());
    return values;
}

/// The blocks of rank `of`.
std::vector<Contents> blocks_of(const Rank &rank, const Reduction &drawn, int of) {
    std::vector<Contents> blocks;
    for (int block = 0; block < rank.size(); ++block) blocks.push_back(drawn.input(of * rank.size() + block));
    return blocks;
}
void fill_blocks(Memory &memory, const Place &send, const std::vector<Contents> &blocks) {
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        const std::size_t bytes = blocks[block].size();
        memory.fill(send.part(block * bytes, bytes), blocks[block]);
    }
}

/// Sources in this rank's memory; the destination is a buffer of its own or one of them.
Call reduce_here_call(Rank &rank, std::size_t k) {
    Memory &memory = rank.memory();
    const auto n = static_cast<std::size_t>(rank.size());
    const Reduction drawn = draw_reduction(rank.common());
    const std::size_t bytes = drawn.bytes;
    const std::size_t shift = rank.common().below(n);
    const Place send = memory.take(n * bytes, drawn.aligned, named("sources", k));
    const Place recv = rank.common().chance(40) ? send.part(rank.common().below(n) * bytes, bytes)
                                                : memory.take(bytes, drawn.aligned, named("destination", k));
    Call call = reduction_call(rank, drawn, send, recv, Reduce::here);
    call.shift = static_cast<int>(shift);
    const std::vector<Contents> inputs = blocks_of(rank, drawn, rank.rank());
    fill_blocks(memory, send, inputs);
    memory.expect(recv, reduce_in_order(drawn.type, drawn.op, rotated(inputs, shift)));
    return call;
}

/// One part after the other, each at the next rank. Accumulators must fit a slot; they are at most twice as wide as
/// elements here.
Call reduce_in_parts_call(Rank &rank, std::size_t k) {
    Memory &memory = rank.memory();
    const auto n = static_cast<std::size_t>(rank.size());
    const Reduction drawn = draw_reduction(rank.common(), rank.view().layout.segment_bytes / 2);
    const std::size_t bytes = drawn.bytes;
    const std::size_t shift = rank.common().below(n);
    const std::size_t per_part = 1 + rank.common().below(n);
    const Place send = memory.take(n * bytes, drawn.aligned, named("sources", k));
    const Place recv = memory.take(2 * bytes, drawn.aligned, named("destination", k));
    Call call = reduction_call(rank, drawn, send, recv, Reduce::in_parts);
    call.shift = static_cast<int>(shift);
    call.steps = static_cast<int>(per_part);
    const auto input = [&](std::size_t of, std::size_t block) { return drawn.input(static_cast<int>(of * n + block)); };
    const std::size_t last_part = (n - 1) / per_part;
    const auto result_of = [&](std::size_t ends_at) {
        std::vector<Contents> inputs;
        for (std::size_t at = 0; at < n; ++at)
            inputs.push_back(input((ends_at + n - last_part + at / per_part) % n, (at + shift) % n));
        return reduce_in_order(drawn.type, drawn.op, inputs);
    };
    const auto me = static_cast<std::size_t>(rank.rank());
    fill_blocks(memory, send, blocks_of(rank, drawn, rank.rank()));
    memory.expect(recv.part(0, bytes), result_of(me));
    memory.expect(recv.part(bytes, bytes), result_of((me + n - 1) % n));
    return call;
}

/// Every rank reduces blocks of its own, and everybody gets the result.
Call pass_on_call(Rank &rank, std::size_t k) {
    Memory &memory = rank.memory();
    const auto n = static_cast<std::size_t>(rank.size());
    const Reduction drawn = draw_reduction(rank.common());
    const std::size_t bytes = drawn.bytes;
    const std::size_t shift = rank.common().below(n);
    const Place send = memory.take(n * bytes, drawn.aligned, named("sources", k));
    const Place recv = memory.take(n * bytes, drawn.aligned, named("recv", k));
    const Place out = memory.take(bytes, drawn.aligned, named("own reduction", k));
    Call call = reduction_call(rank, drawn, send, recv, Reduce::passed_on);
    call.shift = static_cast<int>(shift);
    call.out = memory.at(out);
    for (int of = 0; of < rank.size(); ++of) {
        const std::vector<Contents> inputs = blocks_of(rank, drawn, of);
        if (of == rank.rank()) fill_blocks(memory, send, inputs);
        const Contents result = reduce_in_order(drawn.type, drawn.op, rotated(inputs, shift));
        memory.expect(recv.part(static_cast<std::size_t>(of) * bytes, bytes), result);
        if (of == rank.rank()) memory.expect(out, result);
    }
    return call;
}

/// Sources and destinations lie at all ranks. Each rank combines its n-th in an order of its own.
Call reduce_across_call(Rank &rank, std::size_t k) {
    Memory &memory = rank.memory();
    const auto n = static_cast<std::size_t>(rank.size());
    const Reduction drawn = draw_reduction(rank.common());
    const std::size_t bytes = drawn.bytes;
    const Place send = memory.take(bytes, drawn.aligned, named("send", k));
    const Place recv = rank.common().chance(40) ? send : memory.take(bytes, drawn.aligned, named("recv", k));
    const Place out = memory.take(bytes, drawn.aligned, named("second destination", k));
    Call call = reduction_call(rank, drawn, send, recv, Reduce::across);
    call.out = memory.at(out);
    std::vector<Contents> inputs;
    for (int of = 0; of < rank.size(); ++of) inputs.push_back(drawn.input(of));
    memory.fill(send, inputs[static_cast<std::size_t>(rank.rank())]);
    for (int owner = 0; owner < rank.size(); ++owner) {
        const std::size_t shift = rank.common().below(n);
        const Range owned = split(bytes, 16, rank.size(), owner);
        std::vector<Contents> parts;
        for (const Contents &input : inputs) {
            const auto first = input.begin() + static_cast<std::ptrdiff_t>(owned.begin);
            parts.emplace_back(first, first + static_cast<std::ptrdiff_t>(owned.bytes));
        }
        const Contents result = reduce_in_order(drawn.type, drawn.op, rotated(parts, shift));
        memory.expect(recv.part(owned.begin, owned.bytes), result);
        if (owner != rank.rank()) continue;
        memory.expect(out.part(owned.begin, owned.bytes), result);
        call.shift = static_cast<int>(shift);
    }
    return call;
}

void reductions(Rank &rank, int variant) {
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(120); ++k) {
        calls.push_back(variant == Reduce::across      ? reduce_across_call(rank, calls.size())
                        : variant == Reduce::passed_on ? pass_on_call(rank, calls.size())
                        : variant == Reduce::in_parts  ? reduce_in_parts_call(rank, calls.size())
                                                       : reduce_here_call(rank, calls.size()));
    }
    expect_success(rank, rank.run(Program::reduce, calls));
    EXPECT_TRUE(rank.memory_as_expected()) << "rank " << rank.rank();
}

}  // namespace

std::vector<Clause> reduction_clauses() {
    return {
        {.name = "reductions_here", .body = reductions, .variant = Reduce::here},
        {.name = "reductions_passed_on", .body = reductions, .variant = Reduce::passed_on, .needs = {.sources = true}},
        {.name = "reductions_in_parts",
         .body = reductions,
         .variant = Reduce::in_parts,
         .needs = {.pairs = true, .parts = true, .staging = true, .at_once = true}},
        {.name = "reductions_across", .body = reductions, .variant = Reduce::across, .needs = {.sources = true}},
    };
}

}  // namespace baton::core::contract
