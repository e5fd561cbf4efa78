#include <algorithm>

#include "clauses.hpp"

namespace baton::core::contract {
namespace {

int draw_rank(Rank &rank) { return static_cast<int>(rank.common().below(static_cast<std::size_t>(rank.size()))); }

/// Operations that work, so that what fails after them is not the first.
void warm_up(Rank &rank) {
    const std::vector<Call> calls(3, rank.call(BATON_BARRIER, 0));
    expect_success(rank, rank.run(Program::meet, calls));
    EXPECT_FALSE(rank.broken());
}

/// Expects that a waiter has broken the communicator on every rank, and that nothing begins any more.
void expect_no_more(Rank &rank) {
    EXPECT_TRUE(rank.broken()) << "rank " << rank.rank() << " does not know";
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Results results = rank.run(Program::meet, {rank.call(BATON_BARRIER, 0)});
    expect_said(rank, results, &Observed::began, Said::no);
    expect_said(rank, results, &Observed::met, Said::no);
    expect_said(rank, results, &Observed::finished, Said::no);
    EXPECT_EQ(rank.epochs(), epochs);
}

/// Expects that nobody has signalled, credited or put packets or lines on this communicator.
void expect_silent(Rank &rank) {
    for (const auto &words : {rank.done_words(), rank.credit_words(), rank.packet_words(), rank.line_words()}) {
        EXPECT_EQ(*std::max_element(words.begin(), words.end()), 0U) << "rank " << rank.rank();
    }
}

/// One rank's signature differs: await_all is false on every rank, and nothing happens from then on.
void mismatch_stops_everything(Rank &rank, int /*variant*/) {
    warm_up(rank);
    Memory &memory = rank.memory();
    constexpr std::size_t bytes = 200;
    const int odd = draw_rank(rank);
    const Place send = memory.take(bytes, true, "send");
    const Place recv = memory.take(bytes, true, "recv");
    const Place out = memory.take(bytes, true, "out");
    memory.fill(send, random_bytes(rank.common().next(), bytes));
    Call call = rank.call(BATON_ALLGATHER, bytes, send, recv);
    call.out = memory.at(out);
    if (rank.rank() == odd) call.arrival.signature.count += 1;
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Results results = rank.run(Program::go_on_after_failure, {call});  // a late rank does not even begin
    for (const auto method : {&Observed::met, &Observed::waited, &Observed::credited, &Observed::finished}) {
        expect_said(rank, results, method, Said::no);
    }
    EXPECT_TRUE(rank.memory_as_expected()) << "rank " << rank.rank();
    EXPECT_EQ(rank.epochs(), epochs);
    expect_silent(rank);
    const ErrorRecord record = rank.record();
    if (record.code != 0) {
        EXPECT_EQ(record.code, static_cast<std::uint64_t>(BATON_ERR_MISMATCH));
        EXPECT_TRUE(rank.rank() == odd || record.point.peer == odd) << record.point.peer;
        EXPECT_EQ(record.point.mine.count, bytes + (rank.rank() == odd ? 1 : 0));
        EXPECT_EQ(record.theirs.count, bytes + (rank.rank() == odd ? 0 : 1));
        EXPECT_EQ(record.point.epoch, epochs[static_cast<std::size_t>(record.point.channel)] + 1);
    }
    expect_no_more(rank);
}

/// Packets and lines do not wait for arrivals, but finish tells, even if a rank has sent fewer than the others wait
/// for.
void mismatch_among(Rank &rank, Program program, int variant) {
    warm_up(rank);
    Memory &memory = rank.memory();
    const int odd = draw_rank(rank);
    const std::size_t bytes = rank.rank() == odd ? 8 : 256;
    const Place send = memory.take(bytes, true, "send");
    const Place recv = memory.take(bytes * static_cast<std::size_t>(rank.size()), true, "recv");
    Call call = rank.call(BATON_ALLGATHER, bytes, send, recv);
    call.variant = variant;
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Results results = rank.run(program, {call});
    expect_said(rank, results, &Observed::finished, Said::no);
    EXPECT_EQ(rank.epochs(), epochs);
    expect_no_more(rank);
}

void mismatch_among_packets(Rank &rank, int variant) { mismatch_among(rank, Program::packets, variant); }
void mismatch_among_lines(Rank &rank, int variant) { mismatch_among(rank, Program::lines, variant); }

/// For every engine: whatever its methods have said, the host and the epochs tell.
void mismatch_is_found(Rank &rank, int /*variant*/) {
    warm_up(rank);
    Call call = rank.call(BATON_ALLGATHER, 16);
    if (draw_rank(rank) == rank.rank()) call.arrival.signature.what += 1;
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Results results = rank.run(Program::meet, {call});
    expect_said(rank, results, &Observed::met, Said::no);
    EXPECT_EQ(rank.epochs(), epochs);
    expect_no_more(rank);
}

/// An arrival that names a region whose generation is gone is no address. (For copies, the hosts look addresses up.)
void a_region_that_is_gone_is_found(Rank &rank, int /*variant*/) {
    warm_up(rank);
    const Place recv = rank.memory().take(16, true, "recv");
    const int odd = draw_rank(rank);
    Call call = rank.call(BATON_ALLGATHER, 16, recv, recv);
    if (rank.rank() == odd) {
        call.arrival.recv = rank.memory().in_region(recv);
        call.arrival.recv.generation += 1;
    }
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Results results = rank.run(Program::meet, {call});
    // The rank that named it finds its peers in order, if it meets them before they give up: nothing is expected of it.
    if (rank.rank() != odd) {
        expect_said(rank, results, &Observed::met, Said::no);
        expect_said(rank, results, &Observed::finished, Said::no);
        EXPECT_EQ(rank.epochs(), epochs);
        EXPECT_TRUE(rank.broken());
        const ErrorRecord record = rank.record();
        EXPECT_TRUE(record.code == 0 || record.code == BATON_ERR_INTERNAL) << record.code;
    }
}

/// A region that is gone does no harm if nobody looks for it.
void a_region_that_nobody_looks_for_may_be_gone(Rank &rank, int variant) {
    const Place recv = rank.memory().take(16, true, "recv");
    std::vector<Call> calls;
    for (int k = 0; k < rank.rounds(20); ++k) {
        Call call = rank.call(BATON_ALLGATHER, 16, recv, recv);
        call.variant = variant;
        call.shift = draw_rank(rank);
        call.arrival.recv = rank.memory().in_region(recv);
        if (rank.rank() == call.shift || variant == Meet::verifying) call.arrival.recv.generation += 1;
        calls.push_back(call);
    }
    expect_success(rank, rank.run(Program::meet, calls));
}

/// A call of StopShort in which one rank, the same everywhere, does not do its part. It has one channel: with several,
/// an abort could end one channel's operation before that has done its part for the peers.
Call stop_short_call(Rank &rank, int variant, int absent) {
    Memory &memory = rank.memory();
    // More than all ranks' lines hold at once, so that ranks wait for it to be passed on.
    const std::size_t bytes = variant == StopShort::lines_not_passed ? 1 << 18 : 64;
    const Place send = memory.take(bytes, true, "send");
    const Place recv = memory.take(bytes, true, "recv");
    const Place out = memory.take(bytes, true, "out");
    Call call = rank.call(BATON_ALLREDUCE, bytes, send, recv);
    call.out = memory.at(out);
    call.channels = 1;
    call.variant = variant;
    call.shift = absent;
    if (variant == StopShort::arrival && rank.rank() == absent) call.takes_part = 0;
    return call;
}

/// Expects that ranks which wait in vain say so.
void expect_waits_failed(Rank &rank, const Results &results, int variant) {
    expect_said(rank, results, &Observed::began, Said::yes);
    expect_said(rank, results, &Observed::finished, Said::no);
    if (variant == StopShort::arrival) expect_said(rank, results, &Observed::met, Said::no);
    if (variant == StopShort::signal || variant == StopShort::one_signal)
        expect_said(rank, results, &Observed::waited, Said::no);
    if (variant == StopShort::credit || variant == StopShort::one_credit)
        expect_said(rank, results, &Observed::credited, Said::no);
}

void abort_ends_waits(Rank &rank, int variant) {
    warm_up(rank);
    const int absent = draw_rank(rank);
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Call call = stop_short_call(rank, variant, absent);
    const Results results = rank.run(Program::stop_short, {call}, rank.rank() != absent);
    if (rank.rank() != absent) expect_waits_failed(rank, results, variant);
    EXPECT_EQ(rank.epochs(), epochs);
    EXPECT_EQ(rank.record().code, 0U);

    // The absent rank, whose waits have not been ended, may not know yet.
    Call after = rank.call(BATON_BARRIER, 0);
    after.takes_part = rank.rank() != absent ? 1 : 0;
    const Results later = rank.run(Program::meet, {after});
    expect_said(rank, later, &Observed::began, Said::no);
    expect_said(rank, later, &Observed::met, Said::no);
    expect_said(rank, later, &Observed::finished, Said::no);
    EXPECT_EQ(rank.epochs(), epochs);
}

void timeout_ends_waits(Rank &rank, int variant) {
    static constexpr WaitFor waits[] = {
        WaitFor::arrival, WaitFor::done, WaitFor::done, WaitFor::credit, WaitFor::credit, WaitFor::data,  WaitFor::data,
        WaitFor::data,    WaitFor::data, WaitFor::data, WaitFor::data,   WaitFor::data,   WaitFor::credit};
    warm_up(rank);
    const int absent = draw_rank(rank);
    const std::vector<std::uint64_t> epochs = rank.epochs();
    const Call call = stop_short_call(rank, variant, absent);
    const Results results = rank.run(Program::stop_short, {call});
    EXPECT_EQ(rank.epochs(), epochs);
    const ErrorRecord record = rank.record();
    if (rank.rank() != absent) expect_waits_failed(rank, results, variant);
    if (record.code != 0) {
        EXPECT_EQ(record.code, static_cast<std::uint64_t>(BATON_ERR_TIMEOUT));
        EXPECT_EQ(record.point.wait_for, waits[variant]);
        // If all ranks' packets or lines are polled together, nobody knows whose are missing.
        if (variant < StopShort::packets) {
            EXPECT_EQ(record.point.peer, absent);
        }
    }
    const Results later = rank.run(Program::meet, {rank.call(BATON_BARRIER, 0)});
    expect_said(rank, later, &Observed::began, Said::no);
}

}  // namespace

std::vector<Clause> failure_clauses() {
    constexpr Offers at_once{.at_once = true};
    constexpr Offers packets{.packets = true};
    constexpr Offers lines{.lines = true};
    constexpr Offers pairs{.pairs = true};
    std::vector<Clause> clauses = {
        {.name = "mismatch_stops_everything", .body = mismatch_stops_everything, .needs = at_once, .fewest_ranks = 2},
        {.name = "mismatch_among_packets_taken",
         .body = mismatch_among_packets,
         .variant = Packets::take,
         .needs = packets,
         .fewest_ranks = 2},
        {.name = "mismatch_among_packets_reduced",
         .body = mismatch_among_packets,
         .variant = Packets::gather,
         .needs = packets,
         .fewest_ranks = 2},
        {.name = "mismatch_among_lines_taken",
         .body = mismatch_among_lines,
         .variant = Packets::take,
         .needs = lines,
         .fewest_ranks = 2},
        {.name = "mismatch_among_lines_reduced",
         .body = mismatch_among_lines,
         .variant = Packets::gather,
         .needs = lines,
         .fewest_ranks = 2},
        {.name = "mismatch_is_found", .body = mismatch_is_found, .fewest_ranks = 2},
        {.name = "a_region_that_is_gone_is_found",
         .body = a_region_that_is_gone_is_found,
         .needs = at_once,
         .fewest_ranks = 2},
        {.name = "a_region_that_nobody_looks_for_may_be_gone",
         .body = a_region_that_nobody_looks_for_may_be_gone,
         .variant = Meet::finding_others},
        {.name = "verified_arrivals_may_name_what_is_gone",
         .body = a_region_that_nobody_looks_for_may_be_gone,
         .variant = Meet::verifying,
         .needs = packets},
    };
    struct Wait {
        int variant;
        Offers needs;
        const char *abort;
        const char *timeout;
    };
    const Wait waits[] = {
        {StopShort::arrival, {}, "abort_ends_await", "timeout_ends_await"},
        {StopShort::signal, {}, "abort_ends_wait_all", "timeout_ends_wait_all"},
        {StopShort::one_signal, pairs, "abort_ends_wait", "timeout_ends_wait"},
        {StopShort::credit, {}, "abort_ends_wait_credits", "timeout_ends_wait_credits"},
        {StopShort::one_credit, pairs, "abort_ends_wait_credit", "timeout_ends_wait_credit"},
        {StopShort::one_packets, packets, "abort_ends_take_packets_of_one", "timeout_ends_take_packets_of_one"},
        {StopShort::lines_relayed, lines, "abort_ends_relay_lines", "timeout_ends_relay_lines"},
        {StopShort::packets, packets, "abort_ends_take_packets", "timeout_ends_take_packets"},
        {StopShort::packets_reduced, packets, "abort_ends_reduce_packets", "timeout_ends_reduce_packets"},
        {StopShort::lines, lines, "abort_ends_take_lines", "timeout_ends_take_lines"},
        {StopShort::lines_reduced, lines, "abort_ends_reduce_lines", "timeout_ends_reduce_lines"},
        {StopShort::lines_passed, lines, "abort_ends_pass_lines", "timeout_ends_pass_lines"},
        {StopShort::lines_not_passed, lines, "abort_ends_passing_to_nobody", "timeout_ends_passing_to_nobody"},
    };
    for (const Wait &wait : waits) {
        // All ranks have the same engine: one that enqueues starts before it has met the others, and one that acts at
        // once would wait for it in vain.
        Offers uniform = wait.needs;
        uniform.uniform = true;
        clauses.push_back({.name = wait.abort,
                           .body = abort_ends_waits,
                           .variant = wait.variant,
                           .needs = uniform,
                           .fewest_ranks = 2});
        // Few ranks, so that all get to run within the deadline, however slow they are.
        clauses.push_back({.name = wait.timeout,
                           .body = timeout_ends_waits,
                           .variant = wait.variant,
                           .needs = wait.needs,
                           .fewest_ranks = 2,
                           .most_ranks = 3,
                           .timeout_seconds = 1});
    }
    return clauses;
}

}  // namespace baton::core::contract
